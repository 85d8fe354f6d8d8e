"""Documents from tables: Parquet files, and datasets that Hugging Face ``datasets`` saved to disk.

A row is a document: one column is its text, one may be its id, others may be kept as metadata. Both are read
with Arrow, batch by batch; nothing of ``datasets`` is needed.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing.inputs import SourceFile, digest_of_files, find_source_files
from mixle_assets.sourcing.sources import Left
from mixle_assets.storage import join, open_read, read_bytes, stat

_ROWS_IN_BATCH = 1000


def find_documents(source: Source) -> Iterator[dict[str, Any] | Left]:
    """Yield one document a row, file by file.

    The id is the value of ``source.id``, or of a column ``id`` if there is one; otherwise
    ``<file>:<row>``, rows counted from 0.

    Raises:
        InputError: No file, no such column, a text that is no string, a value that JSON cannot hold, or a
            file that is broken.
    """
    for file in _files(source):
        try:
            yield from _documents_of(source, file)
        except pa.ArrowException as error:
            raise InputError(f"cannot be read as {source.kind}: {error}", path=file.path) from error


def digest_of(source: Source) -> str:
    """Return a digest of the files' names, sizes and modification times, and of the columns taken."""
    settings = [source.kind, source.text, source.id, list(source.columns)]
    return digest_of_files(_files(source), settings)


def _files(source: Source) -> list[SourceFile]:
    if source.parquet:
        return find_source_files(source.parquet)
    return [file for folder in source.datasets for file in _dataset_files(folder.rstrip("/"), "")]


def _dataset_files(folder: str, below: str) -> list[SourceFile]:
    """Return the Arrow files of a saved dataset, or of every split of a saved mapping of datasets."""
    name = folder.rsplit("/", 1)[-1]
    above = f"{below}{name}/"
    if stat(join(folder, "state.json")) is not None:
        state = _json(join(folder, "state.json"))
        return [
            SourceFile(join(folder, each["filename"]), above + each["filename"])
            for each in state["_data_files"]
        ]
    if stat(join(folder, "dataset_dict.json")) is not None:
        splits = _json(join(folder, "dataset_dict.json"))["splits"]
        return [file for split in splits for file in _dataset_files(join(folder, split), above)]
    raise InputError("no saved dataset: neither state.json nor dataset_dict.json is in it", path=folder)


def _json(path: str) -> Any:
    try:
        return msgspec.json.decode(read_bytes(path))
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON: {error}", path=path) from error


def _documents_of(source: Source, file: SourceFile) -> Iterator[dict[str, Any] | Left]:
    row = 0
    with open_read(file.path) as stored:
        batches, schema = _open_parquet(stored, source) if source.parquet else _open_arrow(stored)
        columns = _columns(source, schema, file)
        for batch in batches:
            for values in batch.select(columns).to_pylist():
                yield _document(source, file, row, values)
                row += 1


def _open_parquet(stored: Any, source: Source) -> tuple[Iterator[pa.RecordBatch], pa.Schema]:
    table = pq.ParquetFile(stored)
    schema = table.schema_arrow
    wanted = [name for name in (source.text, source.id or "id", *source.columns) if name in schema.names]
    return table.iter_batches(_ROWS_IN_BATCH, columns=wanted), schema


def _open_arrow(stored: Any) -> tuple[Iterator[pa.RecordBatch], pa.Schema]:
    stream = pa.ipc.open_stream(stored)
    pieces = (
        batch.slice(start, _ROWS_IN_BATCH)
        for batch in stream
        for start in range(0, batch.num_rows, _ROWS_IN_BATCH)
    )
    return pieces, stream.schema


def _columns(source: Source, schema: pa.Schema, file: SourceFile) -> list[str]:
    """Return the columns to read, the text first; refuse those that are not there."""
    wanted = [
        source.text,
        *([source.id] if source.id else ["id"] if "id" in schema.names else []),
        *source.columns,
    ]
    for name in wanted:
        if name not in schema.names:
            raise InputError(f"no column {name!r}; there are {', '.join(schema.names)}", path=file.path)
    kind = schema.field(source.text).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise InputError(f"the column {source.text!r} holds {kind}, not text", path=file.path)
    return list(dict.fromkeys(wanted))


def _document(source: Source, file: SourceFile, row: int, values: dict[str, Any]) -> dict[str, Any] | Left:
    text = values[source.text]
    if text is None:
        return Left("no text")
    if not text.strip():
        return Left("empty")
    identifier = values.get(source.id or "id")
    if identifier is None:
        identifier = f"{file.name}:{row}"
    metadata = {"path": file.name, "row": row}
    metadata |= {name: _plain(values[name], name, file, row) for name in source.columns}
    identifier = _plain(identifier, source.id or "id", file, row)
    return {"id": identifier, "text": text, "source": source.kind, "metadata": metadata}


def _plain(value: Any, name: str, file: SourceFile, row: int) -> Any:
    """Return a value as JSON holds it: dates as ISO text, decimals as text."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item, name, file, row) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, name, file, row) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise InputError(f"row {row}: the column {name!r} holds {type(value).__name__}, not JSON", path=file.path)
