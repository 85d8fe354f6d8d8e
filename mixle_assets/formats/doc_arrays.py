"""Doc arrays at rest: the token ids of every document of a shard, written as a stream, read by memory map.

One shard is two files: an Arrow IPC file, uncompressed, and the documents' lengths as plain NumPy::

    prose-0000.arrow         id (JSON text) | provenance | tokens: large_list<uint16 or uint32>
    prose-0000.lengths.npy   int64, tokens of each document

No token is interpreted here: boundaries, padding and what an id means belong to the stages. A value that does
not fit is refused with its document, never wrapped.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast, overload

import msgspec
import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from mixle_assets import manifest, storage
from mixle_assets.errors import InputError
from mixle_assets.formats.columns import list_column, number_column, text_column
from mixle_assets.formats.doc_batches import MAX_BATCH_IN_BYTES, DocBatch, check_batches, rebatch
from mixle_assets.formats.hashing_file import HashingFile
from mixle_assets.records import DocumentId

Tokens: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]

FORMAT = "mixle_assets.doc_arrays/1"
_DTYPES = {"uint16": pa.uint16(), "uint32": pa.uint32()}


class DocArraysFile(msgspec.Struct, frozen=True):
    """What was written.

    Attributes:
        rows_digest: Digest of metadata, dtype, ids, provenances, lengths and token values.
        file_hash: Hash of the stored bytes of the Arrow file.
        size_in_bytes: Its size.
        lengths_hash: Hash of the stored bytes of the file of lengths.
        num_documents: Documents in it.
        num_tokens: Tokens in it.
    """

    rows_digest: str
    file_hash: str
    size_in_bytes: int
    lengths_hash: str
    num_documents: int
    num_tokens: int


def lengths_path_of(path: str) -> str:
    """Return where the lengths of the doc arrays at ``path`` lie: ``a.arrow`` → ``a.lengths.npy``."""
    return path.removesuffix(".arrow") + ".lengths.npy"


def write_doc_arrays(
    path: str,
    batches: Iterable[DocBatch],
    *,
    dtype: str,
    metadata: Mapping[str, Any],
    max_batch_in_bytes: int = MAX_BATCH_IN_BYTES,
) -> DocArraysFile:
    """Write doc arrays, both files whole or not at all; memory is bounded by a record batch.

    The bytes depend on documents, dtype and metadata alone, not on how the documents were batched.

    Args:
        path: Where to, ending in ``.arrow``.
        batches: The documents in order.
        dtype: ``uint16`` or ``uint32``.
        metadata: Plain JSON. ``tokenizer_hash``, ``boundary_id``, ``bos_id`` and ``vocabulary_size`` are
            always there, None where unknown; no id may reach ``vocabulary_size``.
        max_batch_in_bytes: Tokens of one record batch; the stored bytes depend on it, what is read does not.

    Returns:
        Digest, hashes and sizes.

    Raises:
        InputError: A token id is negative, does not fit the dtype, or is not below ``vocabulary_size``.
        ValueError: A batch whose parts disagree, another dtype, a key of ``metadata`` that is missing.
    """
    if dtype not in _DTYPES:
        raise ValueError(f"dtype must be uint16 or uint32, got {dtype!r}")
    if not path.endswith(".arrow"):
        raise ValueError(f"doc arrays end in .arrow, got {path!r}")
    required = {"tokenizer_hash", "boundary_id", "bos_id", "vocabulary_size"}
    if missing := sorted(required - metadata.keys()):
        raise ValueError(f"metadata lacks {', '.join(missing)}")
    limit = min(int(np.iinfo(dtype).max) + 1, metadata["vocabulary_size"] or 2**32)
    schema = _schema_of(dtype, metadata)
    digests = _RowsDigest(dtype, metadata)
    lengths = array("q")

    with storage.write_whole(path) as file:
        sink = HashingFile(file)
        with ipc.new_file(sink, schema, options=ipc.IpcWriteOptions(allow_64bit=True)) as writer:
            for batch in rebatch(check_batches(batches, limit, dtype), max_batch_in_bytes):
                digests.add(batch)
                lengths.frombytes(batch.lengths.tobytes())
                writer.write_batch(_record_batch(batch, schema))
        # Inside the block: the Arrow file takes its name last, so that it never stands there alone.
        with storage.write_whole(lengths_path_of(path)) as lengths_file:
            lengths_sink = HashingFile(lengths_file)
            np.lib.format.write_array(
                cast(Any, lengths_sink), np.frombuffer(lengths, np.int64), version=(1, 0), allow_pickle=False
            )
    return DocArraysFile(
        rows_digest=digests.hexdigest(),
        file_hash=sink.file_hash,
        size_in_bytes=sink.size_in_bytes,
        lengths_hash=lengths_sink.file_hash,
        num_documents=len(lengths),
        num_tokens=int(np.frombuffer(lengths, np.int64).sum()),
    )


class DocArrays(Sequence[Tokens]):
    """The doc arrays of one shard, memory-mapped: document ``i`` costs a slice, nothing is loaded ahead.

    ``arrays[i]`` and ``arrays.tokens(i)`` are read-only views of the file. Kernels that copy many documents
    take ``values`` and ``starts`` instead: document ``i`` is ``values[starts[i] : starts[i] + lengths[i]]``.

    Attributes:
        path: The Arrow file.
        metadata: What the writer said of them, and ``dtype``.
        dtype: uint16 or uint32.
        lengths: Tokens of each document, int64, shape (num_documents,).
        values: The whole file seen as tokens; between the documents of two batches lie other bytes.
        starts: Where in ``values`` each document begins, int64, shape (num_documents,).
    """

    path: str
    metadata: dict[str, Any]
    dtype: np.dtype[Any]
    lengths: NDArray[np.int64]
    values: Tokens
    starts: NDArray[np.int64]

    def __init__(self, path: str, reader: Any, mapped: pa.MemoryMappedFile) -> None:
        self.path = path
        self.metadata = _metadata_of(path, reader.schema)
        self.dtype = np.dtype(self.metadata["dtype"])
        self.lengths = _read_lengths(path)
        self._batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._batch_starts = np.zeros(len(self._batches) + 1, np.int64)
        np.cumsum([batch.num_rows for batch in self._batches], out=self._batch_starts[1:])
        if self._batch_starts[-1] != len(self.lengths):
            raise InputError(
                f"holds {self._batch_starts[-1]:,} documents, "
                f"but {lengths_path_of(path)} {len(self.lengths):,}",
                path=path,
            )
        mapped.seek(0)
        whole = mapped.read_buffer()
        self.values = np.frombuffer(whole, self.dtype, count=whole.size // self.dtype.itemsize)
        self.starts = np.empty(len(self.lengths), np.int64)
        for number, batch in enumerate(self._batches):
            first, stop = self._batch_starts[number : number + 2].tolist()
            self._place(batch, slice(first, stop), whole.address)

    @classmethod
    def open(cls, path: str) -> DocArrays:
        """Open the doc arrays at ``path``.

        Raises:
            InputError: A file is missing, cut short, of another schema, or the two do not belong together.
        """
        if not storage.exists(path):
            raise InputError("there are no doc arrays here", path=path)
        try:
            mapped = pa.memory_map(str(storage.local_path(path)))
            return cls(path, ipc.open_file(mapped), mapped)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"not a whole Arrow file: {error}", path=path) from error

    def _place(self, batch: pa.RecordBatch, documents: slice, base: int) -> None:
        """Find where in the file the documents of one batch begin; ``base`` is the address of the file."""
        tokens = batch.column(2)
        offsets = np.frombuffer(tokens.buffers()[1], np.int64, count=len(tokens) + 1)
        expected = int(self.lengths[documents].sum())
        if offsets[-1] - offsets[0] != expected:
            raise InputError(
                f"documents {documents.start:,} to {documents.stop:,} have {offsets[-1] - offsets[0]:,} "
                f"tokens, but {expected:,} in {lengths_path_of(self.path)}",
                path=self.path,
            )
        if not expected:
            self.starts[documents] = 0
            return
        values = tokens.values
        place, remainder = divmod(values.buffers()[1].address - base, self.dtype.itemsize)
        if remainder or tokens.offset or values.offset or values.null_count or tokens.null_count:
            raise InputError("tokens are sliced, null or not aligned", path=self.path)
        self.starts[documents] = offsets[:-1] + place

    @property
    def num_documents(self) -> int:
        """Number of documents."""
        return len(self.lengths)

    @property
    def num_tokens(self) -> int:
        """Number of tokens in all documents."""
        return int(self.lengths.sum())

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Running sum of the lengths from 0, int64, shape (num_documents + 1,)."""
        offsets = np.zeros(self.num_documents + 1, np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        return offsets

    def tokens(self, index: int) -> Tokens:
        """Return the token ids of document ``index`` as a read-only view, shape (lengths[index],)."""
        row = range(self.num_documents)[index]
        start = int(self.starts[row])
        return self.values[start : start + int(self.lengths[row])]

    def id(self, index: int) -> DocumentId:
        """Return the id of document ``index``, its JSON type kept: ``7`` is not ``"7"``."""
        return json.loads(self._cell(0, index))

    def provenance(self, index: int) -> str:
        """Return where document ``index`` came from, ``<file>:<line>``."""
        return self._cell(1, index)

    def ids(self) -> Iterator[DocumentId]:
        """Yield all ids in order, holding one batch of them."""
        for batch in self._batches:
            yield from map(json.loads, batch.column(0).to_pylist())

    def provenances(self) -> Iterator[str]:
        """Yield all provenances in order, holding one batch of them."""
        for batch in self._batches:
            yield from batch.column(1).to_pylist()

    def _cell(self, column: int, index: int) -> str:
        row = range(self.num_documents)[index]
        number = int(np.searchsorted(self._batch_starts, row, side="right")) - 1
        return str(self._batches[number].column(column)[row - int(self._batch_starts[number])].as_py())

    def __len__(self) -> int:
        return self.num_documents

    @overload
    def __getitem__(self, index: int) -> Tokens: ...

    @overload
    def __getitem__(self, index: slice) -> list[Tokens]: ...

    def __getitem__(self, index: int | slice) -> Tokens | list[Tokens]:
        if isinstance(index, slice):
            return [self.tokens(row) for row in range(self.num_documents)[index]]
        return self.tokens(index)


class _RowsDigest:
    """Hashes each column as one stream, so that the size of batches leaves no trace."""

    def __init__(self, dtype: str, metadata: Mapping[str, Any]) -> None:
        self._head = [FORMAT, dtype, dict(metadata)]
        self._columns = [manifest.new_hasher() for _ in range(4)]

    def add(self, batch: DocBatch) -> None:
        ids, provenances, lengths, values = self._columns
        ids.update("".join(f"{text}\n" for text in batch.ids).encode())
        provenances.update(b"".join(orjson.dumps(name) + b"\n" for name in batch.provenances))
        lengths.update(batch.lengths.tobytes())
        values.update(cast(Any, batch.values))

    def hexdigest(self) -> str:
        return manifest.digest_of([self._head, [column.hexdigest() for column in self._columns]])


def _schema_of(dtype: str, metadata: Mapping[str, Any]) -> pa.Schema:
    facts = {"format": FORMAT, **metadata, "dtype": dtype}
    item = pa.field("item", _DTYPES[dtype], nullable=False)
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("provenance", pa.string(), nullable=False),
            pa.field("tokens", pa.large_list(item), nullable=False),
        ],
        metadata={
            key: orjson.dumps(facts[key], option=orjson.OPT_SORT_KEYS).decode() for key in sorted(facts)
        },
    )


def _metadata_of(path: str, schema: pa.Schema) -> dict[str, Any]:
    stored = {key.decode(): value for key, value in (schema.metadata or {}).items()}
    if orjson.dumps(FORMAT) != stored.pop("format", b""):
        raise InputError(
            "an Arrow file, but not one of doc arrays: no metadata 'format' that says so", path=path
        )
    facts = {key: orjson.loads(value) for key, value in stored.items()}
    if not schema.equals(_schema_of(facts["dtype"], facts)):
        raise InputError(
            f"doc arrays with another schema: {schema.to_string(show_schema_metadata=False)}", path=path
        )
    return facts


def _read_lengths(path: str) -> NDArray[np.int64]:
    lengths_path = lengths_path_of(path)
    if not storage.exists(lengths_path):
        raise InputError(f"the lengths beside it are missing: {lengths_path}", path=path)
    local = storage.local_path(lengths_path)
    try:
        # A map cannot be empty, so lengths of no documents (a header of 128 bytes alone) are read.
        mapped = local.stat().st_size > 128
        lengths = np.load(local, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"not a whole .npy file: {error}", path=lengths_path) from error
    if lengths.dtype != np.int64 or lengths.ndim != 1:
        raise InputError(f"lengths are 1-D int64, got {lengths.dtype} {lengths.shape}", path=lengths_path)
    return cast(NDArray[np.int64], lengths)


def _record_batch(batch: DocBatch, schema: pa.Schema) -> pa.RecordBatch:
    tokens = list_column(number_column(batch.values), batch.lengths, schema.field("tokens").type)
    return pa.record_batch([text_column(batch.ids), text_column(batch.provenances), tokens], schema=schema)
