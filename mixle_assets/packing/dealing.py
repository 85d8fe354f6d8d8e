"""Which rows a rank reads, and how ranks get equally many: arithmetic on row numbers, nothing else.

``residency: documents``: each rank packs its own documents, so ranks have rows of their own and differ in
number. ``residency: rows``: there is one packing and row ``k`` goes to rank ``k % world_size``; from a row on
which every rank has reached, the rest can be dealt to any other number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Residency: TypeAlias = Literal["documents", "rows"]
Equalize: TypeAlias = Literal["none", "drop", "pad"]
Strategy: TypeAlias = Literal["concatenate", "best_fit"]


@dataclass(frozen=True)
class Deal:
    """How the rows of an epoch are given to ranks.

    Seven rows for three ranks, residency ``rows``::

        none   0 3 6   1 4     2 5          rows_per_rank (3, 2, 2)
        drop   0 3     1 4     2 5          (2, 2, 2), row 6 dropped
        pad    0 3 6   1 4 _   2 5 _        (3, 3, 3), two rows of padding alone, their targets masked

    Attributes:
        residency: What is dealt.
        equalize: How ranks are made equal.
        packed_rows: Rows each rank has before they are made equal.
        first_row: Residency ``rows``: rows before it were read earlier, perhaps by another number of ranks.
    """

    residency: Residency
    equalize: Equalize
    packed_rows: tuple[int, ...]
    first_row: int = 0

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return len(self.packed_rows)

    @property
    def rows_per_rank(self) -> tuple[int, ...]:
        """Rows each rank reads."""
        if self.equalize == "none":
            return self.packed_rows
        same = (min if self.equalize == "drop" else max)(self.packed_rows)
        return (same,) * self.world_size

    @property
    def num_dropped_rows(self) -> int:
        """Rows no rank reads."""
        return sum(max(0, had - kept) for had, kept in zip(self.packed_rows, self.rows_per_rank, strict=True))

    @property
    def num_padded_rows(self) -> int:
        """Rows of padding alone, made so that ranks are equal."""
        return sum(max(0, kept - had) for had, kept in zip(self.packed_rows, self.rows_per_rank, strict=True))

    def num_batches(self, rank: int, batch_size: int) -> int:
        """Batches of a rank; the last may be short."""
        return -(-self.rows_per_rank[rank] // batch_size)

    def rows_of(self, rank: int, start: int, stop: int) -> NDArray[np.int64]:
        """Return the numbers in the plan of the rank's rows ``start`` to ``stop``; -1 is padding alone."""
        return self.rows_at(rank, np.arange(start, min(stop, self.rows_per_rank[rank])))

    def rows_at(self, rank: int, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers in the plan of those of the rank's rows; -1 is padding alone."""
        if self.residency == "rows":
            return np.where(own < self.packed_rows[rank], self.first_row + rank + own * self.world_size, -1)
        return np.where(own < self.packed_rows[rank], own, -1)


def deal_documents(packed_rows: Sequence[int], equalize: Equalize) -> Deal:
    """Return the deal where each rank has packed its own documents into so many rows."""
    return Deal("documents", equalize, tuple(packed_rows))


def deal_rows(num_rows: int, world_size: int, equalize: Equalize, first_row: int = 0) -> Deal:
    """Return the deal of one packing, from ``first_row`` on."""
    left = max(0, num_rows - first_row)
    return Deal(
        "rows",
        equalize,
        tuple(-(-max(0, left - rank) // world_size) for rank in range(world_size)),
        first_row,
    )
