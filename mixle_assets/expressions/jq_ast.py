"""What a jq program says, as frozen values: the part of jq's grammar that filters are written in.

Only shapes live here. Definitions, labels, destructuring and modules have none: a program with one of them
is left to libjq whole, and taken to read anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Identity:
    """``.``: the input."""


@dataclass(frozen=True)
class Literal:
    r"""A number, a string without ``\(…)``, ``null``, ``true`` or ``false``.

    Attributes:
        value: Its value in Python.
        exact: False for a number that jq holds with more digits than a double has.
    """

    value: Any
    exact: bool = True


@dataclass(frozen=True)
class Index:
    """``target.name``, ``target["name"]``, ``target[0]``: the key is evaluated on the input.

    Attributes:
        target: What is indexed.
        key: The key or position.
        optional: A ``?`` follows: the index's own error gives no output, an error in ``target`` stays one.
        column: Where the index stands in the program, from 1.
    """

    target: Node
    key: Node
    optional: bool = False
    column: int = 0


@dataclass(frozen=True)
class Slice:
    """``target[start:stop]``, either left out as None."""

    target: Node
    start: Node | None
    stop: Node | None
    optional: bool = False


@dataclass(frozen=True)
class Iterate:
    """``target[]``: every member."""

    target: Node
    optional: bool = False


@dataclass(frozen=True)
class Pipe:
    """``left | right``."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Comma:
    """``left, right``: the outputs of both."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Binary:
    """Arithmetic or comparison: ``+ - * / % == != < <= > >=``."""

    operator: str
    left: Node
    right: Node
    column: int = 0


@dataclass(frozen=True)
class Negate:
    """``-operand``."""

    operand: Node


@dataclass(frozen=True)
class And:
    """``left and right``."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Or:
    """``left or right``."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Alternative:
    """``left // right``: the true outputs of the left, or the right if there are none."""

    left: Node
    right: Node


@dataclass(frozen=True)
class If:
    """``if condition then chosen else otherwise end``; without else the input."""

    condition: Node
    chosen: Node
    otherwise: Node


@dataclass(frozen=True)
class Try:
    """``try body catch handler``, or ``(body)?``: the outputs before an error, then the handler's."""

    body: Node
    handler: Node | None


@dataclass(frozen=True)
class Array:
    """``[body]``, or ``[]`` with None."""

    body: Node | None


@dataclass(frozen=True)
class Object:
    """``{key: value, …}``."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True)
class Interpolation:
    r"""A string with ``\(…)`` in it, or a format such as ``@json``, with all its parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Variable:
    """``$name``."""

    name: str


@dataclass(frozen=True)
class Bind:
    """``source as $name | body``."""

    source: Node
    name: str
    body: Node


@dataclass(frozen=True)
class Reduce:
    """``reduce source as $name (start; update)``; ``foreach`` has the same parts and an extract."""

    source: Node
    name: str
    start: Node
    update: Node
    extract: Node | None = None


@dataclass(frozen=True)
class Assign:
    """``left operator right`` with ``= |= += -= *= /= %= //=``: the whole input, changed."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Call:
    """A function with its arguments, which it may evaluate on whatever it likes."""

    name: str
    arguments: tuple[Node, ...] = ()


Node: TypeAlias = (
    Identity
    | Literal
    | Index
    | Slice
    | Iterate
    | Pipe
    | Comma
    | Binary
    | Negate
    | And
    | Or
    | Alternative
    | If
    | Try
    | Array
    | Object
    | Interpolation
    | Variable
    | Bind
    | Reduce
    | Assign
    | Call
)
