"""Taggers of paragraphs that say nothing: rulers, rows of stars, emoji."""

from __future__ import annotations

import functools
import re
import unicodedata

from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_ASCII_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]")
_EMOJI = (range(0x1F300, 0x1F650), range(0x1F680, 0x1F700), range(0x2600, 0x27C0))


@tagger("not_alphanum_paragraph_v1", measures=["all_punct"])
def find_marks_only(document: DocumentView) -> Measures:
    """Filled paragraphs of nothing but punctuation, symbols and white space; if none, 0 for the text."""
    spans = [
        [start, end, 1.0]
        for start, end, text in document.filled_paragraphs
        if _ASCII_ALPHANUMERIC.search(text) is None and all(map(_says_nothing, set(text)))
    ]
    return {"all_punct": spans or 0.0}


@functools.lru_cache(maxsize=4096)
def _says_nothing(character: str) -> bool:
    return (
        (character.isspace() and not "\x1c" <= character <= "\x1f")
        or unicodedata.category(character).startswith(("P", "S"))
        or any(ord(character) in block for block in _EMOJI)
    )
