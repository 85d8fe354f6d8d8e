"""What a rule comes down to where the attributes look as taggers write them: comparisons of numbers.

Nearly every published rule asks for the score of an attribute's first span, guarded against its absence::

    $.attributes[?(@.k && @.k[0] && @.k[0][2] > 0.5)]
    (.attributes.k | if type == "array" and length > 0 and .[0] != null then .[0][2] > 0.5 else false end)

Given that ``attributes.k[0][2]`` is there and is a number, both are ``number > 0.5``: the guards are true.
A ``Reduction`` says that much: a condition, and the places that must hold numbers for it. The rule itself
decides on all other documents; ``generated`` makes one fast function of the reductions of many rules.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct


class Place(Struct, frozen=True):
    """Where a number stands: the attribute key, then names and positions below it."""

    key: str
    path: tuple[str | int, ...] = ()

    def leads_to(self, other: Place) -> bool:
        """Whether ``other`` stands below this place."""
        return self.key == other.key and self.path == other.path[: len(self.path)] and self != other


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Number(Struct, frozen=True):
    """The number at a place compared with a constant, by a Python operator."""

    place: Place
    operator: str
    constant: float


class Present(Struct, frozen=True):
    """An attribute key is there, whatever its value."""

    key: str


class Constant(Struct, frozen=True):
    """Always true, or never."""

    value: bool


class Negation(Struct, frozen=True):
    """The part does not hold."""

    part: Condition


class Both(Struct, frozen=True):
    """Both parts hold."""

    left: Condition
    right: Condition


class Either(Struct, frozen=True):
    """One part holds."""

    left: Condition
    right: Condition


Condition: TypeAlias = Number | Present | Constant | Negation | Both | Either


class Reduction(Struct, frozen=True):
    """A rule where each of ``places`` holds a number: then it is true exactly if ``condition`` is."""

    condition: Condition
    places: tuple[Place, ...]

    @property
    def keys(self) -> frozenset[str]:
        """Every attribute key that is compared or asked for."""
        asked = {atom.key for atom in atoms(self.condition) if isinstance(atom, Present)}
        return frozenset(asked | {place.key for place in self.places})

    @property
    def is_about_one_place(self) -> bool:
        """Whether a single place decides, so that ``{key: []}`` stands for every document like it."""
        return len(self.places) == 1 == len(self.keys)


TRUE = Constant(True)
FALSE = Constant(False)


def negation(part: Condition) -> Condition:
    """Negate, at once where the truth is known."""
    return Constant(not part.value) if isinstance(part, Constant) else Negation(part)


def both(left: Condition, right: Condition) -> Condition:
    """Join by *and*, without parts whose truth is known."""
    if FALSE in (left, right):
        return FALSE
    if left == TRUE:
        return right
    return left if right == TRUE else Both(left, right)


def either(left: Condition, right: Condition) -> Condition:
    """Join by *or*, without parts whose truth is known."""
    if TRUE in (left, right):
        return TRUE
    if left == FALSE:
        return right
    return left if right == FALSE else Either(left, right)


def atoms(condition: Condition) -> Iterator[Number | Present]:
    """Yield the comparisons and questions of presence in a condition, from the left."""
    match condition:
        case Number() | Present():
            yield condition
        case Negation(part):
            yield from atoms(part)
        case Both(left, right) | Either(left, right):
            yield from atoms(left)
            yield from atoms(right)


def source_of(condition: Condition, variables: Mapping[Place, str], attributes: str) -> str:
    """Write a condition as a Python expression.

    Args:
        condition: The condition.
        variables: The variable that holds each place's number.
        attributes: The variable that holds the attributes.
    """
    match condition:
        case Number(place, sign, constant):
            return f"{variables[place]} {sign} {constant!r}"
        case Present(key):
            return f"{key!r} in {attributes}"
        case Constant(value):
            return repr(value)
        case Negation(part):
            return f"not ({source_of(part, variables, attributes)})"
        case Both(left, right):
            word = "and"
        case Either(left, right):
            word = "or"
    one = source_of(left, variables, attributes)
    return f"({one} {word} {source_of(right, variables, attributes)})"


def truth_of(condition: Condition, numbers: Mapping[Place, float], present: Container[str]) -> bool:
    """Say whether a condition holds.

    Args:
        condition: The condition.
        numbers: The number at each of its places.
        present: The attribute keys that are there.
    """
    match condition:
        case Number(place, sign, constant):
            return bool(COMPARE[sign](numbers[place], constant))
        case Present(key):
            return key in present
        case Constant(value):
            return value
        case Negation(part):
            return not truth_of(part, numbers, present)
        case Both(left, right):
            return truth_of(left, numbers, present) and truth_of(right, numbers, present)
        case Either(left, right):
            return truth_of(left, numbers, present) or truth_of(right, numbers, present)


def is_finite_number(value: Any) -> bool:
    """Whether a constant of a rule is a number whose ``repr`` is Python's literal for it."""
    return type(value) is int or (type(value) is float and value - value == 0)
