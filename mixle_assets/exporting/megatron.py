"""Megatron's ``.bin`` and ``.idx``: one sequence a document, the boundary an ordinary token at its end.

Layout of the index, little-endian: magic, version 1, dtype code, number of sequences S, S + 1; then int32
lengths, int64 byte offsets, int64 numbers of the first sequence of each document. After
megatron/core/datasets/indexed_dataset.py of megatron-core 0.16.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from mixle_assets.errors import InputError
from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.flat import boundary_of, runs
from mixle_assets.formats.doc_arrays import DocArrays

MAGIC = b"MMIDIDX\x00\x00"
DTYPE_CODES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint16": 8}


def write_megatron(arrays: DocArrays, files: FileSet, stem: str, *, append_boundary: bool) -> list[Any]:
    """Write ``<stem>.bin`` and ``<stem>.idx``; nothing for no documents: no reader can map that.

    Raises:
        InputError: An id needs all 32 bits, which the format's int32 does not hold.
    """
    if not len(arrays):
        return []
    dtype = np.dtype("uint16" if arrays.dtype == np.uint16 else "int32")
    boundary = boundary_of(arrays, append_boundary=append_boundary)
    lengths = arrays.lengths + len(boundary)
    if lengths.max() > np.iinfo(np.int32).max:
        raise InputError(
            f"a document of {lengths.max():,} tokens; the format counts in 31 bits", path=arrays.path
        )
    with files.write(f"{stem}.bin") as file:
        for run in runs(arrays, boundary):
            if dtype == np.int32 and run.values.max(initial=0) > np.iinfo(np.int32).max:
                raise InputError(
                    f"id {run.values.max()} does not fit into the format's int32", path=arrays.path
                )
            file.write(run.values.astype(dtype.newbyteorder("<"), copy=False))
    starts = (np.cumsum(lengths) - lengths) * dtype.itemsize
    with files.write(f"{stem}.idx") as file:
        file.write(MAGIC)
        file.write(struct.pack("<QBQQ", 1, DTYPE_CODES[dtype.name], len(lengths), len(lengths) + 1))
        file.write(lengths.astype("<i4"))
        file.write(starts.astype("<i8"))
        file.write(np.arange(len(lengths) + 1, dtype="<i8"))
    return []
