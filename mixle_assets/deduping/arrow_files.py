"""Arrow IPC files as this stage writes and maps them: whole, without nulls, hashed on the way.

What the columns mean stands in ``hash_files`` and ``slices``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.columns import number_column
from mixle_assets.formats.hashing_file import HashingFile
from mixle_assets.manifest import digest_of, new_hasher

_DTYPES: dict[pa.DataType, np.dtype[Any]] = {
    pa.int32(): np.dtype(np.int32),
    pa.int64(): np.dtype(np.int64),
    pa.uint32(): np.dtype(np.uint32),
    pa.float32(): np.dtype(np.float32),
}


class ContentHasher:
    """Hash of columns that is the same however their rows were cut into batches."""

    def __init__(self) -> None:
        self._hashers: dict[str, Any] = {}

    def update(self, **columns: NDArray[Any] | bytes) -> None:
        """Append values to each column."""
        for name, values in columns.items():
            if name not in self._hashers:
                self._hashers[name] = new_hasher()
            self._hashers[name].update(values if isinstance(values, bytes) else np.ascontiguousarray(values))

    def digest(self, *facts: Any) -> str:
        """Return the digest of all columns and of ``facts``, which are plain JSON."""
        return digest_of([{name: hasher.hexdigest() for name, hasher in self._hashers.items()}, *facts])


class ArrowWriter(HashingFile):
    """Appends record batches to a file, which it hashes; made by ``write_arrow``."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        super().__init__(file)
        self.schema = schema
        self._batches = pa.ipc.new_file(self, schema)

    def append(self, columns: list[pa.Array]) -> None:
        """Append one batch, a column for each field of the schema."""
        self._batches.write_batch(pa.record_batch(columns, schema=self.schema))

    def finish(self) -> None:
        """Write the footer."""
        self._batches.close()


@contextmanager
def write_arrow(path: str, schema: pa.Schema) -> Iterator[ArrowWriter]:
    """Write record batches to ``path``, whole or not at all.

    Raises:
        StoreError: The store is full or refuses.
    """
    with storage.write_whole(path) as file:
        writer = ArrowWriter(file, schema)
        yield writer
        writer.finish()


def open_arrow(path: str, schema: pa.Schema) -> pa.ipc.RecordBatchFileReader:
    """Map a file into memory.

    Raises:
        InputError: The file is missing, cut short, or holds other columns.
    """
    storage.open_read(path).close()  # refuses a missing file in our words
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(storage.local_path(path))))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"is no whole Arrow file: {error}", path=path) from error
    if not reader.schema.equals(schema):
        found = ", ".join(f"{field.name}: {field.type}" for field in reader.schema)
        raise InputError(f"holds other columns than this version writes: {found}", path=path)
    return reader


def numbers_in(column: pa.Array) -> NDArray[Any]:
    """Return a column of numbers as an array, without a copy."""
    dtype = _DTYPES[column.type]
    content = column.buffers()[1]
    if not len(column) or content is None:
        return np.zeros(0, dtype)
    return np.frombuffer(content, dtype)[column.offset : column.offset + len(column)]


def text_column(values: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    """Return byte strings, or texts as UTF-8, as a column of ``pa.binary()`` or ``pa.string()``."""
    ends = offsets_of(np.fromiter(map(len, values), np.int64, len(values))).astype(np.int32)
    return pa.Array.from_buffers(
        kind, len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    )


def list_column(offsets: NDArray[np.integer[Any]], values: pa.Array) -> pa.Array:
    """Return a list column: row i holds ``values[offsets[i]:offsets[i + 1]]``."""
    return pa.ListArray.from_arrays(number_column(offsets.astype(np.int32)), values)


def hash_column(hashes: NDArray[np.uint8]) -> pa.Array:
    """Return hashes, uint8 of shape (n, width), as a column of ``fixed_size_binary``."""
    content = pa.py_buffer(np.ascontiguousarray(hashes))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(hashes.shape[1]), len(hashes), [None, content])


def hashes_in(column: pa.Array) -> NDArray[np.uint8]:
    """Return a column of ``fixed_size_binary`` as uint8 of shape (n, width), without a copy."""
    width = column.type.byte_width
    content = column.buffers()[1]
    if not len(column) or content is None:
        return np.zeros((0, width), np.uint8)
    every = np.frombuffer(content, np.uint8)[: (column.offset + len(column)) * width]
    return every.reshape(-1, width)[column.offset :]


def offsets_of(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return where each list starts, and where the last one ends: counts 2 0 1 give 0 2 2 3."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
