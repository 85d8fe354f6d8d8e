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
from mixle_assets.tagging.entries import Sieve
from mixle_assets.tagging.pii_emails import find_emails, is_address
from mixle_assets.tagging.pii_sieve import ANYTHING, EMAIL, IP, OTHER_DIGITS, PHONE, CandidateFinder
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_CONTEXT = 100
"""Code points on either side of a number in which a book or article number is looked for."""
_MANY_QUESTION_MARKS = 10_000
"""A text with more of them is passed over by the fast variant."""
_TYPES = ("EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS")

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


# White space, and the question mark that stands for what is beyond ASCII.
_SPACE_IN_LINE = r"[\t\x0b\x0c\r\x1c-\x1f ?]"
_SPACE = r"[\t-\r\x1c-\x1f ?]"
_ANY_PHONE = _PHONE_CORE.format(_DIGIT)
_ANY_IP = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"


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


def find_phones(text: str, *, over_lines: bool, may_hold: int = ANYTHING) -> Iterator[tuple[int, int]]:
    """Yield start and end of Dolma's phone matches: all white space before the number belongs to them.

    Args:
        text: The text.
        over_lines: Whether that white space may hold line feeds, or ends at one.
        may_hold: What is known of the text: without ``OTHER_DIGITS``, a faster search will do.
    """
    is_slow = may_hold & OTHER_DIGITS and not text.isascii()
    position = 0
    for number_start, end in _phones(text, over_lines) if is_slow else _ascii_phones(text, over_lines):
        start = number_start
        while start > position and text[start - 1].isspace() and (over_lines or text[start - 1] != "\n"):
            start -= 1
        yield start, end
        position = end


def _ascii_phones(text: str, over_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield numbers of ASCII digits, without the white space before them."""
    search = _automaton((_SPACE if over_lines else _SPACE_IN_LINE) + _PHONE_CORE.format("[0-9]")).search
    encoded = _with_question_marks(text)
    found = search(encoded)
    while found is not None:
        # A question mark stands for white space beyond ASCII, or for anything else.
        if text[found.start()].isspace():
            yield found.start() + 1, found.end()
            found = search(encoded, found.end())
        else:
            found = search(encoded, found.start() + 1)


def _phones(text: str, over_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield numbers of any digits: re2 names the lines, the exact pattern looks at them alone."""
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
    for found in _automaton(_IP).finditer(_with_question_marks(text)):
        yield found.span()


def _with_question_marks(text: str) -> bytes:
    """Return the text with a byte for each character: ``?`` for all beyond ASCII."""
    return text.encode("ascii", "replace")


def _what_may_be_in(text: str) -> int:
    """Return what a text may hold, where no sieve has said it."""
    kinds = _kinds_of_numbers()(text.encode()) or ()
    return EMAIL | (PHONE | OTHER_DIGITS if 0 in kinds else 0) | (IP if 1 in kinds else 0)


def _find_numbers(text: str, may_hold: int, *, over_lines: bool) -> dict[str, list[SpanRow]]:
    """Return the spans of phone numbers and addresses of machines; both lie within a line."""
    spans = {}
    if may_hold & PHONE:
        phones = find_phones(text, over_lines=over_lines, may_hold=may_hold)
        spans["PHONE_NUMBER"] = [[*span, 1.0] for span in phones]
    if may_hold & IP:
        spans["IP_ADDRESS"] = [[*span, 1.0] for span in find_ips(text)]
    return spans


def _is_article_number(text: str, start: int, end: int) -> bool:
    context = text[max(start - _CONTEXT, 0) : end + _CONTEXT]
    return "isbn" in context or "doi" in context or "#" in context


def _find_in_text(text: str, may_hold: int) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the variants find them that look at the whole text."""
    emails = [[start, end, 1.0] for start, end, _ in find_emails(text) if is_address(text[start:end])]
    numbers = {
        name: [span for span in spans if not _is_article_number(text, span[0], span[1])]
        for name, spans in _find_numbers(text, may_hold, over_lines=True).items()
    }
    return {name: spans for name, spans in {"EMAIL_ADDRESS": emails, **numbers}.items() if spans}


def _find_in_paragraphs(text: str, may_hold: int) -> dict[str, list[SpanRow]]:
    """Return the spans of each type as the fast variant finds them: paragraph by paragraph."""
    found: dict[str, list[SpanRow]] = {}
    at = text.find("@")
    if at >= 0:
        emails = found["EMAIL_ADDRESS"] = []
        while at >= 0:
            end_of_paragraph = text.find("\n", at) + 1 or len(text)
            for start, end, address in find_emails(text, text.rfind("\n", 0, at) + 1, end_of_paragraph):
                if is_address(address):
                    emails.append([start, end, 1.0])
            at = text.find("@", end_of_paragraph)
    found |= _find_numbers(text, may_hold, over_lines=False)
    if not any(found.values()) or text.count("?") > _MANY_QUESTION_MARKS:
        return {}
    return {name: found[name] for name in _TYPES if found.get(name)}


def _measure_paragraphs(document: DocumentView, may_hold: int) -> Measures:
    found = _find_in_paragraphs(document.text, may_hold)
    length = len(document.text)
    if not found:
        return {"doc_count": 0, "doc_frac": 1.0 if length else -1.0}
    characters = sum(end - start for spans in found.values() for start, end, _ in spans)
    return {
        **found,
        "doc_count": sum(map(len, found.values())),
        "doc_frac": (characters + length) / length,
    }


def _measure_text(document: DocumentView, may_hold: int) -> dict[str, Any]:
    found = _find_in_text(document.text, may_hold)
    num_words = len(document.words)
    return {**found, "doc": sum(map(len, found.values())) / num_words if num_words else -1.0}


def _measure_text_and_count(document: DocumentView, may_hold: int) -> Measures:
    measures = _measure_text(document, may_hold)
    return {**measures, "doc_count": sum(len(measures.get(name, ())) for name in _TYPES)}


def _has_words(text: str) -> bool:
    return bool(text) and not text.isspace()


_IN_PARAGRAPHS = Sieve(
    CandidateFinder,
    _measure_paragraphs,
    lambda text: (0.0, 1.0) if text else (0.0, -1.0),
    ("doc_count", "doc_frac"),
)
_IN_TEXT = Sieve(
    CandidateFinder, _measure_text, lambda text: (0.0,) if _has_words(text) else (-1.0,), ("doc",)
)
_IN_TEXT_COUNTED = Sieve(
    CandidateFinder,
    _measure_text_and_count,
    lambda text: (0.0, 0.0) if _has_words(text) else (-1.0, 0.0),
    ("doc", "doc_count"),
)


@tagger("pii_regex_with_counts_fast_v2", measures=[*_TYPES, "doc_count", "doc_frac"], sieve=_IN_PARAGRAPHS)
def find_pii_by_paragraph(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans paragraph by paragraph, their number, and their share plus one."""
    return _measure_paragraphs(document, _what_may_be_in(document.text))


@tagger("pii_regex_v1", measures=[*_TYPES, "doc"], sieve=_IN_TEXT)
def find_pii_v1(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, which does not stop at a text without words as this one did in Dolma."""
    return _measure_text(document, _what_may_be_in(document.text))


@tagger("pii_regex_v2", measures=[*_TYPES, "doc"], sieve=_IN_TEXT)
def find_pii_v2(document: DocumentView) -> Measures:
    """E-mail, US phone and IPv4 spans, and their number for each word (-1 without words)."""
    return _measure_text(document, _what_may_be_in(document.text))


@tagger("pii_regex_with_counts_v2", measures=[*_TYPES, "doc", "doc_count"], sieve=_IN_TEXT_COUNTED)
def find_pii_with_counts(document: DocumentView) -> Measures:
    """As ``pii_regex_v2``, and the number of spans."""
    return _measure_text_and_count(document, _what_may_be_in(document.text))
