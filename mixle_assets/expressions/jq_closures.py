"""jq syntax trees to Python functions, for the part of jq that most filters are written in.

A node with exactly one output becomes a ``One`` (input to output), any other a ``Many`` (input to an
iterator, evaluated as far as it is asked, as jq does). A node outside the part is None, and with it the
whole program. ``jq_values`` has the operations; hypothesis compares all of it with libjq in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mixle_assets.expressions import jq_values
from mixle_assets.expressions.jq_ast import (
    Alternative,
    And,
    Array,
    Binary,
    Call,
    Comma,
    Identity,
    If,
    Index,
    Iterate,
    Literal,
    Negate,
    Node,
    Or,
    Pipe,
    Slice,
    Try,
)
from mixle_assets.expressions.jq_combinators import (
    Compiled,
    One,
    alternative,
    attempt,
    binary,
    branches,
    iterate,
    logic,
    pipe,
    quantifier,
    select,
    single,
)
from mixle_assets.expressions.jq_values import JqError

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "==": jq_values.equal,
    "!=": jq_values.unequal,
    "<": jq_values.less,
    "<=": jq_values.at_most,
    ">": jq_values.greater,
    ">=": jq_values.at_least,
    "+": jq_values.add,
    "-": jq_values.subtract,
    "*": jq_values.multiply,
    "/": jq_values.divide,
    "%": jq_values.remainder,
}

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})

_FUNCTIONS: dict[str, One] = {
    "length": jq_values.length,
    "type": jq_values.type_name,
    "not": jq_values.negated,
    "add": jq_values.total,
    "keys": jq_values.keys,
    "to_entries": jq_values.to_entries,
    "floor": jq_values.floor,
    "first": lambda value: jq_values.index(value, 0),
    "last": lambda value: jq_values.index(value, -1),
}

_FUNCTIONS_OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "startswith": jq_values.starts_with,
    "endswith": jq_values.ends_with,
    "has": jq_values.has,
}

_TYPES: dict[str, frozenset[str]] = {
    "nulls": frozenset({"null"}),
    "booleans": frozenset({"boolean"}),
    "numbers": frozenset({"number"}),
    "strings": frozenset({"string"}),
    "arrays": frozenset({"array"}),
    "objects": frozenset({"object"}),
    "iterables": frozenset({"array", "object"}),
    "scalars": frozenset({"null", "boolean", "number", "string"}),
    "values": frozenset({"boolean", "number", "string", "array", "object"}),
}


class _Outside(Exception):  # noqa: N818 - not an error: the program is libjq's
    """A node that is left to libjq."""


def compile_program(program: Node) -> Compiled | None:
    """Build the functions that run a program, or None if the program is left to libjq.

    They raise ``JqError`` where libjq ends in an error, ``Undecided`` where libjq must be asked.
    """
    try:
        return _compile(program)
    except _Outside:
        return None


def _compile(node: Node) -> Compiled:
    match node:
        case Identity():
            return single(lambda value: value)
        case Literal(constant, exact):
            if not exact:
                raise _Outside
            return single(lambda value: constant)
        case Index():
            return _compile_index(node)
        case Slice():
            return _compile_slice(node)
        case Iterate(target, optional):
            return iterate(_compile(target), optional)
        case Pipe(left, right):
            return pipe(_compile(left), _compile(right))
        case Comma(left, right):
            first, second = _compile(left).many, _compile(right).many

            def comma(value: Any) -> Iterator[Any]:
                yield from first(value)
                yield from second(value)

            return Compiled(comma)
        case Binary(operator, left, right):
            if operator in _COMPARISONS:
                left, right = _as_float(left), _as_float(right)
            return binary(_BINARY[operator], _compile(left), _compile(right))
        case Negate(operand):
            return pipe(_compile(operand), single(jq_values.negate))
        case And(left, right):
            return logic(_compile(left), _compile(right), stops_at=False)
        case Or(left, right):
            return logic(_compile(left), _compile(right), stops_at=True)
        case If(condition, chosen, otherwise):
            return branches(_compile(condition), _compile(chosen), _compile(otherwise))
        case Alternative(left, right):
            return alternative(_compile(left), _compile(right))
        case Try(body, None):
            return attempt(_compile(body).many)
        case Array(None):
            return single(lambda value: [])
        case Array(body) if body is not None:
            many = _compile(body).many
            return single(lambda value: list(many(value)))
        case Call(name, arguments):
            return _compile_call(name, arguments)
    raise _Outside


def _as_float(node: Node) -> Node:
    """A constant to compare with, as a float: most scores are, and two floats compare at once."""
    if isinstance(node, Literal) and type(node.value) is int and node.exact:
        return Literal(float(node.value))
    return node


# -- paths --------------------------------------------------------------------------------------------


def _compile_index(node: Index) -> Compiled:
    target = _compile(node.target)
    if isinstance(node.key, Literal) and not node.optional and target.one is not None:
        return _index_by_constant(target.one, node.key)
    key = _compile(node.key)
    if target.one is not None and key.one is not None and not node.optional:
        one_target, one_key = target.one, key.one

        def index(value: Any) -> Any:
            # the key first: libjq evaluates it before what it indexes
            position = one_key(value)
            return jq_values.index(one_target(value), position)

        return single(index)

    def indices(value: Any) -> Iterator[Any]:
        for position in key.many(value):
            for found in target.many(value):
                try:
                    member = jq_values.index(found, position)
                except JqError:
                    if node.optional:
                        continue
                    raise
                yield member

    return Compiled(indices)


def _index_by_constant(target: One, key: Literal) -> Compiled:
    constant = key.value
    if type(constant) is str:

        def member(value: Any) -> Any:
            found = target(value)
            return found.get(constant) if type(found) is dict else jq_values.index(found, constant)

        return single(member)
    if not key.exact:
        raise _Outside
    return single(lambda value: jq_values.index(target(value), constant))


def _compile_slice(node: Slice) -> Compiled:
    target = _compile(node.target)
    start = _compile(node.start or Literal(None))
    stop = _compile(node.stop or Literal(None))
    if target.one is None or start.one is None or stop.one is None or node.optional:
        raise _Outside
    one_target, one_start, one_stop = target.one, start.one, stop.one
    return single(lambda value: jq_values.slice_of(one_target(value), one_start(value), one_stop(value)))


# -- functions ----------------------------------------------------------------------------------------


def _compile_call(name: str, arguments: tuple[Node, ...]) -> Compiled:
    match name, arguments:
        case ("empty", ()):
            return Compiled(lambda value: iter(()))
        case (_, ()) if name in _FUNCTIONS:
            return single(_FUNCTIONS[name])
        case (_, ()) if name in _TYPES:
            kinds = _TYPES[name]

            def of_kind(value: Any) -> Iterator[Any]:
                if jq_values.type_name(value) in kinds:
                    yield value

            return Compiled(of_kind)
        case (_, (argument,)) if name in _FUNCTIONS_OF_ONE:
            one = _compile(argument).one
            if one is None:
                raise _Outside
            apply = _FUNCTIONS_OF_ONE[name]
            return single(lambda value: apply(value, one(value)))
        case ("select", (condition,)):
            return select(_compile(condition).many)
        case ("map", (body,)):
            inner = _compile(body)
            if inner.one is not None:
                one_inner = inner.one
                return single(lambda value: [one_inner(member) for member in jq_values.members(value)])
            many = inner.many
            return single(
                lambda value: [found for member in jq_values.members(value) for found in many(member)]
            )
        case ("first", (generator,)):
            many = _compile(generator).many

            def first(value: Any) -> Iterator[Any]:
                for found in many(value):
                    yield found
                    return

            return Compiled(first)
        case ("any" | "all", ()):
            return quantifier(_compile(Iterate(Identity())), _compile(Identity()), stops_at=name == "any")
        case ("any" | "all", (condition,)):
            return quantifier(_compile(Iterate(Identity())), _compile(condition), stops_at=name == "any")
        case ("any" | "all", (generator, condition)):
            return quantifier(_compile(generator), _compile(condition), stops_at=name == "any")
    raise _Outside
