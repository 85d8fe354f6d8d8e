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
from mixle_assets.tagging.views import DocumentView, Measures, Piece

_CONTEXT = 100
"""Code points on either side of a number in which a book or article number is looked for."""
_MANY_QUESTION_MARKS = 10_000
"""A text with more of them is passed over by the fast variant."""
_TYPES = ("EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS")

# The set that may stand around an address, and the one that ends its domain (the dot does not).
_AROUND = ".\\s@,?!;:)("
_NOT_IN_DOMAIN = "\\s@,?!;:)("


@functools.cache
def _domain() -> re.Pattern[str]:
    """What follows an address's ``@``: domain, at most one mark, one white space."""
    return re.compile(f"([^{_NOT_IN_DOMAIN}]+?)[{_AROUND}]?\\s")


@functools.cache
def _phone() -> re.Pattern[str]:
    """A number without the white space that has to stand before it."""
    return re.compile(r"(?<=\s)\(?\d{3}\)?[-. ]*\d{3}[-. ]?\d{4}")


@functools.cache
def _ip() -> re.Pattern[str]:
    group = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
    return re.compile(rf"{group}\.{group}\.{group}\.{group}")


@functools.cache
def _prefilter() -> Callable[[bytes], Any]:
    r"""Return a search over UTF-8 that misses no text with a match of any of the three; it may find more.

    Digits are Python's decimal digits. ``\p{Nd}`` of an older Unicode lacks some, so the blocks that came
    later are named (a test compares with ``\d`` of the running Python).
    """
    import re2

    digit = (
        r"[\p{Nd}\x{10D40}-\x{10D49}\x{116D0}-\x{116E3}\x{11BF0}-\x{11BF9}\x{11DE0}-\x{11DE9}"
        r"\x{1CCF0}-\x{1CCF9}\x{1E5F1}-\x{1E5FA}]"
    )
    options = re2.Options()
    options.never_capture = True
    options.max_mem = 64 << 20
    pattern = (
        rf"@|{digit}{{3}}\)?[-. ]*{digit}{{3}}[-. ]?{digit}{{4}}|[0-9]\.[0-9]{{1,3}}\.[0-9]{{1,3}}\.[0-9]"
    )
    search: Callable[[bytes], Any] = re2.compile(pattern.encode(), options).search
    return search


def may_hold_pii(text: str) -> bool:
    """Return False only where none of the three patterns can match."""
    return _prefilter()(text.encode()) is not None


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
                start = at - 1
                while start > position and _is_local(text[start - 1]):
                    start -= 1
                while start > position and _is_around(text[start - 1]):
                    start -= 1
                address, end = _email_from(text, start, at, found)
                yield start, end, address
                position = end
                at = text.find("@", position)
                continue
        at = text.find("@", at + 1)


def _email_from(text: str, start: int, at: int, found: re.Match[str]) -> tuple[str, int]:
    """Return address and end of the match that begins at ``start``, which is known to reach ``at``.

    The marks before the address are taken greedily, so a later ``@`` may come first: in ``.@.., b@c.d `` the
    run of marks goes up to ``b``.
    """
    first = start
    while first < len(text) and _is_around(text[first]):
        first += 1
    candidates = []
    if first < len(text) and not _is_around(text[first]):
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
        if place == at:
            break
        other = _domain().match(text, place + 1)
        if other is not None:
            return text[local : other.end(1)], other.end()
    return text[min(first, at - 1) : found.end(1)], found.end()


def _is_local(character: str) -> bool:
    return character != "@" and not character.isspace()


def _is_around(character: str) -> bool:
    return character in ".@,?!;:)(" or character.isspace()


def find_phones(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of Dolma's phone matches: all white space before the number belongs to them."""
    position = 0
    while (found := _phone().search(text, position)) is not None:
        start = found.start()
        while start > position and text[start - 1].isspace():
            start -= 1
        yield start, found.end()
        position = found.end()


def find_ips(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of Dolma's IPv4 matches; digits may touch them on either side."""
    for found in _ip().finditer(text):
        yield found.span()


def _is_address(candidate: str) -> bool:
    """Return whether Dolma keeps a match: its first part is not ``(``, its second has a dot."""
    parts = candidate.split("@")
    return parts[0].strip() != "(" and "." in parts[1]


def _is_article_number(text: str, start: int, end: int) -> bool:
    context = text[max(start - _CONTEXT, 0) : end + _CONTEXT]
    return "isbn" in context or "doi" in context or "#" in context


def _find_in_text(text: str) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the variants find them that look at the whole text."""
    if not may_hold_pii(text):
        return {}
    spans: dict[str, list[SpanRow]] = {name: [] for name in _TYPES}
    for start, end, _ in find_emails(text):
        if _is_address(text[start:end]):
            spans["EMAIL_ADDRESS"].append([start, end, 1.0])
    for name, find in (("PHONE_NUMBER", find_phones), ("IP_ADDRESS", find_ips)):
        for start, end in find(text):
            if not _is_article_number(text, start, end):
                spans[name].append([start, end, 1.0])
    return {name: found for name, found in spans.items() if found}


def _find_in_paragraphs(document: DocumentView) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the fast variant finds them: paragraph by paragraph."""
    text = document.text
    if not may_hold_pii(text) or text.count("?") > _MANY_QUESTION_MARKS:
        return {}
    spans: dict[str, list[SpanRow]] = {name: [] for name in _TYPES}
    for offset, _, paragraph in _candidates(document):
        if "@" in paragraph:
            for start, end, address in find_emails(paragraph):
                if _is_address(address):
                    spans["EMAIL_ADDRESS"].append([offset + start, offset + end, 1.0])
        for name, find in (("PHONE_NUMBER", find_phones), ("IP_ADDRESS", find_ips)):
            for start, end in find(paragraph):
                spans[name].append([offset + start, offset + end, 1.0])
    return {name: found for name, found in spans.items() if found}


def _candidates(document: DocumentView) -> Iterator[Piece]:
    for piece in document.paragraphs:
        if may_hold_pii(piece.text):
            yield piece


@tagger("pii_regex_with_counts_fast_v2", measures=[*_TYPES, "doc_count", "doc_frac"])
def find_pii_by_paragraph(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans paragraph by paragraph, their number, and their share plus one."""
    measures = _find_in_paragraphs(document)
    length = len(document.text)
    spans = [span for found in measures.values() for span in found]
    characters = sum(end - start for start, end, _ in spans)
    measures["doc_count"] = document.whole(len(spans))
    measures["doc_frac"] = document.whole((characters + length) / length if length else -1.0)
    return measures


@tagger("pii_regex_v1", measures=[*_TYPES, "doc"])
def find_pii_v1(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, which does not stop at a text without words as this one did in Dolma."""
    return find_pii_v2(document)


@tagger("pii_regex_v2", measures=[*_TYPES, "doc"])
def find_pii_v2(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans, and their number for each word (-1 without words)."""
    measures = _find_in_text(document.text)
    num_spans = sum(map(len, measures.values()))
    num_words = len(document.words)
    measures["doc"] = document.whole(num_spans / num_words if num_words else -1.0)
    return measures


@tagger("pii_regex_with_counts_v2", measures=[*_TYPES, "doc", "doc_count"])
def find_pii_with_counts(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, and the number of spans."""
    measures = dict(find_pii_v2(document))
    measures["doc_count"] = document.whole(sum(len(measures.get(name, ())) for name in _TYPES))
    return measures
