"""What a JSONPath expression says, as frozen values: steps, predicates, literals.

Only shapes live here. Reading them from text is ``jsonpath_parser``'s work, finding nodes with them
``jsonpath_nodes``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Root:
    """``$``: the whole document, wherever in a path it stands."""


@dataclass(frozen=True)
class Current:
    """``@``: the value at hand; at the start of a whole path, the document."""


@dataclass(frozen=True)
class Key:
    """``.name`` or ``['name']``: the member of an object.

    Attributes:
        name: The member's name.
        column: Where the name stands in the expression, from 1.
        quoted: Whether it was written in quotes.
    """

    name: str
    column: int = 0
    quoted: bool = False


@dataclass(frozen=True)
class Descend:
    """``..name``: every member of that name, at any depth, outer ones first."""

    name: str


@dataclass(frozen=True)
class DescendAll:
    """``..*``: every value below the one at hand."""


@dataclass(frozen=True)
class Wildcard:
    """``.*`` or ``[*]``: the members of an array or object."""


@dataclass(frozen=True)
class Index:
    """``[2]``, or ``[-1]`` counted from the end."""

    position: int


@dataclass(frozen=True)
class Slice:
    """``[start:stop:step]``; a start or stop beyond the array selects nothing, a stop of 0 is the end."""

    start: int
    stop: int
    step: int


@dataclass(frozen=True)
class Indices:
    """``[0,2]``: several positions, in the order written."""

    positions: tuple[int, ...]


@dataclass(frozen=True)
class Keys:
    """``['a','b']``: several members, in the order written."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Length:
    """``.length()``: members of an array; after a selection of many nodes, how many there are."""


@dataclass(frozen=True)
class Filter:
    """``[?(...)]``: members of an array that satisfy a predicate; any other value is tested itself."""

    predicate: Predicate


Step: TypeAlias = (
    Root | Current | Key | Descend | DescendAll | Wildcard | Index | Slice | Indices | Keys | Length | Filter
)


@dataclass(frozen=True)
class Path:
    """Steps one after another, each applied to every node of the one before."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Literal:
    """A number, string, true, false, null or list of strings or numbers in a predicate."""

    value: Any
    column: int = 0


Operand: TypeAlias = Path | Literal


@dataclass(frozen=True)
class Exists:
    """An operand alone: true with at least one node, whatever its value; a literal alone is true."""

    operand: Operand


@dataclass(frozen=True)
class Compare:
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


@dataclass(frozen=True)
class Not:
    """``!`` before one comparison or group."""

    part: Predicate


@dataclass(frozen=True)
class And:
    """``&&``: all parts, tested from the left until one fails."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or:
    """``||``: one part, tested from the left until one holds."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Exists | Compare | Not | And | Or
