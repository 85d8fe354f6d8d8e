"""Finding equal hashes among more of them than fit in memory.

Hashes are dealt into buckets by their first bits, so that equal ones meet in one bucket, and one bucket is in
memory at a time. With one bucket nothing touches the disk. Neither the number of buckets nor the order in
which hashes are added changes what is found. What a hash stands for is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_BUCKETS = 512
"""Each is an open file while hashes are added."""
_RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("position", "<i8")])
_PAIR = np.dtype([("position", "<i8"), ("match", "<i8")])

Ranks = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Positions to their rank: among equal hashes the lowest rank survives, then the lowest position."""


class Matches(NamedTuple):
    """Marked positions in rising order, each with the position that it repeats; both int64."""

    positions: NDArray[np.int64]
    matches: NDArray[np.int64]


class Occurrences:
    """All hashes of one kind with their positions, added in any order, then matched.

    Attributes:
        num_added: Hashes added so far, zeros not counted.

    Args:
        num_buckets: Into how many pieces the hashes are dealt, 1 to 512.
        folder: Where the buckets are kept while there is more than one; the caller removes it.

    Raises:
        ValueError: ``num_buckets`` is out of range.
    """

    def __init__(self, num_buckets: int, folder: Path) -> None:
        if not 1 <= num_buckets <= MAX_BUCKETS:
            raise ValueError(f"num_buckets must be 1 to {MAX_BUCKETS}, got {num_buckets}")
        self._num_buckets = num_buckets
        self._folder = folder
        self._in_memory: list[NDArray[np.void]] = []
        self._files = (
            [(folder / f"bucket-{number:03d}").open("wb") for number in range(num_buckets)]
            if num_buckets > 1
            else []
        )
        self._found: list[NDArray[np.void]] = []
        self._matched: list[NDArray[np.int64]] = []
        self.num_added = 0

    def add(self, hashes: NDArray[np.uint8], positions: NDArray[np.int64]) -> None:
        """Add hashes, uint8 of shape (n, 16), with their positions; zeros are left out."""
        halves = np.ascontiguousarray(hashes).view("<u8")
        records = np.empty(len(hashes), _RECORD)
        records["high"], records["low"], records["position"] = halves[:, 0], halves[:, 1], positions
        records = records[(records["high"] != 0) | (records["low"] != 0)]
        self.num_added += len(records)
        if not self._files:
            self._in_memory.append(records)
            return
        # The multiplication scales 32 bits down to the number of buckets, which need be no power of two.
        bucket = ((records["high"] >> np.uint64(32)) * np.uint64(self._num_buckets)) >> np.uint64(32)
        order = np.argsort(bucket.astype(np.uint16), kind="stable")
        ends = np.cumsum(np.bincount(bucket.astype(np.int64), minlength=self._num_buckets))
        for file, part in zip(self._files, np.split(records[order], ends[:-1]), strict=True):
            file.write(part.tobytes())

    def match(self, ranks: Ranks, *, keep_one: bool) -> None:
        """Find which positions repeat which; to be called once, after all were added.

        Args:
            ranks: Preference among equal ones, see ``Ranks``.
            keep_one: Whether the best of equal ones stays unmarked. If not, it is marked as repeating the
                second.
        """
        if not self._files:
            pairs, matched = _match(np.concatenate([np.empty(0, _RECORD), *self._in_memory]), ranks, keep_one)
            self._in_memory = []
            self._found, self._matched = [pairs], [matched]
            return
        for file in self._files:
            file.close()
        for number in range(self._num_buckets):
            bucket = self._folder / f"bucket-{number:03d}"
            pairs, matched = _match(np.fromfile(bucket, _RECORD), ranks, keep_one)
            bucket.unlink()
            self._found.append(_on_disk(pairs, self._folder / f"found-{number:03d}"))
            self._matched.append(_on_disk(matched, self._folder / f"matched-{number:03d}"))

    def between(self, start: int, stop: int) -> Matches:
        """Return the marked positions in ``start <= position < stop``."""
        parts = []
        for found in self._found:
            first, last = np.searchsorted(found["position"], [start, stop])
            parts.append(np.asarray(found[first:last]))
        pairs = np.concatenate(parts) if len(parts) > 1 else parts[0]
        if len(parts) > 1:
            pairs = pairs[np.argsort(pairs["position"], kind="stable")]
        return Matches(pairs["position"].copy(), pairs["match"].copy())

    def matched_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the positions in ``start <= position < stop`` that others repeat: unique, rising."""
        parts = [np.asarray(heads[slice(*np.searchsorted(heads, [start, stop]))]) for heads in self._matched]
        return np.unique(np.concatenate(parts))


def map_array(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a file of raw values as an array that is read as it is used; an empty file cannot be mapped."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)


def _on_disk(values: NDArray[Any], path: Path) -> NDArray[Any]:
    values.tofile(path)
    return map_array(path, values.dtype)


def _match(
    records: NDArray[np.void], ranks: Ranks, keep_one: bool
) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Return the marked positions with their matches, rising, and the positions they match, rising."""
    records = _repeated(records)
    is_first = np.ones(len(records), np.bool_)
    is_first[1:] = (records["high"][1:] != records["high"][:-1]) | (records["low"][1:] != records["low"][:-1])
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(records)))
    positions = np.ascontiguousarray(records["position"])
    rank = ranks(positions)
    if rank.any() and (rank != rank[0]).any():
        group = np.repeat(np.arange(len(starts)), sizes)
        positions = positions[np.lexsort((positions, rank, group))]
    pairs = np.empty(len(records), _PAIR)
    pairs["position"] = positions
    pairs["match"] = np.repeat(positions[starts], sizes)
    if keep_one:
        pairs = pairs[~is_first]
    else:
        pairs["match"][starts] = positions[starts + 1]
    pairs = pairs[np.argsort(pairs["position"])]
    return pairs, np.unique(pairs["match"]) if not keep_one else np.sort(positions[starts])


def _repeated(records: NDArray[np.void]) -> NDArray[np.void]:
    """Return the records whose hash occurs more than once: equal ones together, by position."""
    if len(records) < 2:
        return records[:0]
    # Sorting the upper bits of a hash with the record's number in the lower ones takes a third of the time of
    # an argsort, and leaves equal ones by number.
    num_bits = np.uint64(len(records).bit_length())
    packed = np.ascontiguousarray(records["high"]) >> num_bits << num_bits
    packed |= np.arange(len(records), dtype=np.uint64)
    packed.sort()
    upper = packed >> num_bits
    alike = _with_neighbours(upper[1:] == upper[:-1])
    numbers = (packed[alike] & ((np.uint64(1) << num_bits) - np.uint64(1))).astype(np.int64)
    records, upper = records[numbers], upper[alike]
    if not len(records):
        return records
    high, low, position = (np.ascontiguousarray(records[name]) for name in ("high", "low", "position"))
    equal = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    in_order = position[1:] > position[:-1]
    if (upper[1:] == upper[:-1])[~(equal & in_order)].any():  # by accident, or added in another order
        order = np.lexsort((position, low, high))
        records, high, low = records[order], high[order], low[order]
        equal = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return records[_with_neighbours(equal)]


def _with_neighbours(equal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of n values are equal to the one before or behind, given that for n - 1 pairs."""
    either: NDArray[np.bool_] = np.append(equal, False) | np.append(False, equal)
    return either
