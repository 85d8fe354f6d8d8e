"""What a batch of attribute columns holds, as the values of rows: texts, ids, spans, and whole rows of them.

Columns are taken apart into arrays through their buffers, never value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.formats.attribute_shapes import Column, ColumnKind
from mixle_assets.formats.attributes import MISSING_ID
from mixle_assets.records import Attributes, DocumentId


class Texts:
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


class IdColumn:
    """The ids of a batch."""

    def __init__(self, column: pa.Array, kind: ColumnKind) -> None:
        self._kind = kind
        self._present = _present(column)
        if kind is ColumnKind.INTEGER:
            self._numbers = _numbers(column, 1, np.dtype(np.int64), len(column))
        else:
            self._texts = Texts(column)

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


MEASURED_SHARE = 0.9
"""From this share of rows with a key on, those without are made by leaving it out."""


class _SpanArrays(NamedTuple):
    offsets: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    scores: NDArray[Any]


class KeyValues:
    """The values of one attribute key in a batch.

    Attributes:
        present: Which rows have the key.
        has_missing: Whether some have not.
        num_spans: How many spans the rows have together.
        is_measure: Whether every row that has the key has exactly one span, from the start of the text.
        ends: Of a measure: where the spans end; anything in rows without.
        scores: Of a measure: their scores, likewise.
    """

    def __init__(self, column: pa.Array, described: Column, *, as_tuples: bool) -> None:
        self.present = _present(column)
        self.has_missing = not self.present.all()
        self._as_tuples = as_tuples
        self._texts: Texts | None = None
        self.is_measure = False
        self.num_spans = 0
        self.ends: NDArray[Any] = np.zeros(0, np.int64)
        self.scores: NDArray[Any] = self.ends
        if described.kind is ColumnKind.JSON:
            self._texts = Texts(column)
            return
        members = column.values
        score = np.dtype(np.int64 if described.kind is ColumnKind.INTEGERS else np.float64)
        numbers = [
            _numbers(members.field(place), 1, dtype, len(members))
            for place, dtype in enumerate((np.dtype(np.int64), np.dtype(np.int64), score))
        ]
        offsets = _numbers(column, 1, np.dtype(np.int32), len(column) + 1)
        self._spans = _SpanArrays(offsets, *numbers)
        here = slice(int(offsets[0]), int(offsets[-1]))
        starts, ends, scores = (each[here] for each in numbers)
        self.num_spans = len(starts)
        if not as_tuples and 0 < len(column) * MEASURED_SHARE <= len(starts) and not starts.any():
            self.is_measure = bool(((np.diff(offsets) == 1) == self.present).all())
        if self.is_measure:
            places = np.maximum(np.cumsum(self.present) - 1, 0)
            self.ends, self.scores = (ends[places], scores[places]) if self.has_missing else (ends, scores)

    def spans_like(self, other: KeyValues) -> bool:
        """Return whether both are measures, and of the same texts."""
        both = self.present & other.present
        return np.array_equal(self.ends[both], other.ends[both])

    def num_present(self, run: slice) -> int:
        """Return how many of consecutive rows have the key."""
        return int(self.present[run].sum()) if self.has_missing else run.stop - run.start

    def take(self, run: slice, places: list[int] | None = None) -> list[Any]:
        """Return the values of consecutive rows, or of some of these; anything for one that is missing."""
        if self._texts is not None:
            texts = self._texts.texts(run)
            chosen = texts if places is None else [texts[place] for place in places]
            return [msgspec.json.decode(text) if text else None for text in chosen]
        bounds = self._spans.offsets[run.start : run.stop + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        num_rows = run.stop - run.start
        if first == last:
            return [[] for _ in range(num_rows if places is None else len(places))]
        starts, ends, scores = (numbers[first:last] for numbers in self._spans[1:])
        # A measure of the whole document is one span, and most measures are.
        is_one_each = places is None and last - first == num_rows and bool((np.diff(bounds) == 1).all())
        if self._as_tuples:
            tuples = list(zip(starts.tolist(), ends.tolist(), scores.tolist(), strict=True))
            return [[span] for span in tuples] if is_one_each else _cut(tuples, bounds - first, places)
        # Lists out of an array of objects: made in one call, at half the price of a comprehension.
        objects = np.empty((last - first, 3), object)
        objects[:, 0] = starts
        objects[:, 1] = ends
        objects[:, 2] = scores
        if is_one_each:
            return objects.reshape(num_rows, 1, 3).tolist()
        return _cut(objects.tolist(), bounds - first, places)


def _cut(spans: list[Any], bounds: NDArray[np.int32], places: list[int] | None) -> list[list[Any]]:
    """Return the spans of each row, or of some rows."""
    edges = bounds.tolist()
    if places is None:
        return [spans[start:end] for start, end in pairwise(edges)]
    return [spans[edges[place] : edges[place + 1]] for place in places]


@lru_cache(maxsize=64)
def row_filler(keys: tuple[str, ...]) -> Callable[..., Iterator[Attributes]]:
    """Return the generator of rows from a list of ends and a list of scores for each key.

    Each row is the same dictionary of the same lists with other numbers. As source, so that a number costs
    one step of the interpreter.
    """
    scores = [f"score_{place}" for place in range(len(keys))]
    spans = [f"span_{place}" for place in range(len(keys))]
    given = ", ".join(f"all_{score}" for score in scores)
    values = ", ".join(f"{key!r}: [{span}]" for key, span in zip(keys, spans, strict=True))
    pairs = zip(spans, scores, strict=True)
    steps = [f"        {span}[1] = end; {span}[2] = {score}" for span, score in pairs]
    source = "\n".join(
        [
            f"def fill(all_ends, {given}):",
            *(f"    {span} = [0, 0, 0]" for span in spans),
            f"    row = {{{values}}}",
            f"    for end, {', '.join(scores)} in zip(all_ends, {given}):",
            *steps,
            "        yield row",
        ]
    )
    names: dict[str, Any] = {}
    exec(compile(source, "<rows>", "exec"), names)  # noqa: S102
    fill: Callable[..., Iterator[Attributes]] = names["fill"]
    return fill


@lru_cache(maxsize=64)
def row_builder(keys: tuple[str, ...]) -> Callable[..., Attributes]:
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
