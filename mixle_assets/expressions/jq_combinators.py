"""Ways to combine compiled jq nodes: pipes, operators, conditions, quantifiers, as jq evaluates them.

A ``Compiled`` always has its outputs as an iterator, evaluated as far as it is asked; with exactly one output
it has that as a plain function too, which is what most rules consist of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from mixle_assets.expressions import jq_values
from mixle_assets.expressions.jq_values import JqError, is_truthy

One: TypeAlias = Callable[[Any], Any]
Many: TypeAlias = Callable[[Any], Iterator[Any]]


@dataclass(frozen=True)
class Compiled:
    """A node as Python functions.

    Attributes:
        many: From an input to all outputs.
        one: From an input to the output, if there is always exactly one.
        members: From an input to the list of all outputs, if an error can only come before the first.
    """

    many: Many
    one: One | None = None
    members: Callable[[Any], list[Any]] | None = None


def single(one: One) -> Compiled:
    """A node with exactly one output."""

    def many(value: Any) -> Iterator[Any]:
        yield one(value)

    return Compiled(many, one)


def iterate(target: Compiled, optional: bool) -> Compiled:
    """``target[]``; with a ``?`` what has no members has no outputs."""

    def iterated(value: Any) -> Iterator[Any]:
        for found in target.many(value):
            try:
                members = jq_values.members(found)
            except JqError:
                if optional:
                    continue
                raise
            yield from members

    one = target.one
    if optional or one is None:
        return Compiled(iterated)
    return Compiled(iterated, members=lambda value: jq_values.members(one(value)))


def pipe(left: Compiled, right: Compiled) -> Compiled:
    """``left | right``."""
    if left.one is not None and right.one is not None:
        first, second = left.one, right.one
        return single(lambda value: second(first(value)))

    def piped(value: Any) -> Iterator[Any]:
        for found in left.many(value):
            yield from right.many(found)

    return Compiled(piped)


def binary(apply: Callable[[Any, Any], Any], left: Compiled, right: Compiled) -> Compiled:
    """An operator on every pair of outputs; the right side is the outer loop."""
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one

        def applied(value: Any) -> Any:
            # the right side first, as libjq does: it decides which error comes
            other = one_right(value)
            return apply(one_left(value), other)

        return single(applied)

    def binaries(value: Any) -> Iterator[Any]:
        for other in right.many(value):
            for found in left.many(value):
                yield apply(found, other)

    return Compiled(binaries)


def logic(left: Compiled, right: Compiled, *, stops_at: bool) -> Compiled:
    """``and`` stops at a false left side, ``or`` at a true one."""
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one
        if stops_at:
            return single(lambda value: is_truthy(one_left(value)) or is_truthy(one_right(value)))
        return single(lambda value: is_truthy(one_left(value)) and is_truthy(one_right(value)))

    def decided(value: Any) -> Iterator[Any]:
        for found in left.many(value):
            if is_truthy(found) is stops_at:
                yield stops_at
            else:
                for other in right.many(value):
                    yield is_truthy(other)

    return Compiled(decided)


def branches(condition: Compiled, chosen: Compiled, otherwise: Compiled) -> Compiled:
    """``if condition then chosen else otherwise end``, once for each output of the condition."""
    if condition.one is not None and chosen.one is not None and otherwise.one is not None:
        one_condition, one_chosen, one_otherwise = condition.one, chosen.one, otherwise.one
        return single(
            lambda value: one_chosen(value) if is_truthy(one_condition(value)) else one_otherwise(value)
        )

    def branched(value: Any) -> Iterator[Any]:
        for found in condition.many(value):
            yield from (chosen if is_truthy(found) else otherwise).many(value)

    return Compiled(branched)


def alternative(left: Compiled, right: Compiled) -> Compiled:
    """``left // right``: the true outputs of the left, or the right if there are none."""
    if left.one is not None and right.one is not None:
        one_left, one_right = left.one, right.one

        def chosen(value: Any) -> Any:
            found = one_left(value)
            return found if is_truthy(found) else one_right(value)

        return single(chosen)

    def alternatives(value: Any) -> Iterator[Any]:
        any_true = False
        for found in left.many(value):
            if is_truthy(found):
                any_true = True
                yield found
        if not any_true:
            yield from right.many(value)

    return Compiled(alternatives)


def attempt(body: Many) -> Compiled:
    """``(body)?``: the outputs up to an error."""

    def attempted(value: Any) -> Iterator[Any]:
        outputs = body(value)
        while True:
            # only the body's errors: what is done with an output is outside
            try:
                found = next(outputs)
            except (StopIteration, JqError):
                return
            yield found

    return Compiled(attempted)


def select(condition: Many) -> Compiled:
    """``select(condition)``: the input, once for each true output of the condition."""

    def selected(value: Any) -> Iterator[Any]:
        for found in condition(value):
            if is_truthy(found):
                yield value

    return Compiled(selected)


def quantifier(generator: Compiled, condition: Compiled, *, stops_at: bool) -> Compiled:
    """``any`` ends at the first true condition, ``all`` at the first false one."""
    members, ask = generator.members, condition.one
    if members is not None and ask is not None:

        def quantified_members(value: Any) -> bool:
            for member in members(value):
                if is_truthy(ask(member)) is stops_at:
                    return stops_at
            return not stops_at

        return single(quantified_members)

    def quantified(value: Any) -> bool:
        for member in generator.many(value):
            for found in condition.many(member):
                if is_truthy(found) is stops_at:
                    return stops_at
        return not stops_at

    return single(quantified)
