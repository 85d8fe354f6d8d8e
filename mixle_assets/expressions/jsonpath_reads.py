"""What a JSONPath reads of a document, found by walking its steps with a place in mind instead of a value."""

from __future__ import annotations

from enum import Enum

from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Descend,
    DescendAll,
    Exists,
    Filter,
    Key,
    Keys,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Root,
    Step,
    Wildcard,
)
from mixle_assets.expressions.reads import Reading, Reads


class _Place(Enum):
    """Where a node stands: what a key below it names follows from that."""

    DOCUMENT = 1
    ATTRIBUTES = 2
    BELOW = 3


def reads_of_jsonpath(path: Path, *, by_value: bool) -> Reads:
    """Say what a whole JSONPath reads.

    Args:
        path: The path.
        by_value: Whether its nodes are used (a selector), or only whether there are any (a rule).
    """
    reading = Reading()
    _walk(path, frozenset({_Place.DOCUMENT}), reading, by_value=by_value)
    return reading.done()


def _walk(path: Path, start: frozenset[_Place], reading: Reading, *, by_value: bool) -> None:
    places = start
    for number, step in enumerate(path.steps):
        later = path.steps[number + 1 :]
        # The filter that a key's value goes through reads that value, whoever uses the nodes.
        compared = by_value or any(isinstance(one, Filter) and _compares(one.predicate) for one in later)
        places = _after(step, places, reading, compared=compared)
        if isinstance(step, Filter):
            _walk_predicate(step.predicate, places, reading)
    if by_value:
        if _Place.DOCUMENT in places:
            reading.any_field()
        if _Place.ATTRIBUTES in places:
            reading.any_attribute()


def _after(step: Step, places: frozenset[_Place], reading: Reading, *, compared: bool) -> frozenset[_Place]:
    match step:
        case Root():
            return frozenset({_Place.DOCUMENT})
        case Current() | Filter():
            return places
        case Key(name):
            names: tuple[str, ...] = (name,)
        case Keys(several):
            names = several
        case Wildcard() | Descend() | DescendAll():
            if _Place.DOCUMENT in places:
                reading.any_field()
            if _Place.ATTRIBUTES in places:
                reading.any_attribute()
            return frozenset({_Place.BELOW})
        case _:
            return frozenset({_Place.BELOW})
    found: set[_Place] = set()
    for place in places:
        for name in names:
            if place is _Place.DOCUMENT:
                reading.field(name)
            elif place is _Place.ATTRIBUTES:
                reading.key(name, compared=compared)
            to_attributes = place is _Place.DOCUMENT and name == "attributes"
            found.add(_Place.ATTRIBUTES if to_attributes else _Place.BELOW)
    return frozenset(found)


def _walk_predicate(predicate: Predicate, places: frozenset[_Place], reading: Reading) -> None:
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                _walk_predicate(part, places, reading)
        case Not(part):
            _walk_predicate(part, places, reading)
        case Exists(operand):
            _walk_operand(operand, places, reading, by_value=False)
        case Compare(left, _, right):
            _walk_operand(left, places, reading, by_value=True)
            _walk_operand(right, places, reading, by_value=True)


def _walk_operand(operand: Operand, places: frozenset[_Place], reading: Reading, *, by_value: bool) -> None:
    if isinstance(operand, Path):
        _walk(operand, places, reading, by_value=by_value)


def _compares(predicate: Predicate) -> bool:
    match predicate:
        case And(parts) | Or(parts):
            return any(_compares(part) for part in parts)
        case Not(part):
            return _compares(part)
        case Compare():
            return True
    return False
