"""Where tokens of a byte-level tokenizer stand in the text, reckoned from their ids alone.

A byte-level token stands for as many bytes as its spelling has characters, so the places follow by adding up.
The ``tokenizers`` library gives the same offsets many times slower; a tokenizer whose offsets cannot
be reckoned is told by trying.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPACE = "\u0120"
"""How byte-level vocabularies spell the space."""

PROBES = (
    "",
    "word",
    " begins with a space and ends with one ",
    "two  three   spaces\ttabs\t\tand\nlines\n\n  indented\r\n",
    "   \n   ",
    "naïve café … 中文字 👍🏽🔥🔥 สวัสดี שלום\u00a0nbsp\u2003em\u2028ls",
    "go go go go 1111 ======== ......... 12345 don't I'll ... <a href='x'>",
)
"""Texts whose offsets must come out as the library's, or it is asked for every text."""


class TokenOffsets:
    """Reckons offsets for a tokenizer, where that can be done.

    Args:
        parsed: The ``tokenizer.json``.
    """

    def __init__(self, parsed: dict[str, Any]) -> None:
        model, normalizer = parsed["model"], parsed.get("normalizer")
        processor = parsed.get("post_processor") or {}
        self._trims = processor.get("type") == "ByteLevel" and processor.get("trim_offsets", True)
        self._form = (normalizer or {}).get("type")
        self.is_known = (
            model.get("type") == "BPE"
            and _is_byte_level(parsed.get("pre_tokenizer"))
            and self._form in (None, "NFC")
            and processor.get("type") in (None, "ByteLevel")
        )
        if not self.is_known:
            return
        vocabulary: dict[str, int] = model["vocab"]
        added = {token["id"]: token["content"] for token in parsed.get("added_tokens") or []}
        size = max((*vocabulary.values(), *added)) + 1
        self._bytes = np.zeros(size, np.int64)
        self._leading = np.zeros(size, np.int64)
        self._trailing = np.zeros(size, np.int64)
        self._bytes[list(vocabulary.values())] = list(map(len, vocabulary))
        for id_, text in added.items():
            self._bytes[id_] = len(text.encode())
        blanks = (_SPACE, " ")
        for texts in (vocabulary.items(), ((text, id_) for id_, text in added.items())):
            for text, id_ in texts:
                if text.startswith(blanks) or id_ in added:
                    self._leading[id_] = len(text) - len(text.lstrip(f"{_SPACE} "))
                if text.endswith(blanks) or id_ in added:
                    self._trailing[id_] = len(text) - len(text.rstrip(f"{_SPACE} "))

    def of(self, text: str, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return start and end of every token in characters; None where they cannot be reckoned."""
        if not self.is_known or (self._form and not unicodedata.is_normalized("NFC", text)):
            return None
        content = text.encode()
        ends = np.cumsum(self._bytes[ids])
        if len(ids) == 0 or ends[-1] != len(content):
            return None
        starts = ends - self._bytes[ids]
        if len(content) > len(text):
            # Character that a byte belongs to; a token that takes a part of one takes all of it.
            begins = (np.frombuffer(content, np.uint8) & 0xC0) != 0x80
            character = np.cumsum(begins) - 1
            starts, ends = character[starts], character[ends - 1] + 1
        if self._trims:
            starts = np.minimum(starts + self._leading[ids], ends)
            ends = np.maximum(ends - self._trailing[ids], starts)
        return starts, ends

    def agrees_with(self, encodings: Sequence[Any]) -> bool:
        """Return whether the offsets of the probes are the library's, given what it says of them."""
        for text, encoding in zip(PROBES, encodings, strict=True):
            found = self.of(text, np.array(encoding.ids, np.int64))
            if text and (
                found is None
                or list(zip(*(places.tolist() for places in found), strict=True)) != encoding.offsets
            ):
                return False
        return True


def _is_byte_level(part: dict[str, Any] | None) -> bool:
    """Return whether a pre-tokenizer spells bytes, and puts no space before the text."""
    if part is None:
        return False
    if part.get("type") == "Sequence":
        return any(_is_byte_level(one) for one in part["pretokenizers"])
    return part.get("type") == "ByteLevel" and not part.get("add_prefix_space", True)
