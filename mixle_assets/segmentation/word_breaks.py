"""Segments of a text by Unicode's default rules for word boundaries (UAX 29), white space and marks included.

The rules run as one regular expression over the text's classes, a letter for each character; the classes are
fixed at Unicode 16.0, so that segments do not depend on the Python that runs.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right

from mixle_assets.segmentation.word_break_table import CHANGES

BLANK = "wsCLN"
"""Classes of white space."""

# Classes: A letter, B letter that is a pictograph, H Hebrew letter, n digit, K Katakana, x connector (_),
# q apostrophe, D quotation mark, m l u marks inside words, inside letters, inside numbers; w space, C L N
# line ends, R regional indicator, P pictograph, E F Z what attaches (Z the joiner), s other white space,
# o the rest.
_ATTACHED = "[EFZ]*+"
_LETTER = "[ABH]"


@functools.cache
def _segments() -> re.Pattern[str]:
    x = _ATTACHED
    # A mark inside a word belongs to it only between two letters, or two digits. A Hebrew letter takes an
    # apostrophe in any case, but then the word ends, unless a letter follows: ``ended``.
    letter = f"[AB]{x}(?:[lmq]{x}(?={_LETTER}))?+"
    hebrew = f"H(?!{x}q{x}(?!{_LETTER})){x}(?:D{x}(?=H)|[lmq]{x}(?={_LETTER}))?+"
    number = f"n{x}(?:[umq]{x}(?=n))?+"
    alphanumerics = f"(?:{letter}|{hebrew}|{number})++"
    ended = f"H{x}q{x}"
    katakana = f"(?:K{x})++"
    connectors = f"(?:x{x})++"
    word = (
        f"(?=[ABHnKx])(?:{connectors})?+(?:(?:{alphanumerics}|{katakana}){connectors})*+"
        f"(?:{alphanumerics}(?:{ended})?|{ended}|{katakana})?+"
    )
    joined = f"(?:(?<=Z)(?:P{x}|(?=B){word}))*+"
    return re.compile(f"CL|[CLN]|(?:{word}|w++{x}|R{x}(?:R{x})?+|[PosqDmluEFZ]{x}){joined}")


class _Classes(dict[int, str]):
    """Code point to class, looked up once for each character that occurs."""

    def __missing__(self, point: int) -> str:
        starts, classes = _table()
        kind = classes[bisect_right(starts, point) - 1]
        if kind == "o" and chr(point).isspace():
            kind = "s"
        self[point] = kind
        return kind


_CLASSES = _Classes()


@functools.cache
def _table() -> tuple[list[int], list[str]]:
    starts, classes = [], []
    point = 0
    for distance, kind in re.findall("([0-9a-f]+)([A-Zg-z])", CHANGES):
        point += int(distance, 16)
        starts.append(point)
        classes.append(kind)
    return starts, classes


def classify_segments(text: str) -> list[str]:
    """Return the segments of a text in order, each as the classes of its characters.

    ``"can't stop"`` gives ``AAAqA``, ``w`` and ``AAAA``.
    """
    return _segments().findall(text.translate(_CLASSES))


def count_segments(text: str) -> tuple[int, int]:
    """Return the number of word segments, and of those that hold more than white space.

    ``"can't stop"`` has three, ``can't``, the space and ``stop``; two of them are more than white space.
    """
    found = classify_segments(text)
    blank = sum(1 for segment in found if segment[0] in BLANK and not segment.strip(BLANK))
    return len(found), len(found) - blank
