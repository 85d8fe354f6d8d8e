"""Traps that show in a JSONPath's syntax tree: what Dolma's dialect takes otherwise than one reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Exists,
    Filter,
    Key,
    Length,
    Literal,
    Not,
    Or,
    Path,
    Predicate,
    Root,
    Slice,
)
from mixle_assets.expressions.jsonpath_nodes import compile_test, is_singular
from mixle_assets.expressions.jsonpath_operators import ONE_TO_ONE, is_number
from mixle_assets.expressions.trap import Trap, find_regex_traps, is_quoted_number

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def find_jsonpath_traps(path: Path, expression: str) -> Iterator[Trap]:
    """Yield the traps of a rule.

    Args:
        path: Its syntax tree.
        expression: Its text, where single and double quotes still differ.
    """
    if all(isinstance(step, Root) for step in path.steps):
        yield Trap("always", "the rule matches every document: $ is always there")
    yield from _Finder(expression).in_path(path)


class _Finder:
    def __init__(self, expression: str) -> None:
        self.expression = expression

    def in_path(self, path: Path) -> Iterator[Trap]:
        for number, step in enumerate(path.steps):
            match step:
                case Key(name, column, quoted=True):
                    yield from self.in_quotes(name, column)
                case Key(name, column) if not _PLAIN_KEY.fullmatch(name):
                    yield Trap(
                        "unquoted_key",
                        f"{name} is one key here, up to the next point; quote what is meant: ['{name}']",
                        column,
                    )
                case Slice(start, stop, _) if stop > 0 or start > 0:
                    needed = max(start, stop)
                    yield Trap("slice", f"the slice selects nothing from an array of fewer than {needed}")
                case Length() if self.is_text(path, number):
                    yield Trap("length_of_text", "length() counts the members of an array; a text has none")
                case Filter(predicate):
                    yield from self.in_filter(predicate)

    def is_text(self, path: Path, number: int) -> bool:
        before = path.steps[number - 1] if number else None
        return isinstance(before, Key) and before.name == "text" and number <= 2

    def in_filter(self, predicate: Predicate) -> Iterator[Trap]:
        truth = constant_truth(predicate)
        if truth is not None:
            yield Trap(
                "always" if truth else "never",
                "the filter holds for everything" if truth else "the filter can never hold",
            )
        yield from self.in_predicate(predicate)

    def in_predicate(self, predicate: Predicate) -> Iterator[Trap]:
        match predicate:
            case And(parts) | Or(parts):
                for part in parts:
                    yield from self.in_predicate(part)
            case Not(part):
                yield from self.in_predicate(part)
            case Exists(Path() as path):
                yield from self.in_path(path)
            case Exists(Literal(_, column)):
                yield Trap("constant", "a constant alone is always true", column)
            case Compare():
                yield from self.in_comparison(predicate)

    def in_comparison(self, comparison: Compare) -> Iterator[Trap]:
        for side in (comparison.left, comparison.right):
            if isinstance(side, Literal):
                yield from self.in_literal(side, comparison.operator)
                continue
            yield from self.in_path(side)
            if comparison.operator in ONE_TO_ONE and not (is_singular(side) or _counts(side)):
                yield Trap(
                    "many_nodes",
                    f"{comparison.operator} compares one value with one value, and holds for no several; "
                    "to ask each member write a filter on them: $.attributes.x[?(@[2] > 0.5)]",
                    comparison.column,
                )
        truth = constant_truth(comparison)
        if truth is not None:
            yield Trap(
                "constant",
                f"the comparison {'always' if truth else 'never'} holds (< and > order numbers only)",
                comparison.column,
            )

    def in_literal(self, literal: Literal, operator: str) -> Iterator[Trap]:
        if not isinstance(literal.value, str):
            return
        if operator == "~=":
            yield from find_regex_traps(literal.value, literal.column)
            # other escapes mean to the regular expression what they would mean decoded
            yield from self.in_quotes(literal.value, literal.column, escape="\\\\")
            return
        yield from self.in_quotes(literal.value, literal.column)
        if is_quoted_number(literal.value):
            yield Trap(
                "quoted_number",
                f"{literal.value!r} is a string, and equal to no number; without quotes it is one",
                literal.column,
            )

    def in_quotes(self, text: str, column: int, escape: str = "\\") -> Iterator[Trap]:
        """Escapes in single quotes: Dolma takes them but does not decode them."""
        if escape in text and self.expression[column - 1 : column] == "'":
            yield Trap(
                "escape",
                f"in single quotes an escape stays as it is written: {text!r} keeps its backslashes; "
                "in double quotes it is decoded",
                column,
            )


def _counts(path: Path) -> bool:
    return isinstance(path.steps[-1], Length)


def constant_truth(predicate: Predicate) -> bool | None:
    """Whether a predicate holds for everything (True), for nothing (False), or depends on the value."""
    match predicate:
        case Exists(Literal()):
            return True
        case Exists(Path(steps)):
            return True if all(isinstance(step, Root | Current) for step in steps) else None
        case Not(part):
            truth = constant_truth(part)
            return None if truth is None else not truth
        case And(parts):
            truths = [constant_truth(part) for part in parts]
            return False if False in truths else _common(truths)
        case Or(parts):
            truths = [constant_truth(part) for part in parts]
            return True if True in truths else _common(truths)
        case Compare(Literal(), _, Literal()):
            return compile_test(predicate)(None, None)
        case Compare(left, "<" | ">", right):
            literals = [side.value for side in (left, right) if isinstance(side, Literal)]
            return None if all(is_number(value) for value in literals) else False
    return None


def _common(truths: list[bool | None]) -> bool | None:
    return truths[0] if len(set(truths)) == 1 else None
