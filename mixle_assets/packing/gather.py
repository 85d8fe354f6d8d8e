"""Tokens copied into rows, as a plan says: three ways with the same bytes.

- NumPy: a slice for each piece. Nothing to load; right for a few rows.
- Arrow: one ``take`` over all documents, for many rows in sequence without a compiler.
- numba: a ``memcpy`` for each piece with look-ahead (``kernels``), for many rows and for random ones.

Rows stay in the documents' own dtype; a trainer's int64 is made when a batch is.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.formats.columns import number_column
from mixle_assets.packing.plan import RowPlan
from mixle_assets.packing.token_source import TokenSource

Kernel: TypeAlias = Literal["auto", "numpy", "arrow", "numba"]

WORTH_LOADING = 2**29
"""Cells of a whole piece of work from which on it pays to load numba, which takes a second."""
WORTH_A_KERNEL = 2**9
"""Cells in one call from which on a kernel that is loaded is quicker than slices."""
WORTH_A_TAKE = 2**12
"""Cells in one call from which on Arrow's take is quicker than slices."""


def gather_rows(
    plan: RowPlan,
    source: TokenSource,
    rows: NDArray[np.int64] | range,
    *,
    boundary_id: int | None,
    pad_id: int,
    kernel: Kernel = "auto",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Copy rows together.

    Args:
        plan: Where each token comes from.
        source: Where the tokens are.
        rows: Row numbers, any order; -1 is a row of padding alone.
        boundary_id: Written after each document; None exactly where the plan has no boundaries.
        pad_id: Written where no token stands.
        kernel: Which way; all give the same bytes.
        out: Where to, if it has at least so many rows; a new array costs more than the copying.

    Returns:
        Shape (len(rows), block + 1), in the source's dtype.
    """
    # NumPy takes a range apart number by number, which would cost a tenth of the copying.
    if isinstance(rows, range):
        numbers = np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
    else:
        numbers = np.asarray(rows, np.int64)
    width = plan.block + 1
    if len(numbers) and numbers.min() < 0:
        real = numbers >= 0
        padded = np.full((len(numbers), width), pad_id, source.dtype)
        padded[real] = gather_rows(
            plan, source, numbers[real], boundary_id=boundary_id, pad_id=pad_id, kernel=kernel
        )
        return padded
    if len(numbers) and not numbers.max() < plan.num_rows:
        raise IndexError(f"row {int(numbers.max())} of {plan.num_rows}")
    chosen = choose_kernel(kernel, len(numbers) * width)
    if chosen == "arrow" and len(numbers):
        return _take_rows(plan, source, numbers, boundary_id, pad_id)
    out = np.empty((len(numbers), width), source.dtype) if out is None else out[: len(numbers)]
    if chosen == "numba":
        from mixle_assets.packing import kernels

        kernels.copy_rows(plan, source, numbers, out, boundary_id, pad_id)
    else:
        for number, row in enumerate(numbers.tolist()):
            _copy_row(plan, source, row, out[number], boundary_id, pad_id)
    return out


def choose_kernel(kernel: Kernel, num_cells: int) -> Kernel:
    """Return which way to copy so many cells: what was asked for, or what is quickest here."""
    if kernel != "auto":
        return kernel
    if "mixle_assets.packing.kernels" in sys.modules and num_cells >= WORTH_A_KERNEL:
        return "numba"
    if num_cells >= WORTH_LOADING and importlib.util.find_spec("numba"):
        return "numba"
    return "arrow" if num_cells >= WORTH_A_TAKE else "numpy"


def _copy_row(
    plan: RowPlan, source: TokenSource, row: int, out: NDArray[Any], boundary_id: int | None, pad_id: int
) -> None:
    start = row * len(out)
    stop = start + len(out)
    size = source.dtype.itemsize
    part = slice(plan.first_piece(row), int(np.searchsorted(plan.begins, stop, side="left")))
    documents = plan.documents[part]
    begins, ends = plan.begins[part].tolist(), plan.ends[part].tolist()
    skips = [0] * len(begins) if plan.skips is None else plan.skips[part].tolist()
    facts = zip(
        begins,
        ends,
        skips,
        source.addresses[documents].tolist(),
        source.lengths[documents].tolist(),
        strict=True,
    )
    target, filled = out.ctypes.data, 0
    for begin, end, skip, address, length in facts:
        first, last = max(begin, start), min(end, stop)
        skip += first - begin
        num_tokens = max(0, min(last - first, length - skip))
        ctypes.memmove(target + (first - start) * size, address + skip * size, num_tokens * size)
        filled = last - start
        if num_tokens < last - first:
            out[filled - 1] = boundary_id
    out[filled:] = pad_id


def _take_rows(
    plan: RowPlan, source: TokenSource, rows: NDArray[np.int64], boundary_id: int | None, pad_id: int
) -> NDArray[Any]:
    """Copy rows by one Arrow ``take``: tokens, boundary and padding of each piece in turn.

    Arrow's take of binary values is the quickest gather that needs no compiler, and it reads only the two
    offsets around each value it takes. So one value is made for every run of bytes that is wanted, in the
    order it is wanted, at its place in this process's memory; every second value lies between two of those,
    means nothing and is not taken.
    """
    width = plan.block + 1
    size = source.dtype.itemsize
    starts = rows * width
    first = np.searchsorted(plan.ends, starts, side="right")
    num_pieces = np.searchsorted(plan.begins, starts + width, side="left") - first
    last = np.cumsum(num_pieces)
    row_of = np.repeat(np.arange(len(rows)), num_pieces)
    pieces = np.arange(last[-1]) + (first - last + num_pieces)[row_of]
    starts = starts[row_of]
    piece_begins = plan.begins[pieces]
    begins = np.maximum(piece_begins, starts)
    ends = np.minimum(plan.ends[pieces], starts + width)
    documents = plan.documents[pieces]
    skips = begins - piece_begins
    if plan.skips is not None:
        skips += plan.skips[pieces]
    num_tokens = np.minimum(ends - begins, np.maximum(source.lengths[documents] - skips, 0))
    # Padding follows the last piece of a row only; a row has at least one piece, if of no length.
    padding = np.zeros(len(pieces), np.int64)
    padding[last - 1] = rows * width + width - ends[last - 1]
    fill = np.full(width + 1, pad_id, source.dtype)
    fill[0] = pad_id if boundary_id is None else boundary_id
    fill_address = fill.ctypes.data

    with_padding = bool(padding.any())
    edges = np.empty((len(documents), 2 + with_padding, 2), np.int64)
    edges[:, 0, 0] = source.addresses[documents] + skips * size
    edges[:, 0, 1] = edges[:, 0, 0] + num_tokens * size
    edges[:, 1, 0] = fill_address
    edges[:, 1, 1] = fill_address + (ends - begins - num_tokens) * size
    if with_padding:
        edges[:, 2, 0] = fill_address + size
        edges[:, 2, 1] = fill_address + size + padding * size
    offsets = np.append(edges.reshape(-1), 0)
    base = int(offsets[:-1].min(initial=fill_address))
    offsets -= base
    # Arrow reserves room by the mean length of a value, which it takes from the first and the last offset.
    num_cells = len(rows) * width
    offsets[-1] = offsets[0] + 2 * num_cells * size
    memory = pa.foreign_buffer(base, 2**62)
    values = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), memory])
    taken = values.take(number_column(np.arange(0, len(offsets) - 1, 2)))
    return np.frombuffer(taken.buffers()[2], source.dtype, count=num_cells).reshape(len(rows), width)
