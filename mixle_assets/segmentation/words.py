"""Words of a text: its segments by Unicode's rules (UAX 29) that are not white space alone.

``don't`` and ``3.14`` are one, each Han character is one, and so is each punctuation mark.
"""

from __future__ import annotations

import re

from mixle_assets.segmentation.word_breaks import BLANK, classify_segments

# Unicode White_Space, which str.strip() takes for granted but widens by U+001C..U+001F.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
# The rules of ``word_breaks`` for ASCII alone, matched on the text itself: no classes need be looked up.
_ASCII_WORDS = re.compile(
    r"[A-Za-z0-9_]++(?:(?:(?<=[A-Za-z])[:.'](?=[A-Za-z])|(?<=[0-9])[,;.'](?=[0-9]))[A-Za-z0-9_]++)*+|\S",
    re.ASCII,
)


def is_blank(text: str) -> bool:
    """Return whether nothing but Unicode white space is in ``text``."""
    return not text.strip(WHITE_SPACE)


def split_words(text: str) -> list[str]:
    """Return the words of a text in order; white space is left out."""
    return _ASCII_WORDS.findall(text) if text.isascii() else split_by_classes(text)


def split_by_classes(text: str) -> list[str]:
    """Return what ``split_words`` does, by the rules for any text."""
    words = []
    end = 0
    for classes in classify_segments(text):
        start, end = end, end + len(classes)
        word = text[start:end]
        # U+001C to U+001F are white space by class, but not by property.
        if classes[0] not in BLANK or word.strip(WHITE_SPACE):
            words.append(word)
    return words


def num_words(text: str) -> int:
    """Return the number of words with a letter or a digit in them."""
    return sum(any(map(str.isalnum, word)) for word in split_words(text))
