"""Dolma's regular-expression PII taggers: e-mail addresses, US phone numbers, IPv4 addresses.

Values are Dolma's, faults included (spans that take in neighbouring white space, ``doc_frac`` counting the
document once too often, no address at the very end of a text). What we would rather find is ``pii_v1``'s.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_CONTEXT = 100
"""Code points on either side of a number in which a book or article number is looked for."""
_MANY_QUESTION_MARKS = 10_000
"""A text with more of them is passed over by the fast variant."""
_TYPES = ("EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS")

# The set that may stand around an address, and the one that ends its domain (the dot does not).
_AROUND = ".\\s@,?!;:)("
_NOT_IN_DOMAIN = "\\s@,?!;:)("
_WINDOW = 128
"""Characters before an ``@`` that are looked at in one go."""

# What re2 takes for a digit must hold at least Python's decimal digits. An older Unicode's Nd lacks some, so
# the blocks that came later are named (a test compares with the running Python).
_DIGIT = (
    r"[\p{Nd}\x{10D40}-\x{10D49}\x{116D0}-\x{116E3}\x{11BF0}-\x{11BF9}\x{11DE0}-\x{11DE9}"
    r"\x{1CCF0}-\x{1CCF9}\x{1E5F1}-\x{1E5FA}]"
)
_PHONE_CORE = r"\(?{0}{{3}}\)?[-. ]*{0}{{3}}[-. ]?{0}{{4}}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
_IP = rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}"


@functools.cache
def _domain() -> re.Pattern[str]:
    """What follows an address's ``@``: domain, at most one mark, one white space."""
    return re.compile(f"([^{_NOT_IN_DOMAIN}]+?)[{_AROUND}]?\\s")


@functools.cache
def _before_at() -> re.Pattern[str]:
    """What stands before an address's ``@``, read backwards: the local part, then marks and white space."""
    return re.compile(f"([^\\s@]+)[{_AROUND}]*")


@functools.cache
def _phone(*, over_lines: bool) -> re.Pattern[str]:
    """A number that has white space before it; over lines, a line feed is white space as any other."""
    return re.compile((r"(?<=\s)" if over_lines else r"(?<=[^\S\n])") + _PHONE_CORE.format(r"\d"))


@functools.cache
def _automaton(pattern: str) -> Any:
    """Return a pattern compiled by re2, which takes linear time; it reads text, or ASCII as bytes."""
    import re2

    options = re2.Options()
    options.never_capture = True
    options.max_mem = 64 << 20
    return re2.compile(pattern, options)


_SPACE_IN_LINE = r"[\t\x0b\x0c\r\x1c-\x1f ]"
_SPACE = r"[\t-\r\x1c-\x1f ]"
_ANY_PHONE = _PHONE_CORE.format(_DIGIT)
_ANY_IP = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
_ANY_NUMBER = f"{_ANY_PHONE}|{_ANY_IP}"
"""Misses no phone number and no address of a machine, nor the line that it stands in."""


@functools.cache
def _kinds_of_numbers() -> Callable[[bytes], list[int] | None]:
    """Return a search over UTF-8 for numbers: 0 in its list for phones, 1 for machines; None for neither.

    It misses no text that holds one; what it finds is looked at again.
    """
    import re2

    options = re2.Options()
    options.never_capture = True
    options.max_mem = 64 << 20
    patterns = re2.Set.SearchSet(options)
    for pattern in (_ANY_PHONE, _ANY_IP):
        patterns.Add(pattern)
    patterns.Compile()
    match: Callable[[bytes], list[int] | None] = patterns.Match
    return match


def find_emails(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield start, end and captured address of Dolma's e-mail matches, in linear time.

    The pattern is ``A*([^\s@]+@D+?)A?\s`` with ``A`` = one of ``. @ , ? ! ; : ) (`` or white space, and
    ``D`` = none of them but the dot. Run as it is, it takes quadratic time on long runs; here each ``@`` is
    tried once::

        "me at jane@x.com or"    the match is " jane@x.com ", the address "jane@x.com"
    """
    position = 0
    at = text.find("@")
    while at >= 0:
        if at > position and _is_local(text[at - 1]):
            found = _domain().match(text, at + 1)
            if found is not None:
                start = _start_of_email(text, position, at)
                address, end = _email_from(text, start, at, found)
                yield start, end, address
                position = end
                at = text.find("@", position)
                continue
        at = text.find("@", at + 1)


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


def _email_from(text: str, start: int, at: int, found: re.Match[str]) -> tuple[str, int]:
    """Return address and end of the match that begins at ``start``, which is known to reach ``at``.

    The marks before the address are taken greedily, so a later ``@`` may come first: in ``.@.., b@c.d `` the
    run of marks goes up to ``b``.
    """
    first = start
    while first < len(text) and _is_around(text[first]):
        first += 1
    if first < at:
        return text[first : found.end(1)], found.end()
    candidates = []
    if first < len(text):
        stop = first
        while stop < len(text) and _is_local(text[stop]):
            stop += 1
        if stop < len(text) and text[stop] == "@":
            candidates.append((first, stop))
    place = text.rfind("@", start, first)
    while place > at:
        if _is_local(text[place - 1]):
            candidates.append((place - 1, place))
        place = text.rfind("@", start, place)
    for local, place in candidates:
        other = _domain().match(text, place + 1)
        if other is not None:
            return text[local : other.end(1)], other.end()
    return text[at - 1 : found.end(1)], found.end()


def _is_local(character: str) -> bool:
    return character != "@" and not character.isspace()


def _is_around(character: str) -> bool:
    return character in ".@,?!;:)(" or character.isspace()


def find_phones(text: str, *, over_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of Dolma's phone matches: all white space before the number belongs to them.

    Args:
        text: The text.
        over_lines: Whether that white space may hold line feeds, or ends at one.
    """
    position = 0
    for number_start, end in _ascii_phones(text, over_lines) if text.isascii() else _phones(text, over_lines):
        start = number_start
        while start > position and text[start - 1].isspace() and (over_lines or text[start - 1] != "\n"):
            start -= 1
        yield start, end
        position = end


def _ascii_phones(text: str, over_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield numbers without the white space before them; in ASCII both engines know the same digits."""
    pattern = (_SPACE if over_lines else _SPACE_IN_LINE) + _PHONE_CORE.format("[0-9]")
    for found in _automaton(pattern).finditer(text.encode()):
        yield found.start() + 1, found.end()


def _phones(text: str, over_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield the same from any text: re2 names the lines, the exact pattern looks at them alone."""
    pattern = _phone(over_lines=over_lines)
    end_of_line = 0
    for candidate in _automaton(_ANY_PHONE).finditer(text):
        if candidate.start() >= end_of_line:
            start_of_line = text.rfind("\n", 0, candidate.start()) + 1
            end_of_line = text.find("\n", candidate.start()) + 1 or len(text)
            for found in pattern.finditer(text, start_of_line, end_of_line):
                yield found.span()


def find_ips(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of Dolma's IPv4 matches; digits may touch them on either side."""
    for found in _automaton(_IP).finditer(text.encode() if text.isascii() else text):
        yield found.span()


def _find_numbers(text: str, *, over_lines: bool) -> dict[str, list[SpanRow]]:
    """Return the spans of phone numbers and addresses of machines; both lie within a line."""
    kinds = _kinds_of_numbers()(text.encode())
    return _locate_numbers(text, kinds, over_lines=over_lines) if kinds else {}


def _locate_numbers(text: str, kinds: list[int], *, over_lines: bool) -> dict[str, list[SpanRow]]:
    spans = {}
    if 0 in kinds:
        spans["PHONE_NUMBER"] = [[*span, 1.0] for span in find_phones(text, over_lines=over_lines)]
    if 1 in kinds:
        spans["IP_ADDRESS"] = [[*span, 1.0] for span in find_ips(text)]
    return spans


def _is_address(candidate: str) -> bool:
    """Return whether Dolma keeps a match: its first part is not ``(``, its second has a dot."""
    parts = candidate.split("@")
    return parts[0].strip() != "(" and "." in parts[1]


def _is_article_number(text: str, start: int, end: int) -> bool:
    context = text[max(start - _CONTEXT, 0) : end + _CONTEXT]
    return "isbn" in context or "doi" in context or "#" in context


def _find_in_text(text: str) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the variants find them that look at the whole text."""
    emails = [[start, end, 1.0] for start, end, _ in find_emails(text) if _is_address(text[start:end])]
    numbers = {
        name: [span for span in spans if not _is_article_number(text, span[0], span[1])]
        for name, spans in _find_numbers(text, over_lines=True).items()
    }
    return {name: spans for name, spans in {"EMAIL_ADDRESS": emails, **numbers}.items() if spans}


def _find_in_paragraphs(text: str) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the fast variant finds them: paragraph by paragraph."""
    encoded = text.encode()
    candidate = _automaton(_ANY_NUMBER).search(encoded)
    at = text.find("@")
    # Most texts hold nothing, and are done with here.
    if (candidate is None and at < 0) or text.count("?") > _MANY_QUESTION_MARKS:
        return {}
    emails = []
    while at >= 0:
        offset = text.rfind("\n", 0, at) + 1
        end_of_paragraph = text.find("\n", at) + 1 or len(text)
        for start, end, address in find_emails(text[offset:end_of_paragraph]):
            if _is_address(address):
                emails.append([offset + start, offset + end, 1.0])
        at = text.find("@", end_of_paragraph)
    phones, ips = _find_numbers_in_lines(text, encoded, candidate) if candidate is not None else ([], [])
    found = {"EMAIL_ADDRESS": emails, "PHONE_NUMBER": phones, "IP_ADDRESS": ips}
    return {name: spans for name, spans in found.items() if spans}


def _find_numbers_in_lines(text: str, encoded: bytes, candidate: Any) -> tuple[list[SpanRow], list[SpanRow]]:
    """Return the spans of phone numbers and of addresses of machines; only lines with a candidate are read.

    Args:
        text: The text.
        encoded: The same in UTF-8.
        candidate: The first match of ``_ANY_NUMBER`` in it.
    """
    is_ascii = len(encoded) == len(text)
    phones: list[SpanRow] = []
    ips: list[SpanRow] = []
    position = 0  # in bytes, and the same place in characters
    offset = 0
    while candidate is not None:
        start = encoded.rfind(b"\n", position, candidate.start()) + 1 or position
        end = encoded.find(b"\n", candidate.start())
        end = len(encoded) if end < 0 else end
        offset = start if is_ascii else offset + len(encoded[position:start].decode())
        line = encoded[start:end].decode()
        phones += ([offset + a, offset + b, 1.0] for a, b in find_phones(line, over_lines=False))
        ips += ([offset + a, offset + b, 1.0] for a, b in find_ips(line))
        offset += len(line)
        position = end
        candidate = _automaton(_ANY_NUMBER).search(encoded, end)
    return phones, ips


@tagger("pii_regex_with_counts_fast_v2", measures=[*_TYPES, "doc_count", "doc_frac"])
def find_pii_by_paragraph(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans paragraph by paragraph, their number, and their share plus one."""
    found = _find_in_paragraphs(document.text)
    length = len(document.text)
    if not found:
        return {"doc_count": 0, "doc_frac": 1.0 if length else -1.0}
    characters = sum(end - start for spans in found.values() for start, end, _ in spans)
    return {
        **found,
        "doc_count": sum(map(len, found.values())),
        "doc_frac": (characters + length) / length,
    }


@tagger("pii_regex_v1", measures=[*_TYPES, "doc"])
def find_pii_v1(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, which does not stop at a text without words as this one did in Dolma."""
    return find_pii_v2(document)


@tagger("pii_regex_v2", measures=[*_TYPES, "doc"])
def find_pii_v2(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans, and their number for each word (-1 without words)."""
    found = _find_in_text(document.text)
    num_words = len(document.words)
    return {**found, "doc": sum(map(len, found.values())) / num_words if num_words else -1.0}


@tagger("pii_regex_with_counts_v2", measures=[*_TYPES, "doc", "doc_count"])
def find_pii_with_counts(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, and the number of spans."""
    found = _find_in_text(document.text)
    num_spans = sum(map(len, found.values()))
    num_words = len(document.words)
    return {**found, "doc": num_spans / num_words if num_words else -1.0, "doc_count": num_spans}
