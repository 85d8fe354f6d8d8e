"""Text to JSONPath syntax tree: the dialect of Dolma's filters, read by recursive descent.

The grammar is that of dolma 1.2.1's mixer (``docs/reference/jsonpath.md`` has every form) plus ``[-1]``,
double quotes and ``=~``. Whatever it does not know is an ``ExpressionError`` with a column and, where one
can be guessed, a hint: a rule that is read otherwise than it was meant would silently never match.
"""

from __future__ import annotations

import json
import math
import re
import sys

from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Descend,
    DescendAll,
    Exists,
    Filter,
    Index,
    Indices,
    Key,
    Keys,
    Length,
    Literal,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Root,
    Slice,
    Step,
    Wildcard,
)
from mixle_assets.expressions.jsonpath_hints import (
    BARE_KEY,
    CONSTANTS,
    OPERATOR,
    fail_after_path,
    fail_at_start,
    fail_in_operand,
    fail_in_predicate,
)
from mixle_assets.expressions.jsonpath_scanner import INTEGER, Scanner

_LENGTH = re.compile(r"[ \t\r\n]*length[ \t\r\n]*\([ \t\r\n]*\)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CONSTANT = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])")
_LIST_OPERATORS = frozenset({"in", "nin", "noneOf", "anyOf", "subsetOf", "==", "!="})

_MAX_DEPTH = 50
"""Nested filters and parentheses; far beyond any rule, well within Python's recursion limit."""


def parse_jsonpath(expression: str) -> Path:
    """Read a whole JSONPath expression.

    A leading ``$``, ``$@``, ``@`` or nothing at all before ``.`` or ``[`` mean the document::

        $.attributes.x    $@.attributes.x    @.attributes.x    .attributes.x

    Args:
        expression: The expression, as it stands in a recipe.

    Returns:
        Its steps.

    Raises:
        ExpressionError: It does not parse; ``column`` counts from 1.
    """
    parser = _Parser(expression)
    parser.skip_space()
    if parser.at_end():
        parser.fail("the expression is empty", hint="to match every document write $")
    path = parser.path()
    if path is None:
        fail_at_start(parser)
    parser.skip_space()
    if not parser.at_end():
        fail_after_path(parser)
    return path


class _Parser(Scanner):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    # -- paths ----------------------------------------------------------------------------------

    def path(self) -> Path | None:
        """Read steps as long as there are any; None, and nothing consumed, if there is none."""
        steps: list[Step] = []
        while True:
            before = self.position
            self.skip_space()
            step = self.step()
            if step is None:
                self.position = before
                break
            if steps and isinstance(steps[-1], Length):
                self.fail("nothing can follow length()", position=before)
            steps.append(step)
        return Path(tuple(steps)) if steps else None

    def step(self) -> Step | None:
        if self.takes("$"):
            return Root()
        if self.takes("@"):
            return Current()
        if self.takes(".."):
            return self.descent()
        if self.sees(".") or self.sees("["):
            return self.member()
        return None

    def descent(self) -> Step:
        if self.takes("*"):
            return DescendAll()
        if self.takes("["):
            self.skip_space()
            names = self.strings()
            if len(names) != 1:
                self.fail(
                    f"expected a quoted key after '..[', found {self.here()}",
                    hint="filters, indices and lists cannot follow '..'; write ..* before them",
                )
            self.expect("]", "after the key")
            return Descend(names[0])
        return Descend(self.bare_key().name)

    def member(self) -> Step:
        dotted = self.takes(".")
        if self.takes("["):
            return self.bracket()
        if dotted and self.takes("*"):
            return Wildcard()
        match = _LENGTH.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
            return Length()
        return self.bare_key()

    def bare_key(self) -> Key:
        start = self.position
        match = BARE_KEY.match(self.text, start)
        if match is None:
            found = self.text[start : start + 1]
            if found in (" ", "\t", "\r", "\n"):
                self.fail("no space is allowed between '.' and a key")
            if found in ("'", '"'):
                self.fail("a quoted key needs brackets", hint="write ['key']")
            if found:
                self.fail(f"{found!r} cannot start a key", hint="quote the key: ['…']")
            self.fail("the expression ends where a key should stand")
        self.position = match.end()
        following = self.text[self.position : self.position + 1]
        if following and (not following.isascii() or following in ":'\"%~^;?{}`"):
            end = self.position
            while end < len(self.text) and self.text[end] not in " \t\r\n.[]()<>=!&|,":
                end += 1
            key = self.text[start:end]
            if not self.text.startswith("~=", self.position):
                self.fail(
                    f"{following!r} cannot stand in an unquoted key",
                    hint=f"quote it: [{_quoted(key)}]",
                )
        return Key(match.group(), column=start + 1)

    def bracket(self) -> Step:
        opened = self.position - 1
        self.skip_space()
        if self.takes("*"):
            step: Step = Wildcard()
        elif self.takes("?"):
            step = self.filter(opened)
        elif self.sees_quote():
            column = self.position + 1
            names = self.strings()
            step = Key(names[0], column, quoted=True) if len(names) == 1 else Keys(tuple(names))
        else:
            step = self.positions()
        self.skip_space()
        if not self.takes("]"):
            self.fail(f"expected ']' for the '[' at column {opened + 1}, found {self.here()}")
        return step

    def positions(self) -> Step:
        start = self.position
        first = self.integer()
        self.skip_space()
        if self.sees(":"):
            return self.slice(first or 0)
        if first is None:
            match = BARE_KEY.match(self.text, self.position)
            if match is not None:
                self.fail(
                    f"expected an index, slice, '*', filter or quoted key, found {self.here()}",
                    hint=f"quote the key: ['{match.group()}']",
                )
            self.fail(f"expected an index, slice, '*', filter or quoted key, found {self.here()}")
        found = [first]
        while self.takes(","):
            self.skip_space()
            number = self.integer()
            if number is None:
                self.fail(f"expected an index after ',', found {self.here()}")
            found.append(number)
            self.skip_space()
        if self.sees(".") or self.sees("e") or self.sees("E"):
            self.fail("an index is a whole number", position=start)
        return Index(found[0]) if len(found) == 1 else Indices(tuple(found))

    def slice(self, start: int) -> Slice:
        self.expect(":", "in a slice")
        self.skip_space()
        stop = self.integer() or 0
        step = 1
        self.skip_space()
        if self.takes(":"):
            self.skip_space()
            column = self.position
            given = self.integer()
            if given is not None and given <= 0:
                self.fail(f"the step of a slice must be positive, got {given}", position=column)
            step = given or 1
        return Slice(start, stop, step)

    # -- predicates -----------------------------------------------------------------------------

    def filter(self, opened: int) -> Filter:
        self.skip_space()
        if not self.takes("("):
            self.fail("a filter needs parentheses", hint="write [?(…)]")
        predicate = self.either()
        self.skip_space()
        if not self.takes(")"):
            fail_in_predicate(self, f"the filter opened at column {opened + 1}")
        return Filter(predicate)

    def either(self) -> Predicate:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail(f"more than {_MAX_DEPTH} nested parentheses or filters")
        parts = [self.both()]
        self.skip_space()
        while self.takes("||"):
            parts.append(self.both())
            self.skip_space()
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self) -> Predicate:
        parts = [self.negation()]
        self.skip_space()
        while self.takes("&&"):
            parts.append(self.negation())
            self.skip_space()
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negation(self) -> Predicate:
        negated = False
        self.skip_space()
        while not self.sees("!=") and self.takes("!"):
            negated = not negated
            self.skip_space()
        part = self.comparison()
        return Not(part) if negated else part

    def comparison(self) -> Predicate:
        if self.takes("("):
            opened = self.position
            group = self.either()
            self.skip_space()
            if not self.takes(")"):
                fail_in_predicate(self, f"the parenthesis at column {opened}")
            return group
        left = self.operand()
        self.skip_space()
        column = self.position + 1
        match = OPERATOR.match(self.text, self.position)
        if match is None:
            return Exists(left)
        self.position = match.end()
        operator = "~=" if match.group() == "=~" else match.group()
        self.skip_space()
        start = self.position
        right = self.operand()
        if (
            operator in _LIST_OPERATORS
            and isinstance(right, Path)
            and len(right.steps) == 1
            and isinstance(right.steps[0], Index)
        ):
            number = right.steps[0].position
            instead = "!=" if operator in ("nin", "noneOf", "!=") else "=="
            self.fail(
                f"[{number}] reads as an index here, never as a list of one number",
                hint=f"write {instead} {number}, or @[{number}] for the index",
                position=start,
            )
        if operator == "~=" and isinstance(right, Literal) and not isinstance(right.value, str):
            self.fail("~= needs a string with a regular expression on its right", position=start)
        return Compare(left, operator, right, column)

    def operand(self) -> Operand:
        self.skip_space()
        start = self.position
        if self.sees_quote():
            return Literal(self.string(), start + 1)
        word = _CONSTANT.match(self.text, start)
        if word is not None:
            self.position = word.end()
            return Literal(CONSTANTS[word.group()], start + 1)
        number = _NUMBER.match(self.text, start)
        if number is not None:
            self.position = number.end()
            if self.sees("."):
                self.fail("a number cannot end in a point", hint=f"write {number.group()}.0")
            return Literal(self.number(number.group(), start), start + 1)
        path = self.path()
        if path is None:
            fail_in_operand(self)
        return self.list_literal(path, start)

    def number(self, digits: str, start: int) -> float:
        value = float(digits)
        if math.isinf(value):
            self.fail(f"the number is beyond {sys.float_info.max}", position=start)
        return int(digits) if INTEGER.fullmatch(digits) else value

    def list_literal(self, path: Path, start: int) -> Operand:
        """A list of strings or numbers reads like a step: alone in an operand it is the list."""
        if len(path.steps) > 1:
            return path
        match path.steps[0]:
            case Keys(names):
                return Literal(list(names), start + 1)
            case Indices(positions):
                return Literal(list(positions), start + 1)
            case Key(name, quoted=True) if not self.text.startswith(".", start):
                return Literal([name], start + 1)
            case Key(name):
                hint = f"write 0.{name}" if name.isdigit() else f"for the member write @.{name}"
                self.fail(
                    f"{self.text[start : self.position]} reads as a list of one key here",
                    hint=hint,
                    position=start,
                )
        return path


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False) if "'" in key else f"'{key}'"
