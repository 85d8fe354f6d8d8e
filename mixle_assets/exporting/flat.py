"""A shard's documents as long runs of tokens, each with its boundary, for formats that store them so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import RecipeError
from mixle_assets.formats.doc_arrays import DocArrays

MAX_RUN_IN_TOKENS = 2**22


class Run(NamedTuple):
    """Consecutive documents: number of the first, the tokens of all, and how many belong to each.

    Documents ``[5 6] [7]`` with the boundary 2: values ``[5 6 2 7 2]``, lengths ``[3 2]``.
    """

    first: int
    values: NDArray[Any]
    lengths: NDArray[np.int64]


def boundary_of(arrays: DocArrays, *, append_boundary: bool) -> NDArray[Any]:
    """Return the tokens that follow every document: the boundary, or none.

    Raises:
        RecipeError: A boundary is asked for, and the tokenizer has none.
    """
    if not append_boundary:
        return np.empty(0, arrays.dtype)
    if arrays.metadata["boundary_id"] is None:
        raise RecipeError(
            f"{arrays.path} has no boundary to put after each document; name one in the recipe, or export "
            "without",
            key="tokenizer.boundary",
        )
    return np.array([arrays.metadata["boundary_id"]], arrays.dtype)


def runs(arrays: DocArrays, boundary: NDArray[Any], max_tokens: int = MAX_RUN_IN_TOKENS) -> Iterator[Run]:
    """Yield the documents in order, in runs of at most ``max_tokens``; a longer document is a run alone."""
    lengths = arrays.lengths + len(boundary)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(arrays):
        done = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, done + max_tokens, side="right")))
        parts = [part for row in range(first, stop) for part in (arrays.tokens(row), boundary)]
        yield Run(first, np.concatenate(parts), lengths[first:stop])
        first = stop


def text_of_id(document_id: Any, encoded: str) -> str:
    """Return an id for formats that know text alone: a string as it is, anything else as JSON."""
    return document_id if isinstance(document_id, str) else encoded
