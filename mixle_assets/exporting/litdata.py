"""litData chunks of plain tokens, for its ``TokensLoader``, and their ``index.json``.

A chunk: number of items, their offsets, their tokens; the loader reads the tokens of a chunk as one run.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import InputError
from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.flat import boundary_of, runs
from mixle_assets.formats.doc_arrays import DocArrays

CHUNK_LIMIT_IN_BYTES = 2**26
NUMPY_NUMBERS = {"uint16": 5, "uint32": 6}
"""litData's numbers for dtypes, part of ``data_format``."""


def write_litdata(arrays: DocArrays, files: FileSet, stem: str, *, append_boundary: bool) -> list[Any]:
    """Write ``<stem>-0.bin`` and so on, and return what the index will say of them."""
    boundary = boundary_of(arrays, append_boundary=append_boundary)
    return [
        write_chunk(run.values, run.lengths, files, f"chunk-{stem}-{number}.bin")
        for number, run in enumerate(runs(arrays, boundary, CHUNK_LIMIT_IN_BYTES // arrays.dtype.itemsize))
    ]


def write_chunk(
    values: NDArray[Any], lengths: NDArray[np.int64], files: FileSet, name: str
) -> dict[str, Any]:
    """Write one chunk and return its entry of the index.

    Raises:
        InputError: It is too long for the format's 32-bit offsets.
    """
    first = 4 + 4 * (len(lengths) + 1)
    offsets = first + np.cumsum([0, *lengths.tolist()]) * values.itemsize
    if offsets[-1] >= 2**32:
        raise InputError(
            f"a document of {lengths.max():,} tokens; a chunk counts bytes in 32 bits", path=name
        )
    with files.write(name) as file:
        file.write(struct.pack("<I", len(lengths)))
        file.write(offsets.astype("<u4"))
        file.write(values.astype(values.dtype.newbyteorder("<"), copy=False))
    return {
        "chunk_bytes": int(offsets[-1]),
        "chunk_size": len(lengths),
        "dim": len(values),
        "filename": name,
        "dtype": values.dtype.name,
    }


def finish_litdata(files: FileSet, shards: Mapping[str, list[Any]]) -> None:
    """Write ``index.json`` over all chunks.

    Raises:
        InputError: Shards of both 16 and 32 bits: the index knows one dtype.
    """
    entries = [entry for chunks in shards.values() for entry in chunks]
    dtypes = sorted({entry["dtype"] for entry in entries})
    if len(dtypes) > 1:
        raise InputError(f"chunks of {' and '.join(dtypes)} cannot share an index", path=files.folder)
    number = NUMPY_NUMBERS[dtypes[0] if dtypes else "uint16"]
    index = {
        "chunks": [{key: value for key, value in entry.items() if key != "dtype"} for entry in entries],
        "config": {
            "chunk_bytes": CHUNK_LIMIT_IN_BYTES,
            "chunk_size": None,
            "compression": None,
            "data_format": [f"no_header_numpy:{number}"],
            "data_spec": None,
            "encryption": None,
            "item_loader": "TokensLoader",
        },
    }
    with files.write("index.json") as file:
        file.write(json.dumps(index, sort_keys=True).encode())
