"""Which columns the rows of an attribute file need: found over rows, kept in the columns' metadata.

The shape follows from the rows alone, never from how they were cut, so the same rows give the same columns.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixle_assets.formats.attributes import MISSING_ID, AttributeRow
from mixle_assets.records import Attributes

ID_COLUMN = "id"
ROW_COLUMN = "attributes"
"""Column of whole rows as JSON, null but where a row has its keys in another order than the columns."""
METADATA_KEY = b"mixle_assets.attribute_columns"
VERSION = 1
_MANY_ORDERS = 10_000


class Missing(enum.Enum):
    """What stands for a key that a row has not got; a JSON null is a value."""

    MISSING = enum.auto()


MISSING: Final = Missing.MISSING


class ColumnKind(enum.Enum):
    """How the values of a column are held."""

    EMPTY = "empty"
    FLOATS = "spans"
    INTEGERS = "spans with whole scores"
    JSON = "json"
    TEXT = "text"
    INTEGER = "integer"


class Column(NamedTuple):
    """One attribute key: its column, and how its values are held."""

    name: str
    key: str
    kind: ColumnKind


class Spans(NamedTuple):
    """The spans of consecutive values; ``lengths`` says how many belong to each, 0 for a missing one."""

    lengths: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    scores: NDArray[Any]
    kind: ColumnKind


_NO_SPANS = np.zeros(0, np.int64)


def flatten(values: Sequence[Any]) -> Spans | None:
    """Return values as arrays of spans; None unless each is missing or a list of spans, all alike.

    Alike are spans of two whole numbers of 64 bits and a score, all scores floats or all whole: so nothing
    changes on the way through the columns.
    """
    lists: list[Any] = [() if value is MISSING else value for value in values]
    if not {*map(type, lists)} <= {list, tuple}:
        return None
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    spans = list(chain.from_iterable(lists))
    if not spans:
        return Spans(lengths, _NO_SPANS, _NO_SPANS, _NO_SPANS, ColumnKind.EMPTY)
    if {*map(type, spans)} != {list} or {*map(len, spans)} != {3}:
        return None
    starts, ends, scores = zip(*spans, strict=True)
    types = {*map(type, scores)}
    if {*map(type, starts), *map(type, ends)} != {int} or types not in ({float}, {int}):
        return None
    is_whole = types == {int}
    try:
        return Spans(
            lengths,
            np.array(starts, np.int64),
            np.array(ends, np.int64),
            np.array(scores, np.int64 if is_whole else np.float64),
            ColumnKind.INTEGERS if is_whole else ColumnKind.FLOATS,
        )
    except OverflowError:
        return None


@dataclass(frozen=True)
class Shape:
    """The columns of a file.

    Attributes:
        id_kind: How ids are held: ``TEXT``, ``INTEGER`` or ``JSON``; null where a row has none.
        columns: The attribute keys, in the order in which rows have them.
        has_row_column: Whether some row has its keys in another order.
    """

    id_kind: ColumnKind
    columns: tuple[Column, ...]
    has_row_column: bool = False
    _places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[tuple[str, ...], bool | None] = field(default_factory=dict, compare=False, repr=False)

    def place_of(self, attributes: Attributes) -> bool | None:
        """Return whether a row has its keys in the order of the columns; None if it has another key."""
        keys = tuple(attributes)
        if keys not in self._known:
            if not self._places:
                self._places.update({column.key: place for place, column in enumerate(self.columns)})
            if len(self._known) >= _MANY_ORDERS:
                self._known.clear()
            places = [self._places.get(key, -1) for key in keys]
            self._known[keys] = None if -1 in places else all(one < next_ for one, next_ in pairwise(places))
        return self._known[keys]

    def as_json(self) -> dict[str, Any]:
        """Return the shape as the metadata holds it."""
        return {
            "version": VERSION,
            "id": self.id_kind.value,
            "columns": [[column.name, column.key, column.kind.value] for column in self.columns],
            "row_column": self.has_row_column,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shape:
        """Return the shape that ``as_json`` gave.

        Raises:
            ValueError: It is another version's.
        """
        if value.get("version") != VERSION:
            raise ValueError(f"version {value.get('version')!r} is not {VERSION}")
        columns = tuple(Column(name, key, ColumnKind(kind)) for name, key, kind in value["columns"])
        return cls(ColumnKind(value["id"]), columns, value["row_column"])


def find_shape(chunks: Iterable[Sequence[AttributeRow]]) -> Shape:
    """Return the columns that hold all of these rows."""
    finder = _ShapeFinder()
    for rows in chunks:
        finder.add(rows)
    return finder.shape()


class _ShapeFinder:
    def __init__(self) -> None:
        self._kinds: dict[str, ColumnKind] = {}
        self._id_types: set[type] = set()
        self._has_large_ids = False
        self._orders: set[tuple[str, ...]] = set()
        self._before: dict[str, dict[str, None]] = {}  # key to those that stood right before it

    def add(self, rows: Sequence[AttributeRow]) -> None:
        """Look at consecutive rows."""
        for row in rows:
            order = tuple(row.attributes)
            if order not in self._orders:
                if len(self._orders) >= _MANY_ORDERS:
                    self._orders.clear()
                self._orders.add(order)
                for key in order:
                    self._before.setdefault(key, {})
                for key, behind in pairwise(order):
                    self._before[behind][key] = None
        for key in self._before:
            spans = flatten([row.attributes.get(key, MISSING) for row in rows])
            kind = ColumnKind.JSON if spans is None else spans.kind
            self._kinds[key] = _join(self._kinds.get(key, ColumnKind.EMPTY), kind)
        ids = [row.id for row in rows if row.id is not MISSING_ID]
        self._id_types.update(map(type, ids))
        self._has_large_ids |= any(type(one) is int and not -(2**63) <= one < 2**63 for one in ids)

    def shape(self) -> Shape:
        """Return the columns that hold all rows seen."""
        try:
            order = list(TopologicalSorter(self._before).static_order())
            has_row_column = False
        except CycleError:
            order, has_row_column = list(self._before), True
        id_kind = ColumnKind.JSON
        if self._id_types <= {str}:
            id_kind = ColumnKind.TEXT
        elif self._id_types == {int} and not self._has_large_ids:
            id_kind = ColumnKind.INTEGER
        names = _column_names(order)
        columns = []
        for name, key in zip(names, order, strict=True):
            kind = self._kinds[key]
            columns.append(Column(name, key, ColumnKind.FLOATS if kind is ColumnKind.EMPTY else kind))
        return Shape(id_kind, tuple(columns), has_row_column)


def _join(one: ColumnKind, other: ColumnKind) -> ColumnKind:
    """Return the kind that holds what both hold."""
    if one is other or other is ColumnKind.EMPTY:
        return one
    return other if one is ColumnKind.EMPTY else ColumnKind.JSON


def _column_names(keys: Iterable[str]) -> list[str]:
    """Return a column name for each key: the key, unless it is empty, taken, or told apart by case alone."""
    taken = {ID_COLUMN, ROW_COLUMN}
    names = []
    for key in keys:
        name = key or "_"
        while name.lower() in taken:  # DuckDB's names are the same in either case
            name += "_"
        taken.add(name.lower())
        names.append(name)
    return names
