"""One finding about a rule, and what shows in the text of strings and regular expressions alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mixle_assets.expressions.regexes import pieces


class Trap(NamedTuple):
    """A reason why a rule may not do what it was written for.

    Attributes:
        kind: A short name, for filters and tests: ``never``, ``missing_matches``, ``regex_range`` ...
        message: What is the matter, and what to write instead.
        column: Where, counted from 1; None where the whole rule is meant.
    """

    kind: str
    message: str
    column: int | None = None


_CLASSES = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WHOLE_RANGES = frozenset({" -~", "!-~"})
"""All printable ASCII, with and without the space: ranges that are meant."""


def find_regex_traps(expression: str, column: int | None) -> Iterator[Trap]:
    """Yield ranges like ``.-_`` in ``[a-z.-_]``, where the dash was hardly meant to span from . to _."""
    parts = [piece for piece in pieces(expression) if piece.in_class]
    number = 1
    while number < len(parts) - 1:
        before, dash, after = parts[number - 1 : number + 2]
        is_range = (
            dash.text == "-"
            and before.position + len(before.text) == dash.position
            and dash.position + 1 == after.position
        )
        if not is_range or before.text in ("[", "^") or after.text == "]":
            number += 1
            continue
        first, last = before.text[-1:], after.text[-1:]
        if len(before.text) <= 2 and len(after.text) <= 2 and _is_suspicious(first, last):
            yield Trap(
                "regex_range",
                f"{before.text}-{after.text} in {expression!r} is every character from {first!r} to "
                f"{last!r}; a dash that means itself stands first or last: [-…]",
                column,
            )
        number += 3
    return


def _is_suspicious(first: str, last: str) -> bool:
    if f"{first}-{last}" in _WHOLE_RANGES or not (first.isascii() and last.isascii()):
        return False
    return not any(first in members and last in members for members in _CLASSES)


def is_quoted_number(value: object) -> bool:
    """Whether a constant is a string that reads as a number: it equals no number and orders by type."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True
