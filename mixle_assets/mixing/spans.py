"""Cutting selected characters out of a text and writing something else in their place.

Pure functions over strings and numbers: which spans are selected is said by the caller, and what a selector
finds in a document by ``expressions``. Offsets are code points, half-open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from mixle_assets.errors import EvaluationError

PLACEHOLDER = "{}"
"""Stands in a replacement for the characters that were removed; every occurrence."""


_SPAN_TYPES = (
    list,
    tuple,
)  # as JSON has them, and as a decoder hands them out that has looked at their types

Selected: TypeAlias = tuple[int, int, int, str]
"""A span to be replaced: start, minus its end, place of its rule in the recipe, replacement.

Sorting gives the order in which spans are taken: by start, the longest first, then by rule.
"""


class Rewritten(NamedTuple):
    """A text after its spans were replaced, and what happened on the way.

    Attributes:
        text: The new text.
        num_removed: Code points of the old text that were cut out, those that ``{}`` brought back included.
        num_clipped: Spans of which an earlier one had taken the first part.
        num_swallowed: Spans that lay within an earlier one.
    """

    text: str
    num_removed: int
    num_clipped: int
    num_swallowed: int


class Taken(NamedTuple):
    """What one rule selects in one text.

    Attributes:
        spans: Those with a score within the bounds and a place in the text.
        num_reversed: Left out because the end stands before the start.
        num_outside: Left out because no character of theirs is in the text.
    """

    spans: list[Selected]
    num_reversed: int
    num_outside: int


def take_spans(
    nodes: Iterable[Any],
    length: int,
    *,
    rule: int,
    replacement: str,
    lowest: float = -math.inf,
    beyond: float = math.inf,
) -> Taken:
    """Take the spans of one rule from what its selector found.

    Nodes are flattened by one level: a node that is a span counts as one, one that is a list of spans as all
    of them, null as none. Ends are cut at the text; whole floats are taken as integers::

        length 10, nodes [[-1, 2, 0.9]] [[8, 99, 0.9], [6, 2, 0.9], [20, 30, 0.9]]
        spans            [0, 2)          [8, 10)        reversed     outside

    Args:
        nodes: Values found by the selector.
        length: Length of the text in code points.
        rule: Place of the rule in the recipe.
        replacement: What is written instead of each span.
        lowest: Lowest score that counts.
        beyond: First score that counts no more.

    Raises:
        EvaluationError: A node is neither span, list of spans nor null; a position is no whole number, or a
            score no number.
    """
    spans: list[Selected] = []
    num_reversed = num_outside = 0
    for node in nodes:
        if node is None:
            continue
        if type(node) is not list:
            raise EvaluationError(f"must select spans [start, end, score], got {node!r}")
        for span in node if not node or type(node[0]) in _SPAN_TYPES else (node,):
            if type(span) not in _SPAN_TYPES or len(span) < 3:
                raise EvaluationError(f"a span must be [start, end, score], got {span!r}")
            start, end, score = span if len(span) == 3 else span[:3]
            if type(start) is not int or type(end) is not int:
                start, end = _whole(start, span), _whole(end, span)
            if type(score) is not float and type(score) is not int:
                raise EvaluationError(f"the score of a span must be a number, got {score!r} in {span!r}")
            if not lowest <= score < beyond:
                continue
            if 0 <= start < end <= length:
                spans.append((start, -end, rule, replacement))
            elif end < start:
                num_reversed += 1
            elif (start < 0 and end <= 0) or start > length or (start == length and end > start):
                num_outside += 1
            else:
                spans.append((max(start, 0), -min(end, length), rule, replacement))
    return Taken(spans, num_reversed, num_outside)


def _whole(position: Any, span: Sequence[Any]) -> int:
    if type(position) is float and position.is_integer():
        return int(position)
    if type(position) is not int:
        raise EvaluationError(f"a position in a text must be a whole number, got {position!r} in {span!r}")
    return position


def replace_spans(text: str, spans: Sequence[Selected]) -> Rewritten:
    """Write each span's replacement in its place.

    Spans are taken in the order (start, longest first, order of rules). One that lies within an earlier one
    is swallowed. One that sticks out of it is clipped to its rest and keeps its replacement. One of no length
    inserts, unless a span that is kept has ``start <= p < end``. On ``0123456789``::

        [1,5)->A [3,7)->B         0AB789        B is clipped to [5,7)
        [1,8)->A [3,5)->B         0A89          B is swallowed
        [1,8)-><{}> [3,5)->B      0<12B567>89   what a span swallowed is applied inside its {}
        [4,4)->A                  0123A456789

    So every selected code point is removed at its place, and comes back only through a ``{}``.

    Args:
        text: The text.
        spans: Spans within the text (``take_spans``), in any order. The same span twice by one rule is one.

    Returns:
        The new text, and counts.
    """
    ordered = sorted(spans)
    return replace_plainly(text, ordered) or _replace_overlapping(text, ordered)


def replace_plainly(text: str, ordered: Iterable[Selected]) -> Rewritten | None:
    """Do as ``replace_spans`` in one pass, where that can be: nothing is inserted, no ``{}`` holds a span.

    Args:
        text: The text.
        ordered: Spans in their order; ends beyond the text are cut.

    Returns:
        The new text, and counts; None if a span asks for the general way.
    """
    pieces: list[str] = []
    length = len(text)
    cursor = num_removed = num_clipped = num_swallowed = 0
    can_swallow = True
    for start, minus_end, _, replacement in ordered:
        end = -minus_end
        if end > length:
            end = length
            can_swallow = False  # it may have come before another only because it was longer
        if start >= end or start < 0:
            return None
        if start > cursor:
            pieces.append(text[cursor:start])
        elif start < cursor:
            if not can_swallow:
                return None
            if end <= cursor:
                num_swallowed += 1
                continue
            num_clipped += 1
            start = cursor
        if replacement:
            if PLACEHOLDER in replacement:
                replacement = replacement.replace(PLACEHOLDER, text[start:end])
                can_swallow = False
            pieces.append(replacement)
        num_removed += end - start
        cursor = end
    pieces.append(text[cursor:])
    return Rewritten("".join(pieces), num_removed, num_clipped, num_swallowed)


class _Kept:
    """A span that writes: the part of the text it stands for, and the spans it swallowed."""

    __slots__ = ("end", "inner", "replacement", "start", "swallowed")

    def __init__(self, start: int, end: int, replacement: str) -> None:
        self.start = start
        self.end = end
        self.replacement = replacement
        self.swallowed: list[Selected] = []
        self.inner: list[_Kept] = []


def _replace_overlapping(text: str, ordered: Sequence[Selected]) -> Rewritten:
    """The general way, for spans that meet. Without recursion: spans may nest a thousand deep."""
    whole = _Kept(0, len(text), PLACEHOLDER)
    # One rule marking one place twice is one mark: {} must not be applied to itself.
    whole.swallowed = list(dict.fromkeys(ordered))
    num_repeated = len(ordered) - len(whole.swallowed)
    waiting = [whole]
    num_clipped = num_swallowed = 0
    for outer in waiting:  # grows while it is walked: outer spans before inner ones
        clipped = _arrange(outer)
        if outer is whole:
            num_clipped = clipped
            num_swallowed = num_repeated + len(whole.swallowed) - len(whole.inner)
        waiting += [kept for kept in outer.inner if kept.swallowed and PLACEHOLDER in kept.replacement]
    contents: dict[int, str] = {}
    for outer in reversed(waiting):
        pieces = []
        cursor = outer.start
        for kept in outer.inner:
            pieces.append(text[cursor : kept.start])
            if PLACEHOLDER in kept.replacement:
                content = contents.pop(id(kept), None)
                if content is None:
                    content = text[kept.start : kept.end]
                pieces.append(kept.replacement.replace(PLACEHOLDER, content))
            else:
                pieces.append(kept.replacement)
            cursor = kept.end
        pieces.append(text[cursor : outer.end])
        contents[id(outer)] = "".join(pieces)
    num_removed = sum(kept.end - kept.start for kept in whole.inner)
    return Rewritten(contents[id(whole)], num_removed, num_clipped, num_swallowed)


def _arrange(outer: _Kept) -> int:
    """Lay the spans that ``outer`` swallowed side by side within it; return how many were clipped."""
    cursor = outer.start
    num_clipped = 0
    for span in outer.swallowed:
        start, end = span[0], -span[1]
        if end > cursor or (start == end and start >= cursor):
            if start < cursor:
                num_clipped += 1
                start = cursor
            outer.inner.append(_Kept(start, end, span[3]))
            cursor = end
            continue
        # Within an earlier one: the one whose part holds its last character, or the place of an insertion.
        for kept in reversed(outer.inner):
            if kept.start < end or (start == end == kept.start < kept.end):
                kept.swallowed.append(span)
                break
    return num_clipped
