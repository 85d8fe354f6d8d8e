"""Everything that mixle takes in silence and that is most likely a mistake, refused: for whoever asks for it.

``pack_documents`` and ``StreamingCorpus`` take what mixle takes. ``strict=True``, or documents wrapped in
``StrictDocuments``, refuse more; recipes are always strict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.arguments import positive
from mixle_assets.packing.rows import document_tokens
from mixle_assets.packing.settings import PackingSettings


class StrictDocuments:
    """A sequence of documents that hands out none that looks like a mistake.

    Args:
        documents: The sequence.
        vocab_size: Ids must be below it; None: no bound.

    Raises:
        TypeError: ``documents`` is no sequence.
    """

    def __init__(self, documents: Any, vocab_size: int | None = None) -> None:
        if not hasattr(documents, "__len__") or not hasattr(documents, "__getitem__"):
            raise TypeError(f"documents must be a sequence, got {type(documents).__name__}")
        self.documents = documents
        self.vocab_size = None if vocab_size is None else positive("vocab_size", vocab_size)

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: Any) -> NDArray[np.int64]:
        """Return the tokens of a document, int64.

        Raises:
            TypeError: It is a bytearray, a masked array, or holds flags among numbers.
            ValueError: An id is negative or not below ``vocab_size``; the id and its place are named.
        """
        document = self.documents[index]
        if isinstance(document, bytearray | np.ma.MaskedArray):
            raise TypeError(f"documents[{index}] must hold token ids, got a {type(document).__name__}")
        if isinstance(document, list | tuple) and any(
            isinstance(token, bool | np.bool_) for token in document
        ):
            raise TypeError(f"documents[{index}] holds True or False among its token ids")
        tokens = document_tokens({index: document}, index)
        wrong = tokens < 0 if self.vocab_size is None else (tokens < 0) | (tokens >= self.vocab_size)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            bound = "" if self.vocab_size is None else f" and below {self.vocab_size}"
            raise ValueError(f"documents[{index}] holds {tokens[at]} at {at}; ids must be 0 or more{bound}")
        return tokens


def check_strictly(settings: PackingSettings, vocab_size: int | None) -> None:
    """Refuse settings that mixle takes and that cannot be meant.

    Raises:
        ValueError: ``pad_id`` or ``boundary_id`` is negative or outside the vocabulary, or the seed has more
            than 32 bits in the order of mixle, where it would stand for other seeds and epochs too.
    """
    for name, value in (("pad_id", settings.pad_id), ("boundary_id", settings.boundary_id)):
        if value is not None and (value < 0 or (vocab_size is not None and value >= vocab_size)):
            bound = "" if vocab_size is None else f" and below the vocabulary of {vocab_size}"
            raise ValueError(f"{name} must be 0 or more{bound}, got {value}")
    if settings.order == "mixle" and settings.seed >= 2**32:
        raise ValueError(
            f"seed must be below 2**32 in the order of mixle, got {settings.seed}: seed 5 + 7 * 2**32 has in "
            f"epoch 0 what seed 5 has in epoch 7; order='separated' takes any seed"
        )
