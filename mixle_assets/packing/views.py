"""The rows of one rank in one epoch, wherever they come from: gathered by a plan, or read from a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.dealing import Deal
from mixle_assets.packing.gather import gather_rows
from mixle_assets.packing.plan import CHUNK, RowPlan
from mixle_assets.packing.token_source import TokenSource
from mixle_assets.records import Segment


class Batch(NamedTuple):
    """What a trainer gets: rows cut into context and targets, and which targets count.

    Attributes:
        context: Shape (b, block), int64: ``row[:-1]``.
        targets: Shape (b, block), int64: ``row[1:]``.
        loss_mask: Shape (b, block), bool: False exactly where the target is padding.
    """

    context: NDArray[np.int64]
    targets: NDArray[np.int64]
    loss_mask: NDArray[np.bool_]


class Item(NamedTuple):
    """A batch with its place in the run.

    Attributes:
        batch: The batch.
        epoch: Which epoch it is of.
        state: The position behind it, as ``state_dict`` gives it.
    """

    batch: Batch
    epoch: int
    state: dict[str, Any]


def batch_of(rows: NDArray[Any], row_lengths: NDArray[np.int64]) -> Batch:
    """Cut rows into a batch that shares no memory with them.

    Rows ``[5 6 7 2] [8 9 2 0]`` of lengths 4 and 3: context ``[5 6 7] [8 9 2]``, targets ``[6 7 2] [9 2 0]``,
    mask ``[1 1 1] [1 1 0]``.
    """
    return Batch(
        rows[:, :-1].astype(np.int64), rows[:, 1:].astype(np.int64), mask_of(row_lengths, rows.shape[1] - 1)
    )


def mask_of(row_lengths: NDArray[np.int64], block: int) -> NDArray[np.bool_]:
    """Return which targets are real, from how many cells of each row are: shape (b, block)."""
    lengths = np.asarray(row_lengths)
    mask = np.ones((len(lengths), block), np.bool_)
    # Nearly every row is full: comparing all cells would cost as much as the rest of a batch.
    short = np.flatnonzero(lengths <= block)
    if len(short):
        mask[short] = np.arange(1, block + 1) < lengths[short, None]
    return mask


class RankRows(Protocol):
    """The rows of one rank in one epoch, or in the rest of one."""

    @property
    def deal(self) -> Deal:
        """Which rows each rank reads."""

    @property
    def num_rows(self) -> int:
        """Rows the rank reads."""

    @property
    def last_row(self) -> int:
        """Residency ``rows``: the row behind the last of the whole epoch."""

    @property
    def real_tokens(self) -> int:
        """Tokens in the rank's rows, padding left out."""

    def read(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return rows from ``start`` to ``stop``, and how many cells of each are real."""

    def segments(self, start: int, stop: int) -> list[list[Segment]]:
        """Return what each of those rows consists of."""


@dataclass(frozen=True)
class PlannedRows:
    """Rows of a rank in an epoch, gathered from the documents when they are read.

    Attributes:
        plan: What its row numbers mean.
        deal: Which rows the rank reads.
        rank: Which rank.
        source: Gives the tokens, once rows are read.
        boundary_id: Follows each document; None for none.
        pad_id: Stands where no token is.
        names: What the plan's document numbers stand for; None where they are document numbers.
    """

    plan: RowPlan
    deal: Deal
    rank: int
    source: Callable[[], TokenSource]
    boundary_id: int | None
    pad_id: int
    names: NDArray[Any] | None = None

    @property
    def num_rows(self) -> int:
        """Rows the rank reads."""
        return self.deal.rows_per_rank[self.rank]

    @property
    def last_row(self) -> int:
        """Residency ``rows``: the row behind the last of the whole epoch."""
        return self.plan.num_rows

    @cached_property
    def real_tokens(self) -> int:
        """Tokens in the rank's rows, padding left out."""
        return real_tokens(self.plan, self.deal, self.rank)

    def read(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return rows from ``start`` to ``stop``, and how many cells of each are real."""
        numbers = self.deal.rows_of(self.rank, start, stop)
        rows = gather_rows(
            self.plan, self.source(), numbers, boundary_id=self.boundary_id, pad_id=self.pad_id
        )
        return rows, self.plan.row_lengths(numbers)

    def segments(self, start: int, stop: int) -> list[list[Segment]]:
        """Return what each of those rows consists of."""
        found = [
            self.plan.segments(number) if number >= 0 else []
            for number in self.deal.rows_of(self.rank, start, stop).tolist()
        ]
        if self.names is None:
            return found
        return [
            [segment._replace(document=self.names[segment.document].item()) for segment in row]
            for row in found
        ]


def real_tokens(plan: RowPlan, deal: Deal, rank: int) -> int:
    """Return the tokens in the rows that a rank reads, padding left out."""
    num_rows, width = deal.rows_per_rank[rank], plan.block + 1
    if plan.has_gaps:
        return sum(
            int(plan.row_lengths(deal.rows_of(rank, at, at + CHUNK)).sum())
            for at in range(0, num_rows, CHUNK)
        )
    # Without gaps only the very last row is short.
    own = min(num_rows, deal.packed_rows[rank])
    if own and int(deal.rows_of(rank, own - 1, own)[0]) == plan.num_rows - 1:
        return own * width - (plan.num_rows * width - plan.line_length)
    return own * width
