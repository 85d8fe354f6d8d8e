"""Token files of other tools as doc arrays: Megatron's ``.bin`` and ``.idx``, OLMo's and Dolma's ``.npy``.

The boundary at the end of a document, where the file has it there, is taken off: packing adds it again.
"""

from __future__ import annotations

import csv
import gzip
import io
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.exporting.megatron import DTYPE_CODES, MAGIC
from mixle_assets.formats.doc_arrays import DocArraysFile, write_doc_arrays
from mixle_assets.formats.doc_batches import DocBatch
from mixle_assets.tokenizers import smallest_dtype

MAX_BATCH_DOCUMENTS = 4096


def import_megatron(
    prefix: str, output: str, *, boundary_id: int | None, vocabulary_size: int
) -> DocArraysFile:
    """Write the documents of ``<prefix>.bin`` and ``<prefix>.idx`` as doc arrays.

    A document of several sequences becomes one. Ids and provenance are ``<name>:<number>``, from 1, since
    the format keeps neither.

    Args:
        prefix: The two files' path without their ends.
        output: Where the doc arrays go, ending in ``.arrow``.
        boundary_id: The token that ends documents, taken off; None if there is none.
        vocabulary_size: Highest id + 1 of their tokenizer.

    Raises:
        InputError: A file is missing or cut short, of an unknown layout, or holds ids beyond the vocabulary.
    """
    index_path, data_path = f"{prefix}.idx", f"{prefix}.bin"
    index = storage.read_bytes(index_path)
    head = struct.calcsize("<9sQBQQ")
    if len(index) < head or not index.startswith(MAGIC):
        raise InputError("not an index of Megatron: it does not begin with MMIDIDX", path=index_path)
    _, version, code, num_sequences, num_entries = struct.unpack("<9sQBQQ", index[:head])
    dtypes = {number: name for name, number in DTYPE_CODES.items()}
    if version != 1 or code not in dtypes:
        raise InputError(f"version {version} with dtype code {code} is not known", path=index_path)
    if len(index) < head + 12 * num_sequences + 8 * num_entries:
        raise InputError(f"cut short: {num_sequences:,} sequences are announced", path=index_path)
    lengths = np.frombuffer(index, "<i4", num_sequences, head)
    starts = np.frombuffer(index, "<i8", num_sequences, head + 4 * num_sequences)
    ends_of_documents = np.frombuffer(index, "<i8", num_entries, head + 12 * num_sequences)
    if not num_entries or ends_of_documents[-1] != num_sequences or (np.diff(ends_of_documents) < 0).any():
        raise InputError("its documents do not end where its sequences do", path=index_path)
    data = _map_tokens(data_path, dtypes[code])
    if num_sequences and int((starts // data.itemsize + lengths).max()) > len(data):
        raise InputError(f"cut short: {len(data):,} tokens are there", path=data_path)

    def documents() -> Iterator[NDArray[Any]]:
        for first, stop in zip(ends_of_documents[:-1].tolist(), ends_of_documents[1:].tolist(), strict=True):
            parts = [
                data[start : start + length]
                for start, length in zip(
                    (starts[first:stop] // data.itemsize).tolist(), lengths[first:stop].tolist(), strict=True
                )
            ]
            yield np.concatenate(parts) if parts else data[:0]

    name = prefix.rpartition("/")[2]
    named = ((f"{name}:{number}", f"{name}:{number}", tokens) for number, tokens in enumerate(documents(), 1))
    return _write(output, named, boundary_id, vocabulary_size)


def import_olmo(path: str, output: str, *, boundary_id: int | None, vocabulary_size: int) -> DocArraysFile:
    """Write the documents of ``<name>.npy`` (no header) with ``<name>.csv.gz`` beside it as doc arrays.

    Args:
        path: The ``.npy`` file.
        output: Where the doc arrays go, ending in ``.arrow``.
        boundary_id: The token that ends documents, taken off; None if there is none.
        vocabulary_size: Highest id + 1 of their tokenizer; says whether the file has 16 or 32 bits.

    Raises:
        InputError: A file is missing or cut short, a range lies outside, or an id beyond the vocabulary.
    """
    data = _map_tokens(path, smallest_dtype(vocabulary_size))
    csv_path = path.removesuffix(".npy") + ".csv.gz"

    def named() -> Iterator[tuple[Any, str, NDArray[Any]]]:
        covered = 0
        with (
            storage.open_read(csv_path) as stored,
            gzip.GzipFile(fileobj=stored) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
        ):
            for line, row in enumerate(_rows(text, csv_path), start=1):
                try:
                    start, end = int(row[0]), int(row[1])
                except (ValueError, IndexError) as error:
                    raise InputError(f"not start,end,…: {row}", path=csv_path, line=line) from error
                if start != covered or end < start or end > len(data):
                    raise InputError(
                        f"tokens {start} to {end} do not follow on {covered}, or exceed {len(data):,}",
                        path=csv_path,
                        line=line,
                    )
                covered = end
                document_id = row[2] if len(row) > 2 else f"{line}"
                provenance = f"{row[3]}:{row[4]}" if len(row) > 4 else f"{path.rpartition('/')[2]}:{line}"
                yield document_id, provenance, data[start:end]
        if covered != len(data):
            raise InputError(f"{len(data):,} tokens, but the documents end at {covered:,}", path=path)

    return _write(output, named(), boundary_id, vocabulary_size)


def _rows(text: io.TextIOWrapper, path: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(text)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not a whole .csv.gz file: {error}", path=path) from error


def _map_tokens(path: str, dtype: str) -> NDArray[Any]:
    status = storage.stat(path)
    if status is None:
        raise InputError("is missing", path=path)
    itemsize = np.dtype(dtype).itemsize
    if status.size_in_bytes % itemsize:
        raise InputError(f"{status.size_in_bytes:,} bytes are no whole number of {dtype}", path=path)
    if not status.size_in_bytes:
        return np.empty(0, dtype)
    return np.memmap(storage.local_path(path), np.dtype(dtype).newbyteorder("<"), mode="r")


def _write(
    output: str,
    named: Iterator[tuple[Any, str, NDArray[Any]]],
    boundary_id: int | None,
    vocabulary_size: int,
) -> DocArraysFile:
    metadata: Mapping[str, Any] = {
        "tokenizer_hash": None,
        "boundary_id": boundary_id,
        "bos_id": None,
        "vocabulary_size": vocabulary_size,
    }
    batches = _batches(named, boundary_id)
    return write_doc_arrays(output, batches, dtype=smallest_dtype(vocabulary_size), metadata=metadata)


def _batches(named: Iterator[tuple[Any, str, NDArray[Any]]], boundary_id: int | None) -> Iterator[DocBatch]:
    while True:
        ids, provenances, parts = [], [], []
        for document_id, provenance, tokens in named:
            ids.append(document_id)
            provenances.append(provenance)
            parts.append(tokens[:-1] if len(tokens) and tokens[-1] == boundary_id else tokens)
            if len(ids) == MAX_BATCH_DOCUMENTS:
                break
        if not ids:
            return
        lengths = np.array([len(part) for part in parts], np.int64)
        yield DocBatch(ids, provenances, np.concatenate(parts), lengths)
