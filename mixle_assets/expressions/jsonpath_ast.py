"""What a JSONPath expression says, as frozen values: steps, predicates, literals.

Only shapes live here. Reading them from text is ``jsonpath_parser``'s work, finding nodes with them
``jsonpath_nodes``'s.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct


class Root(Struct, frozen=True):
    """``$``: the whole document, wherever in a path it stands."""


class Current(Struct, frozen=True):
    """``@``: the value at hand; at the start of a whole path, the document."""


class Key(Struct, frozen=True):
    """``.name`` or ``['name']``: the member of an object.

    Attributes:
        name: The member's name.
        column: Where the name stands in the expression, from 1.
        quoted: Whether it was written in quotes.
    """

    name: str
    column: int = 0
    quoted: bool = False


class Descend(Struct, frozen=True):
    """``..name``: every member of that name, at any depth, outer ones first."""

    name: str


class DescendAll(Struct, frozen=True):
    """``..*``: every value below the one at hand."""


class Wildcard(Struct, frozen=True):
    """``.*`` or ``[*]``: the members of an array or object."""


class Index(Struct, frozen=True):
    """``[2]``, or ``[-1]`` counted from the end."""

    position: int


class Slice(Struct, frozen=True):
    """``[start:stop:step]``; a start or stop beyond the array selects nothing, a stop of 0 is the end."""

    start: int
    stop: int
    step: int


class Indices(Struct, frozen=True):
    """``[0,2]``: several positions, in the order written."""

    positions: tuple[int, ...]


class Keys(Struct, frozen=True):
    """``['a','b']``: several members, in the order written."""

    names: tuple[str, ...]


class Length(Struct, frozen=True):
    """``.length()``: members of an array; after a selection of many nodes, how many there are."""


class Filter(Struct, frozen=True):
    """``[?(...)]``: members of an array that satisfy a predicate; any other value is tested itself."""

    predicate: Predicate


Step: TypeAlias = (
    Root | Current | Key | Descend | DescendAll | Wildcard | Index | Slice | Indices | Keys | Length | Filter
)


class Path(Struct, frozen=True):
    """Steps one after another, each applied to every node of the one before."""

    steps: tuple[Step, ...]


class Literal(Struct, frozen=True):
    """A number, string, true, false, null or list of strings or numbers in a predicate."""

    value: Any
    column: int = 0


Operand: TypeAlias = Path | Literal


class Exists(Struct, frozen=True):
    """An operand alone: true with at least one node, whatever its value; a literal alone is true."""

    operand: Operand


class Compare(Struct, frozen=True):
    """Two operands and one of the thirteen operators.

    Attributes:
        left: Operand before the operator.
        operator: As written, but ``=~`` is held as ``~=``.
        right: Operand after it.
        column: Where the operator stands, from 1.
    """

    left: Operand
    operator: str
    right: Operand
    column: int = 0


class Not(Struct, frozen=True):
    """``!`` before one comparison or group."""

    part: Predicate


class And(Struct, frozen=True):
    """``&&``: all parts, tested from the left until one fails."""

    parts: tuple[Predicate, ...]


class Or(Struct, frozen=True):
    """``||``: one part, tested from the left until one holds."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Exists | Compare | Not | And | Or
