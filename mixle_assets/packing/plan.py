"""The plan of a packing: for every cell of every row, which token of which document stands there.

Documents lie one after another on a line of tokens, and the line is cut into rows of ``block + 1``. So an
order and the running sum of lengths *are* the packing: any row is a binary search away. Nothing here touches
a token; ``gather`` copies them, ``fit`` makes plans with gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.records import Segment

CHUNK = 2**20
"""Documents handled at a time where whole arrays would cost as much as the plan itself."""


@dataclass(frozen=True)
class RowPlan:
    """Pieces of documents on a line that is cut into rows.

    With ``block=3``, a boundary, and documents 0 and 1 of 3 and 2 tokens::

        documents  [0         1      ]
        begins     [0         4      ]
        ends       [4         7      ]        # a boundary belongs to its document, as its last token
        line        5 6 7 2 | 8 9 2 _         # rows [0, 4) and [4, 8)

    Attributes:
        block: Targets in a row; a row has ``block + 1`` tokens.
        documents: Number of the document of each piece, shape (n,).
        begins: Where on the line each piece begins, int64, ascending.
        ends: Where it ends; what lies between an end and the next begin is padding.
        skips: Tokens of the document before the piece; None where every piece begins its document.
        has_boundary: Whether each document is followed by a boundary.
        has_gaps: Whether there can be padding before the end of the line.
    """

    block: int
    documents: NDArray[Any]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    skips: NDArray[np.int64] | None
    has_boundary: bool
    has_gaps: bool = False

    @property
    def line_length(self) -> int:
        """Where the last piece ends."""
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def num_rows(self) -> int:
        """Rows, the last of them perhaps short of tokens."""
        return -(-self.line_length // (self.block + 1))

    @property
    def real_tokens(self) -> int:
        """Tokens that are not padding, boundaries included."""
        if not self.has_gaps:
            return self.line_length
        return sum(
            int((self.ends[at : at + CHUNK] - self.begins[at : at + CHUNK]).sum())
            for at in range(0, len(self.ends), CHUNK)
        )

    def row_lengths(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many cells of each row are real; the rest, at its end, is padding.

        Args:
            rows: Row numbers, any shape; a number that is no row (such as -1) has none.
        """
        width = self.block + 1
        starts = np.asarray(rows, np.int64) * width
        if not len(self.ends):
            return np.zeros_like(starts)
        last = np.searchsorted(self.begins, starts + width, side="left") - 1
        lengths = np.minimum(self.ends[np.maximum(last, 0)], starts + width) - starts
        return np.where((last >= 0) & (starts >= 0), np.maximum(lengths, 0), 0)

    def first_piece(self, row: int) -> int:
        """Return the number of the first piece that reaches into a row."""
        return int(np.searchsorted(self.ends, row * (self.block + 1), side="right"))

    def segments(self, row: int) -> list[Segment]:
        """Return what a row consists of, in order.

        ``document_stop`` may be one beyond the document's tokens: then the boundary stands there.
        """
        start = row * (self.block + 1)
        stop = start + self.block + 1
        found = []
        for piece in range(self.first_piece(row), len(self.ends)):
            begin, end = int(self.begins[piece]), int(self.ends[piece])
            if begin >= stop:
                break
            if begin == end:
                continue
            first, last = max(begin, start), min(end, stop)
            skip = (0 if self.skips is None else int(self.skips[piece])) - begin
            found.append(
                Segment(int(self.documents[piece]), first + skip, last + skip, first - start, last - start)
            )
        return found

    def rows_of(self, document: int) -> list[int]:
        """Return the rows in which a document stands, ascending; reads the whole plan."""
        width = self.block + 1
        rows: set[int] = set()
        for at in range(0, len(self.documents), CHUNK):
            for piece in (np.flatnonzero(self.documents[at : at + CHUNK] == document) + at).tolist():
                begin, end = int(self.begins[piece]), int(self.ends[piece])
                rows.update(range(begin // width, -(-end // width)) if end > begin else ())
        return sorted(rows)


def concatenate(documents: NDArray[Any], lengths: NDArray[Any], *, block: int, has_boundary: bool) -> RowPlan:
    """Plan documents one after another without a gap.

    Args:
        documents: Document numbers in the order they are laid down, shape (n,).
        lengths: Tokens of every document there is, by document number.
        block: Targets in a row.
        has_boundary: Whether a boundary follows each document.

    Returns:
        The plan; it costs 8 bytes a document besides ``documents`` itself.
    """
    return from_offsets(documents, line_offsets(documents, lengths, has_boundary), block, has_boundary)


def line_offsets(documents: NDArray[Any], lengths: NDArray[Any], has_boundary: bool) -> NDArray[np.int64]:
    """Return the running sum of the documents' lengths, boundaries included, from 0: shape (n + 1,)."""
    offsets = np.zeros(len(documents) + 1, np.int64)
    for at in range(0, len(documents), CHUNK):
        part = offsets[at + 1 : at + 1 + CHUNK]
        part[:] = lengths[documents[at : at + CHUNK]]
        part += has_boundary
    return np.cumsum(offsets, out=offsets)


def from_offsets(
    documents: NDArray[Any], offsets: NDArray[np.int64], block: int, has_boundary: bool
) -> RowPlan:
    """Return the plan that a stored order and running sum are."""
    return RowPlan(block, documents, offsets[:-1], offsets[1:], None, has_boundary)
