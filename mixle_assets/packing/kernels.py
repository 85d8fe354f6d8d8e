"""The numba kernel that copies pieces into rows. Importing this module loads numba; only ``gather`` does.

Two intrinsics make it fast: ``memcpy`` instead of a loop over tokens (five times quicker), and a prefetch of
what the piece 16 places further on will need, since documents come in random order and each is a cache miss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numba.core.cgutils
import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import types
from numpy.typing import NDArray

from mixle_assets.packing.plan import RowPlan
from mixle_assets.packing.token_source import TokenSource

AHEAD = 16
"""Pieces between asking for memory and needing it."""
MAX_PREFETCH_IN_BYTES = 512
"""What is asked for of one piece; the processor's own prefetcher follows from there."""
LINE_IN_BYTES = 64

# Compiled functions have no types that a type checker could follow.
cgutils: Any = numba.core.cgutils
intrinsic: Callable[[Any], Any] = numba.extending.intrinsic
compiled: Callable[[Any], Any] = numba.njit(nogil=True, cache=True)


@intrinsic
def _prefetch(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # For reading (0), into the second level of the cache (2), data cache (1).
        builder.call(function, [pointer, word(0), word(2), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _copy_bytes(typing_context: Any, target: Any, source: Any, size: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        to = builder.inttoptr(arguments[0], pointer)
        start = builder.inttoptr(arguments[1], pointer)
        cgutils.raw_memcpy(builder, to, start, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@compiled
def _find_piece(ends: Any, position: int, low: int) -> int:
    """First piece from ``low`` on that ends behind ``position``, by doubling steps, then halving."""
    n = ends.size
    step = 1
    high = low
    while high < n and ends[high] <= position:
        low = high + 1
        high += step
        step *= 2
    high = min(high, n)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _ask(address: int, size: int) -> None:
    reach: Any = min(size, np.int64(MAX_PREFETCH_IN_BYTES))
    ahead = np.int64(0)
    while ahead < reach:
        _prefetch(address + ahead)
        ahead += LINE_IN_BYTES


@compiled
def _copy_lines(
    documents: Any,
    begins: Any,
    ends: Any,
    skips: Any,
    addresses: Any,
    lengths: Any,
    starts: Any,
    out: Any,
    out_address: int,
    boundary_size: int,
    boundary_id: int,
    pad_id: int,
) -> None:
    """Fill row ``k`` of ``out`` with the line from ``starts[k]`` on."""
    n = ends.size
    width = out.shape[1]
    size = np.int64(out.itemsize)
    table = addresses.ctypes.data
    piece = 0
    for number in range(starts.size):
        start = starts[number]
        stop = start + width
        if piece >= n or begins[piece] > start:
            piece = 0
        piece = _find_piece(ends, start, piece)
        behind = min(_find_piece(ends, stop - 1, piece) + 1, n)
        for near in range(piece, min(piece + AHEAD, behind)):
            _ask(addresses[documents[near]], (ends[near] - begins[near]) * size)
        filled = np.int64(0)
        for current in range(piece, behind):
            # The table of addresses is in random order too: ask for its entries twice as far ahead.
            if current + 2 * AHEAD < behind:
                _prefetch(table + np.int64(documents[current + 2 * AHEAD]) * 8)
            if current + AHEAD < behind:
                near = current + AHEAD
                _ask(addresses[documents[near]], (ends[near] - begins[near]) * size)
            begin = begins[current]
            end = ends[current]
            first = max(begin, start)
            last = min(end, stop)
            if first >= last:
                continue
            skip = first - begin
            document = documents[current]
            num_tokens = min(last, end - boundary_size) - first
            if skips.size > 0:
                skip += skips[current]
                num_tokens = min(last - first, lengths[document] - skip)
            if num_tokens > 0:
                _copy_bytes(
                    out_address + (number * width + first - start) * size,
                    addresses[document] + skip * size,
                    num_tokens * size,
                )
            if num_tokens < last - first:
                out[number, last - start - 1] = boundary_id
            filled = last - start
        for cell in range(filled, width):
            out[number, cell] = pad_id
        piece = max(behind - 1, 0)


def copy_rows(
    plan: RowPlan,
    source: TokenSource,
    rows: NDArray[np.int64],
    out: NDArray[Any],
    boundary_id: int | None,
    pad_id: int,
) -> None:
    """Fill ``out``, C-contiguous, with the rows; arguments as of ``gather.gather_rows``."""
    nothing = np.empty(0, np.int64)
    starts = rows * out.shape[1]
    if len(rows) > 1 and not plan.has_gaps and (np.diff(rows) == 1).all():
        # Rows in sequence are one line: a document that crosses their border is copied in one go.
        starts, out = starts[:1], out.reshape(1, -1)
    _copy_lines(
        plan.documents,
        plan.begins,
        plan.ends,
        nothing if plan.skips is None else plan.skips,
        source.addresses,
        # Read-only arrays are another type to numba, so another compilation: lengths are often a mapped file.
        nothing if plan.skips is None else source.writable_lengths,
        starts,
        out,
        out.ctypes.data,
        int(plan.has_boundary),
        0 if boundary_id is None else boundary_id,
        pad_id,
    )
