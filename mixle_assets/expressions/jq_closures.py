"""jq syntax trees to Python functions, for the part of jq that most filters are written in.

A node with exactly one output becomes a ``One`` (input to output), any other a ``Many`` (input to an
iterator, evaluated as far as it is asked, as jq does). A node outside the part is None, and with it the
whole program. ``jq_values`` has the operations; hypothesis compares all of it with libjq in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

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
from mixle_assets.expressions.jq_values import JqError, is_truthy

One: TypeAlias = Callable[[Any], Any]
Many: TypeAlias = Callable[[Any], Iterator[Any]]

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


def compile_outputs(program: Node) -> Callable[[Any], list[Any]] | None:
    """Build the function that lists a program's outputs, or None if the program is left to libjq.

    The function raises ``JqError`` where libjq ends in an error, ``Undecided`` where libjq must be asked.
    """
    try:
        compiled = _compile(program)
    except _Outside:
        return None
    one = compiled.one
    if one is not None:
        return lambda value: [one(value)]
    many = compiled.many
    return lambda value: list(many(value))


@dataclass(frozen=True)
class _Compiled:
    many: Many
    one: One | None = None


def _single(one: One) -> _Compiled:
    def many(value: Any) -> Iterator[Any]:
        yield one(value)

    return _Compiled(many, one)


def _compile(node: Node) -> _Compiled:
    match node:
        case Identity():
            return _single(lambda value: value)
        case Literal(constant, exact):
            if not exact:
                raise _Outside
            return _single(lambda value: constant)
        case Index():
            return _compile_index(node)
        case Slice():
            return _compile_slice(node)
        case Iterate(target, optional):
            return _compile_iterate(_compile(target), optional)
        case Pipe(left, right):
            return _compile_pipe(_compile(left), _compile(right))
        case Comma(left, right):
            first, second = _compile(left).many, _compile(right).many

            def comma(value: Any) -> Iterator[Any]:
                yield from first(value)
                yield from second(value)

            return _Compiled(comma)
        case Binary(operator, left, right):
            return _compile_binary(_BINARY[operator], _compile(left), _compile(right))
        case Negate(operand):
            return _compile_pipe(_compile(operand), _single(jq_values.negate))
        case And(left, right):
            return _compile_logic(_compile(left), _compile(right), stops_at=False)
        case Or(left, right):
            return _compile_logic(_compile(left), _compile(right), stops_at=True)
        case If(condition, chosen, otherwise):
            return _compile_if(_compile(condition), _compile(chosen), _compile(otherwise))
        case Alternative(left, right):
            return _compile_alternative(_compile(left), _compile(right))
        case Try(body, None):
            return _compile_try(_compile(body).many)
        case Array(None):
            return _single(lambda value: [])
        case Array(body) if body is not None:
            many = _compile(body).many
            return _single(lambda value: list(many(value)))
        case Call(name, arguments):
            return _compile_call(name, arguments)
    raise _Outside


# -- paths --------------------------------------------------------------------------------------------


def _compile_index(node: Index) -> _Compiled:
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

        return _single(index)

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

    return _Compiled(indices)


def _index_by_constant(target: One, key: Literal) -> _Compiled:
    constant = key.value
    if type(constant) is str:

        def member(value: Any) -> Any:
            found = target(value)
            return found.get(constant) if type(found) is dict else jq_values.index(found, constant)

        return _single(member)
    if not key.exact:
        raise _Outside
    return _single(lambda value: jq_values.index(target(value), constant))


def _compile_slice(node: Slice) -> _Compiled:
    target = _compile(node.target)
    start = _compile(node.start or Literal(None))
    stop = _compile(node.stop or Literal(None))
    if target.one is None or start.one is None or stop.one is None or node.optional:
        raise _Outside
    one_target, one_start, one_stop = target.one, start.one, stop.one
    return _single(lambda value: jq_values.slice_of(one_target(value), one_start(value), one_stop(value)))


def _compile_iterate(target: _Compiled, optional: bool) -> _Compiled:
    def iterate(value: Any) -> Iterator[Any]:
        for found in target.many(value):
            try:
                members = jq_values.members(found)
            except JqError:
                if optional:
                    continue
                raise
            yield from members

    return _Compiled(iterate)


# -- combinations -------------------------------------------------------------------------------------


def _compile_pipe(left: _Compiled, right: _Compiled) -> _Compiled:
    if left.one is not None and right.one is not None:
        first, second = left.one, right.one
        return _single(lambda value: second(first(value)))

    def pipe(value: Any) -> Iterator[Any]:
        for found in left.many(value):
            yield from right.many(found)

    return _Compiled(pipe)


def _compile_binary(apply: Callable[[Any, Any], Any], left: _Compiled, right: _Compiled) -> _Compiled:
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one

        def binary(value: Any) -> Any:
            # the right side first, as libjq does: it decides which error comes
            other = one_right(value)
            return apply(one_left(value), other)

        return _single(binary)

    def binaries(value: Any) -> Iterator[Any]:
        for other in right.many(value):
            for found in left.many(value):
                yield apply(found, other)

    return _Compiled(binaries)


def _compile_logic(left: _Compiled, right: _Compiled, *, stops_at: bool) -> _Compiled:
    """``and`` stops at a false left side, ``or`` at a true one."""
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one
        if stops_at:
            return _single(lambda value: is_truthy(one_left(value)) or is_truthy(one_right(value)))
        return _single(lambda value: is_truthy(one_left(value)) and is_truthy(one_right(value)))

    def logic(value: Any) -> Iterator[Any]:
        for found in left.many(value):
            if is_truthy(found) is stops_at:
                yield stops_at
            else:
                for other in right.many(value):
                    yield is_truthy(other)

    return _Compiled(logic)


def _compile_if(condition: _Compiled, chosen: _Compiled, otherwise: _Compiled) -> _Compiled:
    if condition.one is not None and chosen.one is not None and otherwise.one is not None:
        one_condition, one_chosen, one_otherwise = condition.one, chosen.one, otherwise.one
        return _single(
            lambda value: one_chosen(value) if is_truthy(one_condition(value)) else one_otherwise(value)
        )

    def branches(value: Any) -> Iterator[Any]:
        for found in condition.many(value):
            yield from (chosen if is_truthy(found) else otherwise).many(value)

    return _Compiled(branches)


def _compile_alternative(left: _Compiled, right: _Compiled) -> _Compiled:
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one

        def alternative(value: Any) -> Any:
            found = one_left(value)
            return found if is_truthy(found) else one_right(value)

        return _single(alternative)

    def alternatives(value: Any) -> Iterator[Any]:
        any_true = False
        for found in left.many(value):
            if is_truthy(found):
                any_true = True
                yield found
        if not any_true:
            yield from right.many(value)

    return _Compiled(alternatives)


def _compile_try(body: Many) -> _Compiled:
    def attempt(value: Any) -> Iterator[Any]:
        outputs = body(value)
        while True:
            # only the body's errors: what is done with an output is outside
            try:
                found = next(outputs)
            except (StopIteration, JqError):
                return
            yield found

    return _Compiled(attempt)


# -- functions ----------------------------------------------------------------------------------------


def _compile_call(name: str, arguments: tuple[Node, ...]) -> _Compiled:
    match name, arguments:
        case ("empty", ()):
            return _Compiled(lambda value: iter(()))
        case (_, ()) if name in _FUNCTIONS:
            return _single(_FUNCTIONS[name])
        case (_, ()) if name in _TYPES:
            kinds = _TYPES[name]

            def of_kind(value: Any) -> Iterator[Any]:
                if jq_values.type_name(value) in kinds:
                    yield value

            return _Compiled(of_kind)
        case (_, (argument,)) if name in _FUNCTIONS_OF_ONE:
            one = _compile(argument).one
            if one is None:
                raise _Outside
            apply = _FUNCTIONS_OF_ONE[name]
            return _single(lambda value: apply(value, one(value)))
        case ("select", (condition,)):
            return _compile_select(_compile(condition).many)
        case ("map", (body,)):
            inner = _compile(body)
            if inner.one is not None:
                one_inner = inner.one
                return _single(lambda value: [one_inner(member) for member in jq_values.members(value)])
            many = inner.many
            return _single(
                lambda value: [found for member in jq_values.members(value) for found in many(member)]
            )
        case ("first", (generator,)):
            many = _compile(generator).many

            def first(value: Any) -> Iterator[Any]:
                for found in many(value):
                    yield found
                    return

            return _Compiled(first)
        case ("any" | "all", ()):
            return _compile_quantifier(_members, _single(lambda value: value).many, stops_at=name == "any")
        case ("any" | "all", (condition,)):
            return _compile_quantifier(_members, _compile(condition).many, stops_at=name == "any")
        case ("any" | "all", (generator, condition)):
            return _compile_quantifier(
                _compile(generator).many, _compile(condition).many, stops_at=name == "any"
            )
    raise _Outside


def _members(value: Any) -> Iterator[Any]:
    yield from jq_values.members(value)


def _compile_select(condition: Many) -> _Compiled:
    def select(value: Any) -> Iterator[Any]:
        for found in condition(value):
            if is_truthy(found):
                yield value

    return _Compiled(select)


def _compile_quantifier(generator: Many, condition: Many, *, stops_at: bool) -> _Compiled:
    """``any`` ends at the first true condition, ``all`` at the first false one."""

    def quantifier(value: Any) -> bool:
        for member in generator(value):
            for found in condition(member):
                if is_truthy(found) is stops_at:
                    return stops_at
        return not stops_at

    return _single(quantifier)
