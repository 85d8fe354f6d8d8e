"""MDS, the format of mosaicml-streaming (version 2): shards of samples, and an index of shards.

A sample is a document: ``id``, ``provenance``, ``tokens``. Each of our shards becomes a folder with its own
index; the index at the top names the files of all, as that library's ``merge_index`` does.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import InputError
from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.flat import boundary_of, text_of_id
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.formats.doc_batches import encode_id

SHARD_LIMIT_IN_BYTES = 2**26


def write_mds(arrays: DocArrays, files: FileSet, stem: str, *, append_boundary: bool) -> list[Any]:
    """Write ``<stem>/shard.00000.mds`` and so on and ``<stem>/index.json``; return what the index says.

    Raises:
        InputError: A document without tokens.
    """
    boundary = boundary_of(arrays, append_boundary=append_boundary)
    samples = (
        {
            "id": text_of_id(document_id, encode_id(document_id)).encode(),
            "provenance": provenance.encode(),
            "tokens": encode_array(np.concatenate([arrays.tokens(row), boundary]), arrays.path),
        }
        for row, (document_id, provenance) in enumerate(zip(arrays.ids(), arrays.provenances(), strict=True))
    )
    columns = {"id": "str", "provenance": "str", "tokens": f"ndarray:{arrays.dtype.name}"}
    return write_shards(samples, columns, files, stem)


def write_shards(
    samples: Iterable[Mapping[str, bytes]],
    columns: Mapping[str, str],
    files: FileSet,
    stem: str,
    limit_in_bytes: int = SHARD_LIMIT_IN_BYTES,
) -> list[Any]:
    """Write samples of encoded columns into shards of at most ``limit_in_bytes``, and return their index."""
    names = sorted(columns)
    config = {
        "column_encodings": [columns[name] for name in names],
        "column_names": names,
        "column_sizes": [None] * len(names),
        "compression": None,
        "format": "mds",
        "hashes": ["sha1"],
        "size_limit": limit_in_bytes,
        "version": 2,
    }
    head = json.dumps(config, sort_keys=True).encode()
    shards: list[dict[str, Any]] = []
    held: list[bytes] = []
    size = 4 + 4 + len(head)
    for sample in samples:
        values = [sample[name] for name in names]
        encoded = struct.pack(f"<{len(values)}I", *map(len, values)) + b"".join(values)
        if held and size + 4 + len(encoded) > limit_in_bytes:
            shards.append(_write_shard(held, head, config, files, stem, len(shards)))
            held, size = [], 4 + 4 + len(head)
        held.append(encoded)
        size += 4 + len(encoded)
    if held:
        shards.append(_write_shard(held, head, config, files, stem, len(shards)))
    with files.write(f"{stem}/index.json") as file:
        file.write(json.dumps({"version": 2, "shards": shards}, sort_keys=True).encode())
    return shards


def _write_shard(
    samples: Sequence[bytes], head: bytes, config: dict[str, Any], files: FileSet, stem: str, number: int
) -> dict[str, Any]:
    offsets = np.zeros(len(samples) + 1, "<u4")
    first = 4 + 4 * len(offsets) + len(head)
    total = first + sum(map(len, samples))
    if total >= 2**32:
        raise InputError(
            f"a sample of {max(map(len, samples)):,} bytes; MDS counts in 32 bits", path=files.folder
        )
    offsets[:] = first + np.cumsum([0, *map(len, samples)])
    content = b"".join([struct.pack("<I", len(samples)), offsets.tobytes(), head, *samples])
    name = f"shard.{number:05}.mds"
    with files.write(f"{stem}/{name}") as file:
        file.write(content)
    sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    return {
        **config,
        "samples": len(samples),
        "raw_data": {"basename": name, "bytes": len(content), "hashes": {"sha1": sha1}},
        "zip_data": None,
    }


def encode_array(values: NDArray[Any], path: str) -> bytes:
    """Return a 1-D array in the encoding ``ndarray:<dtype>``: a byte for the shape's width, shape, values.

    Raises:
        InputError: The array is empty, which that encoding cannot say.
    """
    if not len(values):
        raise InputError(
            "a document without tokens; the ndarray encoding of MDS has no such thing", path=path
        )
    width = 0 if len(values) < 2**8 else 1 if len(values) < 2**16 else 2
    shape = np.array([len(values)], ("<u1", "<u2", "<u4")[width])
    return bytes([1 << 2 | width]) + shape.tobytes() + values.astype(values.dtype.newbyteorder("<")).tobytes()


def finish_mds(files: FileSet, shards: Mapping[str, list[Any]]) -> None:
    """Write the index at the top from those of the folders, by the folders' names."""
    merged = [
        {**entry, "raw_data": {**entry["raw_data"], "basename": f"{stem}/{entry['raw_data']['basename']}"}}
        for stem, entries in shards.items()
        for entry in entries
    ]
    with files.write("index.json") as file:
        file.write(json.dumps({"version": 2, "shards": merged}, sort_keys=True).encode())
