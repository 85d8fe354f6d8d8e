"""A Parquet file beside an attribute file: the same rows, a column for each attribute key.

Here the file is written, from the rows in JSON; ``attribute_column_reader`` reads it. A column of spans is
``list<struct<start: int64, end: int64, score: double>>`` (``int64`` where all scores are whole), null where a
row has not got the key. What does not fit stands in a column of JSON texts, so nothing is ever lost;
which columns those are says the schema's metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.attribute_files import columns_path_of
from mixle_assets.formats.attribute_shapes import (
    ID_COLUMN,
    METADATA_KEY,
    MISSING,
    ROW_COLUMN,
    ColumnKind,
    Shape,
    Spans,
    find_shape,
    flatten,
)
from mixle_assets.formats.attributes import MISSING_ID, AttributeRow, read_attribute_rows
from mixle_assets.formats.columns import list_column, number_column, text_column
from mixle_assets.formats.hashing_file import HashingFile
from mixle_assets.formats.rows import encode_row

CHUNK_ROWS = 1024
CHUNK_VALUES = 100_000
"""Rows and spans that are turned into columns at a time: a chunk ends with the row that reaches either."""
SAMPLED_CHUNKS = 4
"""Chunks from which the columns are guessed; where a later row does not fit, all rows are looked at."""
GROUP_ROWS = 16_384
GROUP_SPANS = 1_000_000
"""Rows and spans after which a row group ends: what a writer or reader holds at a time."""


class StoredColumns(NamedTuple):
    """What was written.

    Attributes:
        file_hash: Hash of the stored bytes.
        size_in_bytes: Their number.
    """

    file_hash: str
    size_in_bytes: int


def write_attribute_columns(path: str) -> StoredColumns:
    """Write the rows of an attribute file of ours as Parquet beside it, whole or not at all.

    The same rows give the same bytes with the same version of Arrow. Memory is that of one row group.

    Args:
        path: The attribute file, one of ours: no blank lines.

    Raises:
        InputError: The attribute file is missing or broken.
        StoreError: The store is full or refuses.
    """
    sampled = islice(_chunks_of(path), SAMPLED_CHUNKS)
    written = _write(path, find_shape(sampled)) or _write(path, find_shape(_chunks_of(path)))
    if written is None:
        raise InputError("changed while its columns were written", path=path)
    return written


def _chunks_of(path: str) -> Iterator[list[AttributeRow]]:
    chunk: list[AttributeRow] = []
    num_values = 0
    for row in read_attribute_rows(path).rows():
        chunk.append(row)
        num_values += sum(len(value) for value in row.attributes.values() if type(value) is list)
        if len(chunk) >= CHUNK_ROWS or num_values >= CHUNK_VALUES:
            yield chunk
            chunk, num_values = [], 0
    if chunk:
        yield chunk


class _RowDoesNotFitError(Exception):
    """A row holds what the sampled ones did not; the file is begun again."""


def _write(path: str, shape: Shape) -> StoredColumns | None:
    """Write all rows in this shape; None, and no file, if one does not fit."""
    try:
        with storage.write_whole(columns_path_of(path)) as file:
            sink = HashingFile(file)
            with pq.ParquetWriter(
                sink,
                _schema(shape),
                version="2.6",
                compression="zstd",
                # Scores hardly repeat, and zstd finds what does: a dictionary makes it larger, and slower.
                use_dictionary=False,
                data_page_version="1.0",
                store_schema=False,
                write_page_checksum=True,
            ) as writer:
                writer.add_key_value_metadata({METADATA_KEY: orjson.dumps(shape.as_json())})
                group: list[pa.RecordBatch] = []
                num_rows = num_spans = 0
                for chunk in _chunks_of(path):
                    batch, in_batch = _batch_of(chunk, shape, writer.schema)
                    group.append(batch)
                    num_rows += len(chunk)
                    num_spans += in_batch
                    if num_rows >= GROUP_ROWS or num_spans >= GROUP_SPANS:
                        writer.write_table(pa.Table.from_batches(group), row_group_size=num_rows)
                        group.clear()
                        num_rows = num_spans = 0
                if group:
                    writer.write_table(pa.Table.from_batches(group), row_group_size=num_rows)
            return StoredColumns(sink.file_hash, sink.size_in_bytes)
    except _RowDoesNotFitError:
        return None


_ID_TYPES = {ColumnKind.TEXT: pa.string(), ColumnKind.INTEGER: pa.int64(), ColumnKind.JSON: pa.string()}


def span_type(score: pa.DataType) -> pa.DataType:
    """Return the type of a column of spans."""
    fields = [("start", pa.int64()), ("end", pa.int64()), ("score", score)]
    span = pa.struct([pa.field(name, kind, nullable=False) for name, kind in fields])
    return pa.list_(pa.field("element", span, nullable=False))


_TYPES = {
    ColumnKind.FLOATS: span_type(pa.float64()),
    ColumnKind.INTEGERS: span_type(pa.int64()),
    ColumnKind.JSON: pa.string(),
}


def _schema(shape: Shape) -> pa.Schema:
    fields = [pa.field(ID_COLUMN, _ID_TYPES[shape.id_kind])]
    fields += [pa.field(column.name, _TYPES[column.kind]) for column in shape.columns]
    if shape.has_row_column:
        fields.append(pa.field(ROW_COLUMN, pa.string()))
    return pa.schema(fields)


def _batch_of(rows: Sequence[AttributeRow], shape: Shape, schema: pa.Schema) -> tuple[pa.RecordBatch, int]:
    """Return rows as a batch, and how many spans are in it.

    Raises:
        _RowDoesNotFitError: They have a key, a value or an id that the shape does not hold.
    """
    whole_rows: list[Any] = []
    for row in rows:
        place = shape.place_of(row.attributes)
        if place is None or (place is False and not shape.has_row_column):
            raise _RowDoesNotFitError
        whole_rows.append(MISSING if place else row.attributes)
    ids = [MISSING if row.id is MISSING_ID else row.id for row in rows]
    arrays = [_id_column(ids, shape.id_kind)]
    num_spans = 0
    for column in shape.columns:
        values = [row.attributes.get(column.key, MISSING) for row in rows]
        if column.kind is ColumnKind.JSON:
            arrays.append(_json_column(values))
            continue
        spans = flatten(values)
        if spans is None or spans.kind not in (column.kind, ColumnKind.EMPTY):
            raise _RowDoesNotFitError
        num_spans += len(spans.starts)
        arrays.append(_span_column(values, spans, column.kind))
    if shape.has_row_column:
        arrays.append(_json_column(whole_rows))
    return pa.record_batch(arrays, schema=schema), num_spans


def _id_column(ids: list[Any], kind: ColumnKind) -> pa.Array:
    if kind is ColumnKind.JSON:
        return _json_column(ids)
    expected = str if kind is ColumnKind.TEXT else int
    if any(type(one) is not expected and one is not MISSING for one in ids):
        raise _RowDoesNotFitError
    if kind is ColumnKind.TEXT:
        return _with_missing(text_column(["" if one is MISSING else one for one in ids]), ids)
    try:
        numbers = np.array([0 if one is MISSING else one for one in ids], np.int64)
    except OverflowError:
        raise _RowDoesNotFitError from None
    return _with_missing(number_column(numbers), ids)


def _json_column(values: list[Any]) -> pa.Array:
    texts = ["" if value is MISSING else encode_row(value).decode() for value in values]
    return _with_missing(text_column(texts), values)


def _span_column(values: list[Any], spans: Spans, kind: ColumnKind) -> pa.Array:
    scores = spans.scores if len(spans.starts) else np.zeros(0, _DTYPES[kind])
    members = [number_column(spans.starts), number_column(spans.ends), number_column(scores)]
    struct = pa.Array.from_buffers(
        _TYPES[kind].value_type, len(spans.starts), [None], null_count=0, children=members
    )
    return _with_missing(list_column(struct, spans.lengths, _TYPES[kind]), values)


_DTYPES: dict[ColumnKind, Any] = {ColumnKind.FLOATS: np.float64, ColumnKind.INTEGERS: np.int64}


def _with_missing(column: pa.Array, values: Sequence[Any]) -> pa.Array:
    """Return the column with null where the value is missing."""
    present: NDArray[np.bool_] = np.fromiter((value is not MISSING for value in values), bool, len(values))
    if present.all():
        return column
    children = [column.values] if isinstance(column, pa.ListArray) else None
    bits = pa.py_buffer(np.packbits(present, bitorder="little"))
    buffers = [bits, *column.buffers()[1 : 2 if children else None]]
    return pa.Array.from_buffers(
        column.type, len(column), buffers, null_count=int((~present).sum()), children=children
    )
