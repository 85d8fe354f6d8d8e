"""Dolma's e-mail pattern, run in linear time: the same spans, and the address that each match captures.

What becomes of them stands in ``pii``; e-mails exactly where they stand are found by ``personal_data``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

# The set that may stand around an address, and the one that ends its domain (the dot does not).
_AROUND = ".\\s@,?!;:)("
_NOT_IN_DOMAIN = "\\s@,?!;:)("
_WINDOW = 128
"""Characters before an ``@`` that are looked at in one go."""


@functools.cache
def _domain() -> re.Pattern[str]:
    """What follows an address's ``@``: domain, at most one mark, one white space."""
    return re.compile(f"([^{_NOT_IN_DOMAIN}]+?)[{_AROUND}]?\\s")


@functools.cache
def _before_at() -> re.Pattern[str]:
    """What stands before an address's ``@``, read backwards: the local part, then marks and white space."""
    return re.compile(f"([^\\s@]+)[{_AROUND}]*")


@functools.cache
def _plain_email() -> re.Pattern[str]:
    """An address after a word and one space: the pattern can begin nowhere else."""
    return re.compile(f"(?<=[^{_AROUND}]) ([^{_AROUND}][^\\s@]*@[^{_NOT_IN_DOMAIN}]+?)[{_AROUND}]?\\s")


@functools.cache
def _marks() -> re.Pattern[str]:
    """The run of marks and white space before an address."""
    return re.compile(f"[{_AROUND}]+")


def find_emails(text: str, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int, str]]:
    r"""Yield start, end and captured address of Dolma's e-mail matches, in linear time.

    The pattern is ``A*([^\s@]+@D+?)A?\s`` with ``A`` = one of ``. @ , ? ! ; : ) (`` or white space, and
    ``D`` = none of them but the dot. Run as it is, it takes quadratic time on long runs; here each ``@`` is
    tried once::

        "me at jane@x.com or"    the match is " jane@x.com ", the address "jane@x.com"

    Args:
        text: The text.
        start: Where to begin; what stands before is not looked at.
        stop: Where to end, default the end of the text; what stands there or later is not looked at.
    """
    stop = len(text) if stop is None else stop
    match_plain = _plain_email().match
    position = start
    at = text.find("@", position, stop)
    while at >= 0:
        space = text.rfind(" ", max(position, at - _WINDOW), at)
        plain = match_plain(text, space, stop) if space > position else None
        if plain is not None and plain.end() > at:
            yield space, plain.end(), plain[1]
            position = plain.end()
            at = text.find("@", position, stop)
            continue
        if at > position and _is_local(text[at - 1]):
            found = _domain().match(text, at + 1, stop)
            if found is not None:
                start = _start_of_email(text, position, at)
                address, end = _email_from(text, start, at, stop, found)
                yield start, end, address
                position = end
                at = text.find("@", position, stop)
                continue
        at = text.find("@", at + 1, stop)


def _start_of_email(text: str, position: int, at: int) -> int:
    """Return where the match begins that reaches ``at``: before the local part and the marks before it."""
    window = _WINDOW
    while True:
        first = max(position, at - window)
        found = _before_at().match(text[first:at][::-1])
        length = found.end() if found is not None else 0
        if length < at - first or first == position:
            return at - length
        window *= 8


def _email_from(text: str, start: int, at: int, stop: int, found: re.Match[str]) -> tuple[str, int]:
    """Return address and end of the match that begins at ``start``, which is known to reach ``at``.

    The marks before the address are taken greedily, so a later ``@`` may come first: in ``.@.., b@c.d `` the
    run of marks goes up to ``b``.
    """
    marks = _marks().match(text, start, stop)
    first = marks.end() if marks is not None else start
    if first < at:
        return text[first : found.end(1)], found.end()
    candidates = []
    if first < stop:
        place = first
        while place < stop and _is_local(text[place]):
            place += 1
        if place < stop and text[place] == "@":
            candidates.append((first, place))
    place = text.rfind("@", start, first)
    while place > at:
        if _is_local(text[place - 1]):
            candidates.append((place - 1, place))
        place = text.rfind("@", start, place)
    for local, place in candidates:
        other = _domain().match(text, place + 1, stop)
        if other is not None:
            return text[local : other.end(1)], other.end()
    return text[at - 1 : found.end(1)], found.end()


def _is_local(character: str) -> bool:
    return character != "@" and not character.isspace()


def is_address(candidate: str) -> bool:
    """Return whether Dolma keeps a match: its first part is not ``(``, its second has a dot."""
    parts = candidate.split("@")
    return parts[0].strip() != "(" and "." in parts[1]
