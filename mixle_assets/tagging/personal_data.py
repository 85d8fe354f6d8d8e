"""``pii_v1``: what identifies a person, exactly where it stands, with check digits where there are any.

Each kind is a search by re2, linear in the text, and a test of every candidate. Precision and recall on a
labelled set are printed by ``tests/tagging/test_personal_data.py``.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures


class Kind(NamedTuple):
    """One kind of personal data.

    Attributes:
        measure: Name of its measure.
        pattern: What re2 searches for.
        part_of: From the text and a candidate's place to the place of the data in it, or None.
    """

    measure: str
    pattern: str
    part_of: Callable[[str, int, int], tuple[int, int] | None]


_FILE_ENDINGS = frozenset(
    (
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "css",
        "js",
        "html",
        "htm",
        "pdf",
        "txt",
        "md",
        "py",
        "json",
        "xml",
    )
)
"""Last parts of file names such as ``logo@2x.png``."""
_IBAN_COUNTRIES = (
    "15 NO; 16 BE; 18 DK FI FO GL NL SD; 19 MK SI; 20 AT BA EE KZ LT LU XK; 21 CH HR LI LV; "
    "22 BG BH CR DE GB GE IE ME RS VA; 23 AE IL IQ TL; 24 AD CZ ES MD PK RO SA SE SK TN VG; 25 PT ST; "
    "26 IS TR; 27 FR GR IT MC MR SM; 28 AL AZ BY CY DO GT HU LB NI PL SV; 29 BR EG PS QA UA; 30 JO KW MU; "
    "31 MT SC; 32 LC"
)
"""Lengths of account numbers, and the countries that have them. Source: the IBAN registry of ISO 13616."""
_IBAN_LENGTHS = {
    country: int(length)
    for length, *countries in map(str.split, _IBAN_COUNTRIES.split(";"))
    for country in countries
}
# Beginnings of card numbers with their lengths.
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
)
_NUMBER_NEAR_BOOK = re.compile(r"(?:isbn|issn|doi|ean|arxiv)[^\n]{0,20}$", re.IGNORECASE)
_ENDS_WITH_DIGIT = re.compile(r"\d[ -]?$")
_VERSION = re.compile(r"(?:\bv|version|release|section|chapter|§)\s*$", re.IGNORECASE)


def _email(text: str, start: int, end: int) -> tuple[int, int] | None:
    while text[start] in ".-'":
        start += 1
    address = text[start:end]
    local, _, domain = address.partition("@")
    labels = domain.split(".")
    if any(label.startswith("-") or label.endswith("-") or len(label) > 63 for label in labels):
        return None
    # ``git@host:path`` names a repository.
    if (
        not local
        or local == "git"
        or ".." in address
        or labels[-1].lower() in _FILE_ENDINGS
        or _touches(text, start, end, "@")
    ):
        return None
    return start, end


def _phone(text: str, start: int, end: int) -> tuple[int, int] | None:
    candidate = text[start:end]
    # A word such as ``tel.`` may lead; the number begins with the first sign of it.
    first = re.search(r"[+(\d]", candidate)
    if first is None:
        return None
    start += first.start()
    digits = re.sub(r"\D", "", text[start:end])
    if not 8 <= len(digits) <= 15 or len(set(digits)) < 3 or _touches(text, start, end, "+-_/.@"):
        return None
    if text[start] != "+" and _ENDS_WITH_DIGIT.search(text, max(0, start - 2), start):
        return None
    if _NUMBER_NEAR_BOOK.search(text, max(0, start - 30), start):
        return None
    return start, end


def _ipv4(text: str, start: int, end: int) -> tuple[int, int] | None:
    candidate = text[start:end]
    if _touches(text, start, end, ".-_") or _VERSION.search(text, max(0, start - 12), start):
        return None
    try:
        address = ipaddress.IPv4Address(candidate)
    except ValueError:
        return None
    # Masks, and addresses that stand for no machine.
    return None if address.is_unspecified or candidate.startswith("255.") else (start, end)


def _ipv6(text: str, start: int, end: int) -> tuple[int, int] | None:
    if text[end - 1] == ":" and text[end - 2] != ":":
        end -= 1
    candidate = text[start:end]
    groups = [group for group in candidate.split(":") if group]
    if (
        len(candidate) < 6
        or len(groups) < 2
        or not re.search(r"\d", candidate)
        or _touches(text, start, end, "_.")
    ):
        return None
    try:
        ipaddress.IPv6Address(candidate)
    except ValueError:
        return None
    return start, end


def _iban(text: str, start: int, end: int) -> tuple[int, int] | None:
    length = _IBAN_LENGTHS.get(text[start : start + 2])
    if length is None or text[start - 1 : start].isalnum():
        return None
    place, seen = start, 0
    while place < end and seen < length:
        seen += text[place] != " "
        place += 1
    number = text[start:place].replace(" ", "")
    if len(number) != length or (place < len(text) and text[place].isalnum()):
        return None
    digits = "".join(str(int(character, 36)) for character in number[4:] + number[:4])
    return (start, place) if int(digits) % 97 == 1 else None


def _card(text: str, start: int, end: int) -> tuple[int, int] | None:
    digits = re.sub(r"\D", "", text[start:end])
    if not _CARD.fullmatch(digits) or len(set(digits)) < 2 or _touches(text, start, end, "-_.+"):
        return None
    # Luhn: every second digit from the right counts double, by the sum of its two digits.
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (start, end) if (sum(map(int, digits[::-2])) + sum(doubled)) % 10 == 0 else None


def _touches(text: str, start: int, end: int, marks: str) -> str:
    """Return what stands directly before and after, if it is a letter, a digit or one of the marks."""
    before = text[start - 1 : start] if start else ""
    after = text[end : end + 1]
    # A mark that ends a sentence is none of the number's.
    if after and after in ".-" and not text[end + 1 : end + 2].isalnum():
        after = ""
    return "".join(one for one in (before, after) if one and (one.isalnum() or one in marks))


KINDS = (
    Kind("email", r"[\p{L}\p{N}._%+'\-]+@(?:[\p{L}\p{N}\-]+\.)+\p{L}\p{L}+", _email),
    Kind("iban", r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,28}", _iban),
    Kind("card_number", r"[2-6][0-9]{3}(?:[ \-]?[0-9]){9,15}", _card),
    Kind("ip_address", r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", _ipv4),
    Kind("ip_address", r"(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}", _ipv6),
    # A country code, an American number, or any number after a word that announces one.
    Kind(
        "phone_number",
        r"(?:\+|\b00)[ ]?[1-9][0-9]{0,2}(?:[ .\-/]{0,2}(?:\([0-9]{1,4}\)|[0-9])){6,13}",
        _phone,
    ),
    Kind(
        "phone_number", r"(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}\b", _phone
    ),
    Kind(
        "phone_number",
        r"(?i)(?:\b(?:phone|telephone|telefon|tel|fax|mobile|mobil|cell|call|t\xe9l|whatsapp)|\x{7535}\x{8bdd})"
        r"[ .:\x{ff1a}]{0,3}(?:(?:number|no\.?|us|me|at|on|is)[ .:]{1,2}){0,3}"
        r"(?:[ .\-/]{0,2}(?:\([0-9]{1,5}\)|[0-9])){7,14}",
        _phone,
    ),
)
"""In order of precedence: where two overlap the first stands."""
MEASURES = (*dict.fromkeys(kind.measure for kind in KINDS), "count", "fraction")


@functools.cache
def _automaton(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.never_capture = True
    return re2.compile(pattern, options)


@functools.cache
def _may_hold() -> Any:
    """Return a search for what any kind needs: an at, digits in number, or colons."""
    return _automaton(r"@|[0-9](?:[^0-9\n]{0,6}[0-9]){6}|:[0-9A-Fa-f]{0,4}:")


def find_personal_data(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield measure, start and end of everything found, kind by kind; nothing overlaps."""
    if _may_hold().search(text) is None:
        return
    taken: list[tuple[int, int]] = []
    for kind in KINDS:
        for candidate in _automaton(kind.pattern).finditer(text):
            place = kind.part_of(text, *candidate.span())
            if place is not None and all(place[1] <= start or end <= place[0] for start, end in taken):
                taken.append(place)
                yield kind.measure, *place


@tagger("pii_v1", measures=MEASURES)
def find_pii(document: DocumentView) -> Measures:
    """E-mail, phone, IPv4, IPv6, IBAN and card numbers, exactly where they stand; their number and share."""
    spans: dict[str, list[SpanRow]] = {}
    for measure, start, end in find_personal_data(document.text):
        spans.setdefault(measure, []).append([start, end, 1.0])
    measures: dict[str, list[SpanRow] | float] = {name: sorted(found) for name, found in spans.items()}
    characters = sum(end - start for found in spans.values() for start, end, _ in found)
    measures["count"] = sum(map(len, spans.values()))
    measures["fraction"] = characters / max(len(document.text), 1)
    return measures
