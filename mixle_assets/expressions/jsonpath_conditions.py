"""JSONPath rules to ``Reduction``s, where they compare attributes with numbers and ask for presence."""

from __future__ import annotations

from typing import TypeAlias

from mixle_assets.expressions.conditions import (
    FALSE,
    TRUE,
    Condition,
    Number,
    Place,
    Present,
    Reduction,
    both,
    either,
    is_finite_number,
    negation,
)
from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Exists,
    Filter,
    Index,
    Key,
    Literal,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Root,
)

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

_Names: TypeAlias = tuple[str | int, ...]
_Places: TypeAlias = dict[Place, None]
"""Places in the order they come."""


class _Other(Exception):  # noqa: N818 - not an error: the rule has no such condition
    """The rule needs more than numbers and presence."""


def reduction_of_jsonpath(path: Path) -> Reduction | None:
    """Find what a rule comes down to where its places hold numbers; None if it is not of that kind."""
    steps = path.steps
    filters = [number for number, step in enumerate(steps) if isinstance(step, Filter)]
    try:
        if not filters:
            return Reduction(_exists(_names(path, ()), {}), ())
        last = steps[-1]
        if filters != [len(steps) - 1] or not isinstance(last, Filter):
            return None
        base = _names(Path(steps[:-1]), ())
        if base not in ((), ("attributes",)):
            return None  # an array there would be tested member by member
        found = dict.fromkeys(_places(last.predicate, base))
        return Reduction(_condition(last.predicate, base, found), tuple(found))
    except _Other:
        return None


def _names(path: Path, base: _Names) -> _Names:
    """Where a path with at most one node ends, named from the document."""
    names = base
    for step in path.steps:
        match step:
            case Root():
                names = ()
            case Current():
                pass
            case Key(name):
                names += (name,)
            case Index(position):
                names += (position,)
            case _:
                raise _Other
    return names


def _place(names: _Names) -> Place:
    match names:
        case ("attributes", str() as key, *rest):
            return Place(key, tuple(rest))
    raise _Other


def _places(predicate: Predicate, base: _Names) -> list[Place]:
    match predicate:
        case And(parts) | Or(parts):
            return [place for part in parts for place in _places(part, base)]
        case Not(part):
            return _places(part, base)
        case Compare():
            return [_comparison(predicate, base).place]
    return []


def _condition(predicate: Predicate, base: _Names, found: _Places) -> Condition:
    match predicate:
        case And(parts):
            condition: Condition = TRUE
            for part in parts:
                condition = both(condition, _condition(part, base, found))
            return condition
        case Or(parts):
            condition = FALSE
            for part in parts:
                condition = either(condition, _condition(part, base, found))
            return condition
        case Not(part):
            return negation(_condition(part, base, found))
        case Exists(Literal()):
            return TRUE
        case Exists(Path() as path):
            return _exists(_names(path, base), found)
        case Compare():
            number = _comparison(predicate, base)
            if any(number.place.leads_to(other) for other in found):
                raise _Other  # no number: something stands below it
            return number
    raise _Other


def _exists(names: _Names, found: _Places) -> Condition:
    place = _place(names)
    if place in found or any(place.leads_to(other) for other in found):
        return TRUE
    if place.path:
        raise _Other
    return Present(place.key)


def _comparison(comparison: Compare, base: _Names) -> Number:
    left, right = comparison.left, comparison.right
    if comparison.operator not in _MIRRORED:
        raise _Other
    if isinstance(left, Literal):
        return _number(right, _MIRRORED[comparison.operator], left, base)
    return _number(left, comparison.operator, right, base)


def _number(side: Operand, operator: str, constant: Operand, base: _Names) -> Number:
    if not isinstance(side, Path) or not isinstance(constant, Literal):
        raise _Other
    if not is_finite_number(constant.value):
        raise _Other
    return Number(_place(_names(side, base)), operator, constant.value)
