"""Attribute rows read from their columns: the same rows as the JSON lines give, only the columns asked for.

A batch of columns becomes arrays at once, and rows in small runs, so that a run's values stay in the cache.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

import msgspec
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.attribute_column_values import (
    IdColumn,
    KeyValues,
    Texts,
    row_builder,
    row_filler,
)
from mixle_assets.formats.attribute_shapes import (
    ID_COLUMN,
    METADATA_KEY,
    ROW_COLUMN,
    Shape,
)
from mixle_assets.formats.attributes import AttributeRow
from mixle_assets.manifest import new_hasher
from mixle_assets.records import Attributes, DocumentId, FileStamp

BATCH_ROWS = 16_384
RUN_ROWS = 256
RUN_SPANS = 20_000
"""Rows, and spans on average, that are built at a time."""
_HASHED_IN_BYTES = 2**20


class AttributeColumnReader:
    """The rows of one file of columns; made by ``read_attribute_columns``."""

    def __init__(
        self, path: str, *, keys: Collection[str] | None, span_keys: Collection[str], reuse: bool
    ) -> None:
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
        self._reuses = reuse and keys is not None
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
        """Return the rows in order.

        Raises:
            InputError: While iterating: the file is damaged.
        """
        return chain.from_iterable(self._runs())

    def _runs(self) -> Iterator[Iterable[AttributeRow]]:
        """Yield consecutive rows, few at a time."""
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
            yield from self._runs_of(batch)

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

    def _runs_of(self, batch: pa.RecordBatch) -> Iterator[Iterable[AttributeRow]]:
        ids = IdColumn(batch.column(ID_COLUMN), self._shape.id_kind)
        columns = [
            (
                column.key,
                KeyValues(batch.column(column.name), column, as_tuples=column.key in self._span_keys),
            )
            for column in self._columns
        ]
        measures: list[tuple[str, KeyValues]] = []
        if self._reuses:
            # One that no row lacks says where the texts end; what spans anything else is built one by one.
            whole_texts = (values for _, values in columns if values.is_measure and not values.has_missing)
            if (texts := next(whole_texts, None)) is not None:
                measures = [one for one in columns if one[1].is_measure and one[1].spans_like(texts)]
                measures.sort(key=lambda one: one[1].has_missing)
            taken = {key for key, _ in measures}
            columns = [(key, values) for key, values in columns if key not in taken]
        whole = Texts(batch.column(ROW_COLUMN)) if self._reads_all and self._shape.has_row_column else None
        num_spans = sum(values.num_spans for _, values in columns)
        size = min(RUN_ROWS, RUN_SPANS * len(batch) // (num_spans + 1) + 1)
        for start in range(0, len(batch), size):
            run = slice(start, min(start + size, len(batch)))
            rows = self._merge(columns, run) if columns or not measures else None
            if rows is not None and whole is not None:
                for place in np.flatnonzero(whole.present[run]).tolist():
                    rows[place] = msgspec.json.decode(whole.text(start + place))
            yield map(AttributeRow, _fill(measures, run, rows), ids.values(run))

    def _merge(self, columns: list[tuple[str, KeyValues]], run: slice) -> list[Attributes]:
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
            build = row_builder(tuple(key for key, _ in full))
            rows = list(map(build, *[values.take(run) for _, values in full]))
        else:
            rows = [{} for _ in range(run.start, run.stop)]
        for key, values in full:
            if values.has_missing:
                for place in np.flatnonzero(~values.present[run]).tolist():
                    del rows[place][key]
        for key, values in partial:
            places = np.flatnonzero(values.present[run]).tolist()
            for place, value in zip(places, values.take(run, places), strict=True):
                rows[place][key] = value
        return rows


def _fill(
    measures: list[tuple[str, KeyValues]], run: slice, rows: list[Attributes] | None
) -> Iterable[Attributes]:
    """Return consecutive rows with the measures in them, whose lists each row writes its numbers into."""
    if not measures:
        return rows or ()
    fill = row_filler(tuple(key for key, _ in measures))
    scores = [values.scores[run].tolist() for _, values in measures]
    filled = fill(measures[0][1].ends[run].tolist(), *scores)
    lacking: dict[int, list[str]] = {}
    for key, values in measures:
        if values.has_missing:
            for place in np.flatnonzero(~values.present[run]).tolist():
                lacking.setdefault(place, []).append(key)
    if lacking:
        filled = _leave_out(filled, lacking)
    return filled if rows is None else map(operator.or_, filled, rows)


def _leave_out(rows: Iterable[Attributes], lacking: dict[int, list[str]]) -> Iterator[Attributes]:
    """Yield the rows, those that lack keys without these."""
    for place, row in enumerate(rows):
        if place in lacking:
            row = dict(row)
            for key in lacking[place]:
                del row[key]
        yield row


def read_attribute_columns(
    path: str, *, keys: Collection[str] | None = None, span_keys: Collection[str] = (), reuse: bool = False
) -> AttributeColumnReader:
    """Return the rows that ``attribute_columns`` wrote, as ``attributes.read_attribute_rows`` gives them.

    Args:
        path: Location of the columns; those in an object store are fetched whole, once.
        keys: The attribute keys to read; None reads all, in the order in which each row has them.
        span_keys: Those of ``keys`` whose spans may come as tuples.
        reuse: Let values hold only until the next row is taken, which is told in the same lists: that saves
            most of what reading costs where each document has many measures. Has no effect without ``keys``.

    Raises:
        InputError: The file is missing, cut short, or was not written here; while iterating: it is damaged.
    """
    return AttributeColumnReader(path, keys=keys, span_keys=span_keys, reuse=reuse)
