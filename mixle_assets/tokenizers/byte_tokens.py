"""A token is a byte of the text's UTF-8: ids 0 to 255, then boundary and BOS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixle_assets.manifest import hash_bytes
from mixle_assets.tokenizers.tokenizer import Encoded, Vocabulary

FILE_HASH = hash_bytes(b"bytes")


class ByteEngine:
    """Encodes by copying the UTF-8 bytes: ``"aé"`` → ``[97 195 169]``."""

    name = "bytes"

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the bytes of every text."""
        encoded = [text.encode() for text in texts]
        values = np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint32)
        return Encoded(values, np.array([len(text) for text in encoded], np.int64))


def byte_vocabulary(boundary: str | None, bos: str | None) -> Vocabulary:
    """Return the vocabulary: 256 bytes, then the boundary and the BOS where the recipe names them."""
    special: dict[str, int] = {}
    for name in (boundary, bos):
        if name is not None and name not in special:
            special[name] = 256 + len(special)
    return Vocabulary(
        size=256 + len(special),
        special=special,
        ordinary=lambda _: None,
        names=list(special),
        unknown_id=None,
        lossless=True,
    )


def decode_bytes(ids: Sequence[int], special: dict[str, int]) -> str:
    """Return the text of byte ids; special ids become their spelling, broken UTF-8 U+FFFD."""
    names = {token: text.encode() for text, token in special.items()}
    return b"".join(names.get(token) or bytes([token]) for token in ids).decode("utf-8", "replace")
