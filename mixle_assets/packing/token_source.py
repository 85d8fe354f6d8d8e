"""Where the tokens of documents lie in memory: what rows are gathered from. How is ``gather``'s matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TokenSource:
    """Where the tokens of every document lie in memory, mapped files included.

    Attributes:
        values: The arrays the documents lie in, one for each file; kept so that the memory stays.
        addresses: Address of each document's first token, int64, shape (num_documents,).
        lengths: Tokens of each document, int64, shape (num_documents,).
    """

    values: Sequence[NDArray[Any]]
    addresses: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the tokens."""
        return self.values[0].dtype if self.values else np.dtype(np.int64)

    @cached_property
    def writable_lengths(self) -> NDArray[np.int64]:
        """The lengths in memory that is not read-only."""
        return self.lengths if self.lengths.flags.writeable else self.lengths.copy()


def source_of(
    files: Sequence[tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]], dtype: np.dtype[Any]
) -> TokenSource:
    """Return one source over several files, each given as (values, starts, lengths) in tokens."""
    addresses = np.empty(sum(len(starts) for _, starts, _ in files), np.int64)
    at = 0
    for values, starts, _ in files:
        part = addresses[at : at + len(starts)]
        np.multiply(starts, dtype.itemsize, out=part)
        part += values.ctypes.data
        at += len(starts)
    lengths = (
        files[0][2]
        if len(files) == 1
        else np.concatenate([np.empty(0, np.int64), *(part for _, _, part in files)])
    )
    return TokenSource([values for values, _, _ in files] or [np.empty(0, dtype)], addresses, lengths)


def source_in_memory(documents: Sequence[NDArray[Any]]) -> TokenSource:
    """Return a source over 1-D arrays of one dtype, copied into one array."""
    lengths = np.array([len(tokens) for tokens in documents], np.int64)
    values = (
        np.concatenate([np.empty(0, np.int64), *documents]) if not documents else np.concatenate(documents)
    )
    starts = np.cumsum(lengths) - lengths
    return source_of([(values, starts, lengths)], values.dtype)
