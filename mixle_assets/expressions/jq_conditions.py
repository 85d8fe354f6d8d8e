"""jq rules to ``Reduction``s, by running them on places instead of values.

Where the places hold numbers, what leads to them is a non-empty array or object: its type, its truth and
that it is not null follow, and the guards of a rule fall away.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from mixle_assets.expressions import jq_values
from mixle_assets.expressions.conditions import (
    FALSE,
    TRUE,
    Condition,
    Constant,
    Number,
    Place,
    Present,
    Reduction,
    both,
    either,
    is_finite_number,
    negation,
)
from mixle_assets.expressions.jq_ast import (
    Alternative,
    And,
    Binary,
    Call,
    Identity,
    If,
    Index,
    Literal,
    Node,
    Or,
    Pipe,
)

_COMPARE = {
    "==": jq_values.equal,
    "!=": jq_values.unequal,
    "<": jq_values.less,
    "<=": jq_values.at_most,
    ">": jq_values.greater,
    ">=": jq_values.at_least,
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


class _Whole(Enum):
    DOCUMENT = 1
    ATTRIBUTES = 2


class _Known(Struct, frozen=True):
    value: Any


class _AtLeast(Struct, frozen=True):
    """The length of an array or object that something stands in."""

    number: int


class _Truth(Struct, frozen=True):
    condition: Condition


_Value: TypeAlias = _Whole | Place | _Known | _AtLeast | _Truth


class _Other(Exception):  # noqa: N818 - not an error: the rule has no such condition
    """The rule needs more than numbers and presence."""


def reduction_of_jq(program: Node) -> Reduction | None:
    """Find what a rule comes down to where its places hold numbers; None if it is not of that kind."""
    try:
        first = _Run(None)
        first.value(program, _Whole.DOCUMENT)
        seen = first.seen
        ends = dict.fromkeys(place for place in seen if not any(place.leads_to(other) for other in seen))
        second = _Run(ends)
        return Reduction(second.output(second.value(program, _Whole.DOCUMENT)), tuple(ends))
    except (_Other, jq_values.Undecided):
        return None


class _Run:
    """One pass over a program; the first, without ``ends``, only finds out which places it leads to."""

    def __init__(self, ends: dict[Place, None] | None) -> None:
        self.ends = ends
        self.seen: dict[Place, None] = {}

    def value(self, node: Node, given: _Value) -> _Value:
        match node:
            case Identity():
                return given
            case Literal(constant, True):
                return _Known(constant)
            case Index(target, Literal(key, True)):
                return self.index(self.value(target, given), key)
            case Pipe(left, right):
                return self.value(right, self.value(left, given))
            case And(left, right):
                return _Truth(both(self.truth(self.value(left, given)), self.truth(self.value(right, given))))
            case Or(left, right):
                return _Truth(
                    either(self.truth(self.value(left, given)), self.truth(self.value(right, given)))
                )
            case If(condition, chosen, otherwise):
                return self.branch(self.truth(self.value(condition, given)), chosen, otherwise, given)
            case Alternative(left, right):
                found = self.value(left, given)
                truth = self.truth(found)
                if truth == TRUE:
                    return found
                return self.value(right, given) if truth == FALSE else self.fail()
            case Binary(operator, left, right) if operator in _COMPARE:
                return self.compare(operator, self.value(left, given), self.value(right, given))
            case Call(name, arguments):
                return self.call(name, arguments, given)
        return self.fail()

    def fail(self) -> _Value:
        raise _Other

    def index(self, target: _Value, key: Any) -> _Value:
        match target:
            case _Whole.DOCUMENT if key == "attributes":
                return _Whole.ATTRIBUTES
            case _Whole.ATTRIBUTES if isinstance(key, str):
                place = Place(key)
            case Place(name, path) if type(key) in (str, int):
                place = Place(name, (*path, key))
            case _:
                return self.fail()
        self.seen[place] = None
        return place

    def truth(self, value: _Value) -> Condition:
        """Truth in a condition: numbers, arrays and objects are true whatever they are."""
        match value:
            case _Truth(condition):
                return condition
            case _Known(constant):
                return Constant(jq_values.is_truthy(constant))
        return TRUE

    def output(self, value: _Value) -> Condition:
        """Truth of an output: there 0 and the empty array and object are false."""
        match value:
            case _Truth(condition):
                return condition
            case _Known(constant):
                return Constant(bool(constant))
            case Place():
                return Number(value, "!=", 0) if self.is_number(value) else TRUE
            case _AtLeast(number):
                return TRUE if number else self.output(self.fail())
        return self.output(self.fail())

    def is_number(self, place: Place) -> bool:
        return self.ends is not None and place in self.ends

    def step_below(self, place: Place) -> str | int | None:
        """The step from a place towards an end; None for an end, or while the ends are not known."""
        below = {end.path[len(place.path)] for end in self.ends or () if place.leads_to(end)}
        if len(below) > 1 and len({type(step) for step in below}) > 1:
            raise _Other
        positions = [step for step in below if isinstance(step, int)]
        if positions:
            return max(positions, key=lambda step: step if step >= 0 else -step - 1)
        return next(iter(below), None)

    def branch(self, condition: Condition, chosen: Node, otherwise: Node, given: _Value) -> _Value:
        if self.ends is None:
            self.value(otherwise, given)
            return self.value(chosen, given)
        if isinstance(condition, Constant):
            return self.value(chosen if condition.value else otherwise, given)
        yes = self.boolean(self.value(chosen, given))
        no = self.boolean(self.value(otherwise, given))
        return _Truth(either(both(condition, yes), both(negation(condition), no)))

    def boolean(self, value: _Value) -> Condition:
        match value:
            case _Truth(condition):
                return condition
            case _Known(bool() as constant):
                return Constant(constant)
        return self.output(self.fail())

    def compare(self, operator: str, left: _Value, right: _Value) -> _Value:
        if isinstance(left, _Known) and isinstance(right, _Known):
            return _Known(_COMPARE[operator](left.value, right.value))
        if isinstance(left, _Known):
            return self.compare(_MIRRORED[operator], right, left)
        if not isinstance(right, _Known):
            return self.fail()
        if self.ends is None:
            return _Truth(TRUE)
        constant = right.value
        match left:
            case Place():
                return self.compare_place(operator, left, constant)
            case _AtLeast(number):
                return self.compare_length(operator, number, constant)
            case _Whole.ATTRIBUTES if not isinstance(constant, dict):
                return _Known(_COMPARE[operator]({}, constant))
        return self.fail()

    def compare_place(self, operator: str, place: Place, constant: Any) -> _Value:
        if self.is_number(place):
            if is_finite_number(constant):
                return _Truth(Number(place, operator, constant))
            return _Known(_COMPARE[operator](0, constant))  # of another type: the order of types decides
        container: Any = {} if isinstance(self.step_below(place), str) else []
        if type(container) is type(constant):
            return self.fail()
        return _Known(_COMPARE[operator](container, constant))

    def compare_length(self, operator: str, at_least: int, constant: Any) -> _Value:
        if not is_finite_number(constant):
            return self.fail()
        if at_least > constant:
            return _Known(operator in (">", ">=", "!="))
        if at_least >= constant and operator in (">=", "<"):
            return _Known(operator == ">=")
        return self.fail()

    def call(self, name: str, arguments: tuple[Node, ...], given: _Value) -> _Value:
        match name, arguments, given:
            case "not", (), _:
                return _Truth(negation(self.truth(given)))
            case "type", (), Place():
                if self.is_number(given):
                    return _Known("number")
                return _Known("object" if isinstance(self.step_below(given), str) else "array")
            case "length", (), Place() if not self.is_number(given):
                step = self.step_below(given)
                if isinstance(step, int):
                    return _AtLeast(step + 1 if step >= 0 else -step)
                return _AtLeast(1)
            case "has", (Literal(str() as key),), _Whole.ATTRIBUTES:
                ends = self.ends or ()
                return _Truth(TRUE if any(end.key == key for end in ends) else Present(key))
        return self.fail()
