"""What a jq program says, as frozen values: the part of jq's grammar that filters are written in.

Only shapes live here. Definitions, labels, destructuring and modules have none: a program with one of them
is left to libjq whole, and taken to read anything.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct


class Identity(Struct, frozen=True):
    """``.``: the input."""


class Literal(Struct, frozen=True):
    r"""A number, a string without ``\(…)``, ``null``, ``true`` or ``false``.

    Attributes:
        value: Its value in Python.
        exact: False for a number that jq holds with more digits than a double has.
    """

    value: Any
    exact: bool = True


class Index(Struct, frozen=True):
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


class Slice(Struct, frozen=True):
    """``target[start:stop]``, either left out as None."""

    target: Node
    start: Node | None
    stop: Node | None
    optional: bool = False


class Iterate(Struct, frozen=True):
    """``target[]``: every member."""

    target: Node
    optional: bool = False


class Pipe(Struct, frozen=True):
    """``left | right``."""

    left: Node
    right: Node


class Comma(Struct, frozen=True):
    """``left, right``: the outputs of both."""

    left: Node
    right: Node


class Binary(Struct, frozen=True):
    """Arithmetic or comparison: ``+ - * / % == != < <= > >=``."""

    operator: str
    left: Node
    right: Node
    column: int = 0


class Negate(Struct, frozen=True):
    """``-operand``."""

    operand: Node


class And(Struct, frozen=True):
    """``left and right``."""

    left: Node
    right: Node


class Or(Struct, frozen=True):
    """``left or right``."""

    left: Node
    right: Node


class Alternative(Struct, frozen=True):
    """``left // right``: the true outputs of the left, or the right if there are none."""

    left: Node
    right: Node


class If(Struct, frozen=True):
    """``if condition then chosen else otherwise end``; without else the input."""

    condition: Node
    chosen: Node
    otherwise: Node


class Try(Struct, frozen=True):
    """``try body catch handler``, or ``(body)?``: the outputs before an error, then the handler's."""

    body: Node
    handler: Node | None


class Array(Struct, frozen=True):
    """``[body]``, or ``[]`` with None."""

    body: Node | None


class Object(Struct, frozen=True):
    """``{key: value, …}``."""

    entries: tuple[tuple[Node, Node], ...]


class Interpolation(Struct, frozen=True):
    r"""A string with ``\(…)`` in it, or a format such as ``@json``, with all its parts."""

    parts: tuple[Node, ...]


class Variable(Struct, frozen=True):
    """``$name``."""

    name: str


class Bind(Struct, frozen=True):
    """``source as $name | body``."""

    source: Node
    name: str
    body: Node


class Reduce(Struct, frozen=True):
    """``reduce source as $name (start; update)``; ``foreach`` has the same parts and an extract."""

    source: Node
    name: str
    start: Node
    update: Node
    extract: Node | None = None


class Assign(Struct, frozen=True):
    """``left operator right`` with ``= |= += -= *= /= %= //=``: the whole input, changed."""

    operator: str
    left: Node
    right: Node


class Call(Struct, frozen=True):
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
