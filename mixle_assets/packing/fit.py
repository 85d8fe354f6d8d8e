"""Whole documents fitted into rows: the ``best_fit`` strategy.

Documents are taken in their order, a window at a time. In a window the longest goes first, each into the
fullest row that still has room for it (best fit, decreasing); rows then stand in the order of their
earliest document. So a row holds neighbours of the shuffled order, memory is bounded by the window, and only
a document that is longer than a row is cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.plan import RowPlan

WINDOW = 2**16
"""Documents that are fitted together. A larger window packs no better worth mentioning."""


def fit_documents(
    documents: NDArray[Any], lengths: NDArray[Any], *, block: int, has_boundary: bool, window: int = WINDOW
) -> RowPlan:
    """Plan rows that cut no document which fits into one.

    With ``block=3`` and no boundary, documents 0, 1, 2, 3 of 3, 6, 1 and 2 tokens::

        rows   [0 0 0 2]  [1 1 1 1]  [1 1 3 3]

    Args:
        documents: Document numbers in their order, shape (n,).
        lengths: Tokens of every document there is, by document number.
        block: Targets in a row.
        has_boundary: Whether a boundary follows each document.
        window: Documents that are fitted together.

    Returns:
        The plan, with padding at the tails of rows.
    """
    width = block + 1
    pieces = [np.empty((0, 4), np.int64)]
    num_rows = 0
    for at in range(0, len(documents), window):
        part = np.asarray(documents[at : at + window], np.int64)
        cut = _cut(part, np.asarray(lengths[part], np.int64) + has_boundary, width)
        placed, rows = _fit(cut, width)
        placed[:, 3] += num_rows * width
        num_rows += rows
        pieces.append(placed)
    document, skip, size, begin = np.concatenate(pieces).T
    skips = np.ascontiguousarray(skip) if skip.any() else None
    numbers = np.ascontiguousarray(document)
    if documents.dtype == np.uint32:
        numbers = numbers.astype(np.uint32)
    begins = np.ascontiguousarray(begin)
    return RowPlan(block, numbers, begins, begins + size, skips, has_boundary, has_gaps=True)


def _cut(documents: NDArray[np.int64], sizes: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return (document, skip, size, place) of each piece: full rows of long documents, then their rest."""
    num_pieces = -(-sizes // width)
    total = int(num_pieces.sum())
    first = np.cumsum(num_pieces) - num_pieces
    owner = np.repeat(np.arange(len(documents)), num_pieces)
    skips = (np.arange(total) - first[owner]) * width
    return np.stack(
        [documents[owner], skips, np.minimum(sizes[owner] - skips, width), np.arange(total)], axis=1
    )


def _fit(pieces: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], int]:
    """Place pieces into rows; returns them in the order of the line, their last column the begin on it."""
    by_size = np.argsort(-pieces[:, 2], kind="stable").tolist()
    sizes = pieces[:, 2].tolist()
    row_of = [0] * len(sizes)
    num_rows = 0
    open_rows: list[list[int]] = [[] for _ in range(width)]  # by room left
    rooms = 0  # bit r is set where open_rows[r] has rows; the lowest set bit from `size` on is the best fit
    for piece in by_size:
        size = sizes[piece]
        fitting = rooms >> size
        if fitting:
            room = size + (fitting & -fitting).bit_length() - 1
            rows = open_rows[room]
            row = rows.pop()
            if not rows:
                rooms &= ~(1 << room)
        else:
            room, row = width, num_rows
            num_rows += 1
        row_of[piece] = row
        if left := room - size:
            open_rows[left].append(row)
            rooms |= 1 << left

    rows_of_pieces = np.array(row_of, np.int64)
    earliest = np.full(num_rows, len(sizes), np.int64)
    np.minimum.at(earliest, rows_of_pieces, np.arange(len(sizes)))
    rank = np.empty(num_rows, np.int64)
    rank[np.argsort(earliest, kind="stable")] = np.arange(num_rows)
    rows_of_pieces = rank[rows_of_pieces]
    in_line = np.lexsort((np.arange(len(sizes)), rows_of_pieces))
    placed = pieces[in_line]
    ends = np.cumsum(placed[:, 2])
    rows_of_pieces = rows_of_pieces[in_line]
    row_starts = np.searchsorted(rows_of_pieces, np.arange(num_rows), side="left")
    before = np.concatenate([[0], ends])[row_starts]
    placed[:, 3] = rows_of_pieces * width + ends - placed[:, 2] - before[rows_of_pieces]
    return placed, num_rows
