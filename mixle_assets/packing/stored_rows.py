"""A packed epoch at rest: its plan and the rows of each rank, opened by memory map."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.packed_rows import open_array
from mixle_assets.packing.dealing import Deal, deal_documents, deal_rows
from mixle_assets.packing.description import EpochDescription, lengths_file, rank_file, read_description
from mixle_assets.packing.plan import RowPlan
from mixle_assets.packing.plan_files import read_order, read_plan
from mixle_assets.packing.views import RankRows
from mixle_assets.records import Segment

_NOWHERE = -1
_PADDING = -2


class StoredEpoch:
    """One packed epoch at rest.

    Attributes:
        folder: Where its files lie.
        description: What it says of itself.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.description: EpochDescription = read_description(folder)

    @property
    def has_rows(self) -> bool:
        """Whether rows are stored, not the plan only."""
        return self.description.materialize == "rows"

    @cached_property
    def documents(self) -> NDArray[Any]:
        """Document numbers of the epoch in order, all ranks."""
        return read_order(self.folder, self.description.num_documents)

    def plan(self, rank: int) -> RowPlan:
        """Return the plan that a rank's row numbers count in."""
        return read_plan(self.folder, self.description.settings, rank, self.description.num_documents)

    @property
    def deal(self) -> Deal:
        """Which rows each rank reads."""
        settings = self.description.settings
        if settings.residency == "rows":
            return deal_rows(self.description.num_rows, settings.world_size, settings.equalize)
        return deal_documents(self.description.packed_rows, settings.equalize)

    def rows(self, rank: int) -> NDArray[Any]:
        """Return the stored rows of a rank, memory-mapped, shape (num_rows, block + 1)."""
        settings = self.description.settings
        path = storage.join(self.folder, rank_file(rank, settings.world_size))
        rows = open_array(path, dtype=np.dtype(self.description.dtype), ndim=2)
        expected = (self.description.rows_per_rank[rank], settings.block + 1)
        if rows.shape != expected:
            raise InputError(f"expected rows of shape {expected}, found {rows.shape}", path=path)
        return rows

    def row_lengths(self, rank: int) -> NDArray[Any]:
        """Return how many cells of each of a rank's rows are real, memory-mapped, shape (num_rows,)."""
        path = storage.join(self.folder, lengths_file(rank, self.description.settings.world_size))
        return open_array(path, dtype=np.uint32, ndim=1)


class StoredRows:
    """Rows of a rank, read from files; what is not in a file is gathered from the documents.

    Not in a file are rows that were dropped to make ranks equal, and all rows where only the plan is stored.

    Args:
        stored: The epoch.
        deal: Which rows each rank reads; with residency ``rows`` perhaps for other ranks than were stored.
        rank: Which rank.
        gathered: Gives the same rows from the documents.
    """

    def __init__(self, stored: StoredEpoch, deal: Deal, rank: int, gathered: Callable[[], RankRows]) -> None:
        self.stored = stored
        self.deal = deal
        self.rank = rank
        self._make_gathered = gathered
        self._as_stored = stored.has_rows and deal == stored.deal
        self._files: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}

    @cached_property
    def _gathered(self) -> RankRows:
        return self._make_gathered()

    @property
    def num_rows(self) -> int:
        """Rows the rank reads."""
        return self.deal.rows_per_rank[self.rank]

    @property
    def last_row(self) -> int:
        """Residency ``rows``: the row behind the last of the whole epoch."""
        return self.stored.description.num_rows

    @cached_property
    def real_tokens(self) -> int:
        """Tokens in the rank's rows, padding left out."""
        if self._as_stored:
            return int(self.stored.row_lengths(self.rank).sum(dtype=np.int64))
        return self._gathered.real_tokens

    def read(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return rows from ``start`` to ``stop``, and how many cells of each are real."""
        if self._as_stored:
            rows, row_lengths = self._file(self.rank)
            return rows[start:stop], np.asarray(row_lengths[start:stop], np.int64)
        numbers = self.deal.rows_of(self.rank, start, stop)
        files, places = self._places(numbers)
        if (files == _NOWHERE).any():
            return self._gathered.read(start, stop)
        description = self.stored.description
        shape = (len(numbers), description.settings.block + 1)
        rows = np.full(shape, description.settings.pad_id, description.dtype)
        lengths = np.zeros(len(numbers), np.int64)
        for at, (file, place) in enumerate(zip(files.tolist(), places.tolist(), strict=True)):
            if file != _PADDING:
                file_rows, file_lengths = self._file(file)
                rows[at], lengths[at] = file_rows[place], file_lengths[place]
        return rows, lengths

    def segments(self, start: int, stop: int) -> list[list[Segment]]:
        """Return what each of those rows consists of."""
        return self._gathered.segments(start, stop)

    def _places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the file of each row, and the row in it."""
        description = self.stored.description
        if self.deal.residency == "documents":
            files, places = np.full(len(numbers), self.rank), numbers
        else:
            places, files = np.divmod(numbers, description.settings.world_size)
        kept = np.minimum(description.rows_per_rank, description.packed_rows)
        if not self.stored.has_rows:
            kept[:] = 0
        files = np.where(places < kept[files], files, _NOWHERE)
        return np.where(numbers < 0, _PADDING, files), places

    def _file(self, rank: int) -> tuple[NDArray[Any], NDArray[Any]]:
        if rank not in self._files:
            # Plain arrays over the map: numpy.memmap runs Python code for every slice.
            self._files[rank] = (
                np.asarray(self.stored.rows(rank)),
                np.asarray(self.stored.row_lengths(rank)),
            )
        return self._files[rank]
