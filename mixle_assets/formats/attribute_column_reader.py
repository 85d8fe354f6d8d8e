"""Attribute rows read from their columns: the same rows as the JSON lines give, only the columns asked for.

A batch of columns becomes arrays at once, and rows in small runs, so that a run's values stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.attribute_shapes import (
    ID_COLUMN,
    METADATA_KEY,
    ROW_COLUMN,
    Column,
    ColumnKind,
    Shape,
)
from mixle_assets.formats.attributes import MISSING_ID, AttributeRow
from mixle_assets.manifest import new_hasher
from mixle_assets.records import Attributes, DocumentId, FileStamp

BATCH_ROWS = 4096
RUN_ROWS = 256
_HASHED_IN_BYTES = 2**20


class AttributeColumnReader:
    """The rows of one file of columns; made by ``read_attribute_columns``."""

    def __init__(self, path: str, *, keys: Collection[str] | None, span_keys: Collection[str]) -> None:
        self.path = path
        found = storage.stat(path)
        if found is None:
            raise InputError("there is no such file", path=path)
        self._stat = found
        self._local = storage.local_path(path)
        self._reads_all = keys is None
        try:
            self._file = pq.ParquetFile(self._local, memory_map=True, page_checksum_verification=True)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"is no whole Parquet file: {error}", path=path) from error
        self._shape = self._find_shape()
        self._columns = [column for column in self._shape.columns if keys is None or column.key in keys]
        self._span_keys = frozenset(span_keys)
        self._stamp: FileStamp | None = None

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time."""
        if self._stamp is None:
            hasher = new_hasher()
            with self._local.open("rb") as file:
                while stored := file.read(_HASHED_IN_BYTES):
                    hasher.update(stored)
            self._stamp = FileStamp(hasher.hexdigest(), *self._stat)
        return self._stamp

    def __iter__(self) -> Iterator[tuple[int, DocumentId, Attributes]]:
        for line, row in enumerate(self.rows(), start=1):
            yield line, row.id, row.attributes

    def rows(self) -> Iterator[AttributeRow]:
        """Yield the rows in order.

        Raises:
            InputError: The file is damaged.
        """
        names = [ID_COLUMN, *(column.name for column in self._columns)]
        if self._reads_all and self._shape.has_row_column:
            names.append(ROW_COLUMN)
        batches = self._file.iter_batches(BATCH_ROWS, columns=names, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError) as error:
                raise InputError(f"damaged: {error}", path=self.path) from error
            if batch is None:
                return
            yield from self._rows_of(batch)

    def line_of(self, row: int) -> int:
        """Return the line of a row, counted from 0, in the attribute file that the columns were made from."""
        return row + 1

    def _find_shape(self) -> Shape:
        metadata = self._file.metadata.metadata or {}
        try:
            return Shape.from_json(orjson.loads(metadata[METADATA_KEY]))
        except KeyError:
            raise InputError("these columns were not written here", path=self.path) from None
        except ValueError as error:
            raise InputError(f"columns that this version cannot read: {error}", path=self.path) from error

    def _rows_of(self, batch: pa.RecordBatch) -> Iterator[AttributeRow]:
        ids = _IdColumn(batch.column(ID_COLUMN), self._shape.id_kind)
        columns = [
            (column.key, _Values(batch.column(column.name), column, as_tuples=column.key in self._span_keys))
            for column in self._columns
        ]
        whole = _Texts(batch.column(ROW_COLUMN)) if self._reads_all and self._shape.has_row_column else None
        for start in range(0, len(batch), RUN_ROWS):
            run = slice(start, min(start + RUN_ROWS, len(batch)))
            rows = self._merge(columns, run)
            if whole is not None:
                for place in np.flatnonzero(whole.present[run]).tolist():
                    rows[place] = msgspec.json.decode(whole.text(start + place))
            yield from map(AttributeRow, rows, ids.values(run))

    def _merge(self, columns: list[tuple[str, _Values]], run: slice) -> list[Attributes]:
        """Return the attributes of consecutive rows: those that all have at once, the others one by one."""
        full, partial = [], []
        for key, values in columns:
            num_present = values.num_present(run)
            # The order of keys matters only where all are read, to be written again.
            if num_present and (self._reads_all or 2 * num_present > run.stop - run.start):
                full.append((key, values))
            elif num_present:
                partial.append((key, values))
        rows: list[Attributes]
        if full:
            build = _row_builder(tuple(key for key, _ in full))
            rows = list(map(build, *[values.take(run) for _, values in full]))
        else:
            rows = [{} for _ in range(run.start, run.stop)]
        for key, values in full:
            if values.has_missing:
                for place in np.flatnonzero(~values.present[run]).tolist():
                    del rows[place][key]
        for key, values in partial:
            taken = values.take(run)
            for place in np.flatnonzero(values.present[run]).tolist():
                rows[place][key] = taken[place]
        return rows


def read_attribute_columns(
    path: str, *, keys: Collection[str] | None = None, span_keys: Collection[str] = ()
) -> AttributeColumnReader:
    """Return the rows that ``attribute_columns`` wrote, as ``attributes.read_attribute_rows`` gives them.

    Args:
        path: Location of the columns; those in an object store are fetched whole, once.
        keys: The attribute keys to read; None reads all, in the order in which each row has them.
        span_keys: Those of ``keys`` whose spans may come as tuples.

    Raises:
        InputError: The file is missing, cut short, or was not written here; while iterating: it is damaged.
    """
    return AttributeColumnReader(path, keys=keys, span_keys=span_keys)


class _Texts:
    """A column of texts as UTF-8."""

    def __init__(self, column: pa.Array) -> None:
        self.present = _present(column)
        self._offsets = _numbers(column, 1, np.dtype(np.int32), len(column) + 1)
        content = column.buffers()[2]
        self._content = memoryview(content if content is not None else b"")

    def text(self, place: int) -> bytes:
        """Return one text."""
        return bytes(self._content[self._offsets[place] : self._offsets[place + 1]])

    def texts(self, run: slice) -> list[bytes]:
        """Return consecutive texts; an empty one in place of one that is missing."""
        content, places = self._content_of(run)
        return [content[start:end] for start, end in pairwise(places)]

    def strings(self, run: slice) -> list[str]:
        """Return consecutive texts as strings."""
        content, places = self._content_of(run)
        if content.isascii():
            text = content.decode()
            return [text[start:end] for start, end in pairwise(places)]
        return [content[start:end].decode() for start, end in pairwise(places)]

    def _content_of(self, run: slice) -> tuple[bytes, list[int]]:
        bounds = self._offsets[run.start : run.stop + 1]
        return bytes(self._content[bounds[0] : bounds[-1]]), (bounds - bounds[0]).tolist()


class _IdColumn:
    """The ids of a batch."""

    def __init__(self, column: pa.Array, kind: ColumnKind) -> None:
        self._kind = kind
        self._present = _present(column)
        if kind is ColumnKind.INTEGER:
            self._numbers = _numbers(column, 1, np.dtype(np.int64), len(column))
        else:
            self._texts = _Texts(column)

    def values(self, run: slice) -> list[DocumentId]:
        """Return the ids of consecutive rows."""
        ids: list[DocumentId]
        if self._kind is ColumnKind.INTEGER:
            ids = self._numbers[run].tolist()
        elif self._kind is ColumnKind.TEXT:
            ids = list(self._texts.strings(run))
        else:
            ids = [msgspec.json.decode(text) if text else None for text in self._texts.texts(run)]
        for place in np.flatnonzero(~self._present[run]).tolist():
            ids[place] = MISSING_ID
        return ids


class _SpanArrays(NamedTuple):
    offsets: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    scores: NDArray[Any]


class _Values:
    """The values of one attribute key in a batch."""

    def __init__(self, column: pa.Array, described: Column, *, as_tuples: bool) -> None:
        self.present = _present(column)
        self.has_missing = not self.present.all()
        self._as_tuples = as_tuples
        self._texts: _Texts | None = None
        if described.kind is ColumnKind.JSON:
            self._texts = _Texts(column)
            return
        members = column.values
        score = np.dtype(np.int64 if described.kind is ColumnKind.INTEGERS else np.float64)
        numbers = [
            _numbers(members.field(place), 1, dtype, len(members))
            for place, dtype in enumerate((np.dtype(np.int64), np.dtype(np.int64), score))
        ]
        offsets = _numbers(column, 1, np.dtype(np.int32), len(column) + 1)
        self._spans = _SpanArrays(offsets, *numbers)

    def num_present(self, run: slice) -> int:
        """Return how many of consecutive rows have the key."""
        return int(self.present[run].sum()) if self.has_missing else run.stop - run.start

    def take(self, run: slice) -> list[Any]:
        """Return the values of consecutive rows; anything in place of one that is missing."""
        if self._texts is not None:
            return [msgspec.json.decode(text) if text else None for text in self._texts.texts(run)]
        bounds = self._spans.offsets[run.start : run.stop + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        if first == last:
            return [[] for _ in range(run.start, run.stop)]
        starts, ends, scores = (numbers[first:last] for numbers in self._spans[1:])
        num_rows = run.stop - run.start
        # A measure of the whole document is one span, and most measures are.
        is_one_each = last - first == num_rows and bool((np.diff(bounds) == 1).all())
        if self._as_tuples:
            tuples = list(zip(starts.tolist(), ends.tolist(), scores.tolist(), strict=True))
            return [[span] for span in tuples] if is_one_each else _cut(tuples, bounds - first)
        # Lists out of an array of objects: made in one call, at half the price of a comprehension.
        objects = np.empty((last - first, 3), object)
        objects[:, 0] = starts
        objects[:, 1] = ends
        objects[:, 2] = scores
        if is_one_each:
            return objects.reshape(num_rows, 1, 3).tolist()
        return _cut(objects.tolist(), bounds - first)


def _cut(spans: list[Any], bounds: NDArray[np.int32]) -> list[list[Any]]:
    """Return the spans of each row."""
    places = bounds.tolist()
    return [spans[start:end] for start, end in pairwise(places)]


@lru_cache(maxsize=64)
def _row_builder(keys: tuple[str, ...]) -> Callable[..., Attributes]:
    """Return the function from the values of these keys to a row.

    As source, since a dictionary that is written out is built in half the time of ``dict(zip(...))``.
    """
    names = [f"value_{place}" for place in range(len(keys))]
    items = ", ".join(f"{key!r}: {name}" for key, name in zip(keys, names, strict=True))
    build: Callable[..., Attributes] = eval(f"lambda {', '.join(names)}: {{{items}}}")  # noqa: S307
    return build


def _present(column: pa.Array) -> NDArray[np.bool_]:
    """Return which values are there."""
    bits = column.buffers()[0]
    if bits is None or not column.null_count:
        return np.ones(len(column), bool)
    stop = column.offset + len(column)
    flags = np.unpackbits(np.frombuffer(bits, np.uint8), count=stop, bitorder="little")
    return flags[column.offset :].astype(bool)


def _numbers(column: pa.Array, buffer: int, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
    """Return the numbers in one of a column's buffers, without a copy."""
    content = column.buffers()[buffer]
    if content is None:
        return np.zeros(length, dtype)
    return np.frombuffer(content, dtype)[column.offset : column.offset + length]
