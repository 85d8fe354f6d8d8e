"""What a jq program reads of a document, found by following where the document's parts flow.

A value is the document, its ``attributes`` object, or something below. Using one of the first two whole
(``keys``, ``to_entries``, ``[.]``, an unknown function) means that anything may be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TypeAlias

from mixle_assets.expressions.jq_ast import (
    Alternative,
    And,
    Array,
    Assign,
    Binary,
    Bind,
    Call,
    Comma,
    Identity,
    If,
    Index,
    Interpolation,
    Iterate,
    Literal,
    Negate,
    Node,
    Object,
    Or,
    Pipe,
    Reduce,
    Slice,
    Try,
    Variable,
)
from mixle_assets.expressions.reads import Reading, Reads


class _Whole(Enum):
    DOCUMENT = 1
    ATTRIBUTES = 2


Flow: TypeAlias = _Whole | str | None
"""The document, its attributes, something below the attribute key of that name, or anything else."""

Flows: TypeAlias = frozenset[Flow]
Variables: TypeAlias = Mapping[str, Flows]

_OTHER: Flows = frozenset({None})
_SCALARS = (str, int, float, bool, type(None))

_CONSTANT_CALLS = frozenset({"empty", "now", "env", "nan", "infinite", "input", "inputs"})
"""Functions without arguments that do not look at their input."""


def reads_of_jq(program: Node | None, *, by_value: bool) -> Reads:
    """Say what a jq program reads.

    Args:
        program: Its syntax tree; None for a program only libjq knows.
        by_value: Whether its outputs are used (a selector), or only whether they are true (a rule).
    """
    reading = Reading()
    if program is None:
        reading.any_field()
        return reading.done()
    analysis = _Analysis(reading)
    outputs = analysis.flows(program, frozenset({_Whole.DOCUMENT}), {})
    if by_value:
        analysis.use(outputs)
    else:
        # {} is false, so even the truth of a whole object depends on what it holds
        analysis.use(flow for flow in outputs if isinstance(flow, _Whole))
    return reading.done()


class _Analysis:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def use(self, flows: Iterable[Flow]) -> None:
        """Note that these values are looked at whole."""
        for flow in flows:
            if flow is _Whole.DOCUMENT:
                self.reading.any_field()
            elif flow is _Whole.ATTRIBUTES:
                self.reading.any_attribute()
            elif isinstance(flow, str):
                self.reading.key(flow, compared=True)

    def flows(self, node: Node, given: Flows, variables: Variables) -> Flows:
        """Return what the outputs of ``node`` can be when its input can be ``given``."""
        match node:
            case Identity():
                return given
            case Literal():
                return _OTHER
            case Variable(name):
                return variables.get(name, _OTHER)
            case Index(target, key):
                return self.index(self.flows(target, given, variables), key, given, variables)
            case Slice(target, start, stop):
                for bound in (start, stop):
                    if bound is not None:
                        self.use(self.flows(bound, given, variables))
                return self.below(self.flows(target, given, variables))
            case Iterate(target):
                return self.below(self.flows(target, given, variables))
            case Pipe(left, right):
                return self.flows(right, self.flows(left, given, variables), variables)
            case Comma(left, right) | Alternative(left, right):
                return self.flows(left, given, variables) | self.flows(right, given, variables)
            case And(left, right) | Or(left, right):
                self.flows(left, given, variables)
                self.flows(right, given, variables)
                return _OTHER
            case If(condition, chosen, otherwise):
                self.flows(condition, given, variables)
                return self.flows(chosen, given, variables) | self.flows(otherwise, given, variables)
            case Binary():
                return self.binary(node, given, variables)
            case Call(name, arguments):
                return self.call(name, arguments, given, variables)
            case Bind(source, name, body):
                inner = {**variables, name: self.flows(source, given, variables)}
                return self.flows(body, given, inner)
            case Try(body, handler):
                outputs = self.flows(body, given, variables)
                if handler is None:
                    return outputs
                if not isinstance(handler, Literal):
                    self.reading.any_field()  # a message may quote whatever the body failed on
                return outputs | self.flows(handler, _OTHER, variables)
            case Assign(_, left, right):
                self.use(given)
                self.use(self.flows(left, given, variables) | self.flows(right, given, variables))
                return _OTHER
            case Reduce():
                return self.reduce(node, given, variables)
        self.use_parts(node, given, variables)
        return _OTHER

    def use_parts(self, node: Node, given: Flows, variables: Variables) -> None:
        match node:
            case Negate(operand):
                parts: tuple[Node, ...] = (operand,)
            case Array(body):
                parts = () if body is None else (body,)
            case Object(entries):
                parts = tuple(part for entry in entries for part in entry)
            case Interpolation(several):
                parts = several
            case _:
                raise TypeError(f"{node!r} is no part of a jq program")
        for part in parts:
            self.use(self.flows(part, given, variables))

    def index(self, targets: Flows, key: Node, given: Flows, variables: Variables) -> Flows:
        if not isinstance(key, Literal):
            self.use(self.flows(key, given, variables))
            return self.below(targets)
        found: set[Flow] = set()
        for target in targets:
            if not isinstance(target, _Whole):
                found.add(target)
            elif not isinstance(key.value, str):
                found.add(None)  # an object has no positions
            elif target is _Whole.ATTRIBUTES:
                self.reading.key(key.value, compared=False)
                found.add(key.value)
            else:
                self.reading.field(key.value)
                found.add(_Whole.ATTRIBUTES if key.value == "attributes" else None)
        return frozenset(found)

    def below(self, targets: Flows) -> Flows:
        """What a dynamic key, a slice or an iteration of these can give."""
        self.use(target for target in targets if isinstance(target, _Whole))
        return frozenset(None if isinstance(target, _Whole) else target for target in targets)

    def binary(self, node: Binary, given: Flows, variables: Variables) -> Flows:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            flows = self.flows(side, given, variables)
            if node.operator in ("==", "!=") and isinstance(other, Literal):
                if other.value is None:
                    continue  # asks whether it is there
                # an object never equals a scalar, whatever it holds
                flows = frozenset(flow for flow in flows if not isinstance(flow, _Whole))
            self.use(flows)
        return _OTHER

    def reduce(self, node: Reduce, given: Flows, variables: Variables) -> Flows:
        source = self.flows(node.source, given, variables)
        start = self.flows(node.start, given, variables)
        self.use(source | start)
        inner = {**variables, node.name: _OTHER}
        self.use(self.flows(node.update, _OTHER, inner))
        if node.extract is not None:
            self.use(self.flows(node.extract, _OTHER, inner))
        return _OTHER

    def call(self, name: str, arguments: tuple[Node, ...], given: Flows, variables: Variables) -> Flows:
        match name, arguments:
            case ("not" | "type", ()):
                return _OTHER
            case (_, ()) if name in _CONSTANT_CALLS:
                return _OTHER
            case ("select", (condition,)):
                self.flows(condition, given, variables)
                return given
            case ("any" | "all", (generator, condition)):
                self.flows(condition, self.flows(generator, given, variables), variables)
                return _OTHER
            case ("any" | "all", (condition,)):
                self.flows(condition, self.below(given), variables)
                return _OTHER
            case ("map", (body,)):
                self.use(self.flows(body, self.below(given), variables))
                return _OTHER
            case ("first" | "last" | "isempty", (generator,)):
                return self.flows(generator, given, variables)
            case ("has", (Literal(str() as key),)):
                self.has(key, given)
                return _OTHER
        self.use(given)
        inner = self.below(given)
        for argument in arguments:
            self.use(self.flows(argument, inner, variables))
        return _OTHER

    def has(self, key: str, given: Flows) -> None:
        for flow in given:
            if flow is _Whole.DOCUMENT:
                self.reading.field(key)
            elif flow is _Whole.ATTRIBUTES:
                self.reading.key(key, compared=False)
            else:
                self.use((flow,))
