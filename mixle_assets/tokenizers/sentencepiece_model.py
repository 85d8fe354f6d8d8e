"""Tokenizers from a SentencePiece model, encoded by the ``sentencepiece`` package (an extra).

SentencePiece itself never gives a control token for text; the unknown piece alone may come from one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.tokenizers.tokenizer import Encoded, Vocabulary


def load_sentencepiece(content: bytes, path: str) -> Any:
    """Return the processor for a model file's bytes.

    Raises:
        RecipeError: The package is not installed.
        InputError: The bytes are no SentencePiece model.
    """
    try:
        import sentencepiece
    except ImportError as error:
        raise RecipeError(
            "needs the package sentencepiece: pip install 'mixle_assets[sentencepiece]'",
            key="tokenizer.sentencepiece",
        ) from error
    processor = sentencepiece.SentencePieceProcessor()
    try:
        loaded = processor.LoadFromSerializedProto(content)
    except RuntimeError as error:
        raise InputError(f"not a SentencePiece model: {error}", path=path) from error
    if not loaded:
        raise InputError("not a SentencePiece model", path=path)
    return processor


class SentencePieceEngine:
    """The ``sentencepiece`` library: the reference for its own models."""

    name = "sentencepiece"

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text."""
        # U+0000 ends a C string inside the library's text route, bytes do not have that fault.
        ids = [self._processor.EncodeAsIds(text) for text in texts]
        lengths = np.array([len(tokens) for tokens in ids], np.int64)
        values = np.fromiter((token for tokens in ids for token in tokens), np.uint32, int(lengths.sum()))
        return Encoded(values, lengths)


def sentencepiece_vocabulary(processor: Any) -> Vocabulary:
    """Return size, control tokens and names of a model."""
    size = int(processor.GetPieceSize())
    pieces = [str(processor.IdToPiece(token)) for token in range(size)]
    special = {pieces[token]: token for token in range(size) if processor.IsControl(token)}
    unknown = int(processor.unk_id())
    ids = {piece: token for token, piece in enumerate(pieces)}
    return Vocabulary(
        size=size,
        special={**special, pieces[unknown]: unknown},
        ordinary=ids.get,
        names=[*special, *pieces],
        unknown_id=unknown,
        lossless=False,
    )
