"""Words of a text by Unicode's rules for word boundaries (UAX 29), as n-grams are made of them.

A word is a segment that is not white space alone: ``don't`` and ``3.14`` are one, each Han character is one,
and so is each punctuation mark. Character properties come from the running Python's Unicode data.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable

# Unicode White_Space, which str.strip() takes for granted but widens by U+001C..U+001F.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Scripts without spaces, in which every character is a segment: their letters are no ALetter.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3038-\u303a\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaadf\uf900-\ufaff"
    "\uff66-\uff9d\U00011700-\U0001174f\U00016fe0-\U00018dff\U0001b000-\U0001b2ff]"
)
_KATAKANA = (
    "\u3031-\u3035\u309b\u309c\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff9d"
)
_MIDDLE_OF_LETTERS = ":.'\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"
_MIDDLE_OF_NUMBERS = (
    ",;.'\u037e\u0589\u060c\u060d\u066c\u07f8\u2018\u2019\u2024\u2044\ufe10\ufe14\ufe50\ufe52\ufe54\uff07\uff0c"
    "\uff0e\uff1b"
)
_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)

_ASCII_WORDS = re.compile(
    r"[A-Za-z0-9_]++(?:(?:(?<=[A-Za-z])[:.'](?=[A-Za-z])|(?<=[0-9])[,;.'](?=[0-9]))[A-Za-z0-9_]++)*+|\S",
    re.ASCII,
)


def is_blank(text: str) -> bool:
    """Return whether nothing but Unicode white space is in ``text``."""
    return not text.strip(WHITE_SPACE)


def split_words(text: str) -> list[str]:
    """Return the words of a text in order; white space is left out."""
    return (_ASCII_WORDS if text.isascii() else _unicode_words()).findall(text)


def num_words(text: str) -> int:
    """Return the number of words with a letter or a digit in them."""
    return sum(any(map(str.isalnum, word)) for word in split_words(text))


@functools.cache
def _unicode_words() -> re.Pattern[str]:
    """Return the pattern for any text; rule numbers are those of UAX 29, section 4.1.1."""
    extend = _class(_is_extend) + "\U000e0001-\U000e01ef"
    letter, number, joiner = _class(_is_letter), _class(_is_number), _class(_is_joiner)
    rest = f"[{extend}]*+"  # WB4: what extends a character goes with it
    letters = f"[{letter}]{rest}(?:(?:[{_MIDDLE_OF_LETTERS}]{rest})?[{letter}]{rest})*+"  # WB5 to WB7
    numbers = f"[{number}]{rest}(?:(?:[{_MIDDLE_OF_NUMBERS}]{rest})?[{number}]{rest})*+"  # WB8, WB11, WB12
    run = f"(?:(?:{letters}|{numbers})++|(?:[{_KATAKANA}]{rest})++)"  # WB9, WB10, WB13
    joiners = f"(?:[{joiner}]{rest})++"  # WB13a, WB13b
    flag = f"[\U0001f1e6-\U0001f1ff]{rest}"
    return re.compile(
        "|".join(
            [
                f"(?:{joiners})?(?:{run}(?:{joiners}{run})*+(?:{joiners})?)",
                joiners,
                f"[{_PICTOGRAPHS}]{rest}(?:(?<=\u200d)[{_PICTOGRAPHS}]{rest})*+",  # WB3c
                flag + flag,  # WB15, WB16
                f"[^{WHITE_SPACE}]{rest}",
                f"[ \u1680\u2000-\u200a\u205f\u3000]++[{extend}]++",
            ]
        )
    )


def _class(belongs: Callable[[str, str], bool]) -> str:
    """Return the inside of a character class: the characters below U+20000 that belong to it."""
    ranges: list[list[str]] = []
    for code, category in enumerate(_categories()):
        character = chr(code)
        if belongs(character, category):
            if ranges and ord(ranges[-1][1]) == code - 1:
                ranges[-1][1] = character
            else:
                ranges.append([character, character])
    return "".join([f"{re.escape(first)}-{re.escape(last)}" for first, last in ranges])


@functools.cache
def _categories() -> list[str]:
    return [unicodedata.category(chr(code)) for code in range(0x20000)]


def _is_extend(character: str, category: str) -> bool:
    if category in ("Mn", "Me", "Mc", "Cf"):
        return character != "\u200b"
    return category == "Sk" and "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_letter(character: str, category: str) -> bool:
    return (category[0] == "L" or category == "Nl") and not _UNSPACED.match(character)


def _is_number(character: str, category: str) -> bool:
    return category == "Nd" or character == "\u066b"


def _is_joiner(character: str, category: str) -> bool:
    return category == "Pc" or character == "\u202f"
