"""Arrow columns from numbers, texts and lists, built from their buffers.

``pa.array`` asks of everything it is given whether it is pandas' and so imports pandas wherever that is
installed: 0.4 s in every process. From buffers nothing is asked, and numbers are not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_MAX_BYTES = 2**31 - 1
"""Offsets of a text column have 32 bits."""


def number_column(values: NDArray[Any]) -> pa.Array:
    """Return numbers of any integer or floating dtype as a column, without a copy."""
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), len(values), [None, content], null_count=0
    )


def flag_column(values: NDArray[np.bool_]) -> pa.Array:
    """Return booleans as a column, a bit each."""
    content = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, content], null_count=0)


def text_column(texts: Sequence[str]) -> pa.Array:
    """Return texts as a column of ``pa.string()``.

    Raises:
        ValueError: They are 2 GiB or more together.
    """
    joined = "".join(texts)
    if joined.isascii():
        content, sizes = joined.encode(), np.fromiter(map(len, texts), np.int64, len(texts))
    else:
        encoded = [text.encode() for text in texts]
        content, sizes = b"".join(encoded), np.fromiter(map(len, encoded), np.int64, len(texts))
    if len(content) > _MAX_BYTES:
        raise ValueError(f"a column of texts holds less than 2 GiB, got {len(content):,} bytes")
    ends = _offsets(sizes, np.dtype(np.int32))
    return pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(content)], null_count=0
    )


def list_column(values: pa.Array, lengths: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Return consecutive values as lists: values ``5 6 7``, lengths ``2 0 1`` give ``[5 6] [] [7]``.

    Args:
        values: The members of all lists, one after another.
        lengths: How many belong to each.
        kind: A ``pa.list_`` or ``pa.large_list``; its offsets have 32 or 64 bits.

    Raises:
        ValueError: The lengths do not add up to the values, or exceed the offsets' 32 bits.
    """
    dtype = np.dtype(np.int64 if pa.types.is_large_list(kind) else np.int32)
    offsets = _offsets(lengths, dtype)
    if int(offsets[-1]) != len(values):
        raise ValueError(f"lists of {int(offsets[-1]):,} values do not go with {len(values):,}")
    return pa.Array.from_buffers(
        kind, len(lengths), [None, pa.py_buffer(offsets)], null_count=0, children=[values]
    )


def _offsets(lengths: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(ends) and ends[-1] > np.iinfo(dtype).max:
        raise ValueError(f"{ends[-1]:,} values do not fit into offsets of {dtype}")
    return np.concatenate([np.zeros(1, dtype), ends.astype(dtype)])
