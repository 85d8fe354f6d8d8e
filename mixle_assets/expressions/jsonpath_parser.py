"""Text to JSONPath syntax tree: the dialect of Dolma's filters, read by recursive descent.

The grammar is that of dolma 1.2.1's mixer (``docs/reference/jsonpath.md`` has every form) plus ``[-1]``,
double quotes and ``=~``. Whatever it does not know is an ``ExpressionError`` with a column and, where one
can be guessed, a hint: a rule that is read otherwise than it was meant would silently never match.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from mixle_assets.errors import ExpressionError
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

_SPACE = re.compile(r"(?: |\t|\n|\r\n)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_\-/\\#]+")
_LENGTH = re.compile(r"[ \t\r\n]*length[ \t\r\n]*\([ \t\r\n]*\)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
# The characters of a single-quoted string; escapes are taken but, as in Dolma, not decoded.
_SINGLE_QUOTED = re.compile(r"""'((?:[^"'\\]|\\["'\\/bfnrt()]|\\u[0-9A-Fa-f]{4})*)'""")
_DOUBLE_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPERATOR = re.compile(r"==|!=|~=|=~|>=|<=|>|<|(?:in|nin|size|noneOf|anyOf|subsetOf)(?![A-Za-z0-9_])")
_WORD = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])")
_CONSTANTS = {"true": True, "false": False, "null": None}

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
        parser.fail_at_start()
    parser.skip_space()
    if not parser.at_end():
        parser.fail_after_path()
    return path


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    # -- what every rule needs ------------------------------------------------------------------

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def sees(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def takes(self, token: str) -> bool:
        if self.sees(token):
            self.position += len(token)
            return True
        return False

    def expect(self, token: str, context: str) -> None:
        self.skip_space()
        if not self.takes(token):
            self.fail(f"expected {token!r} {context}, found {self.here()}")

    def here(self) -> str:
        return "the end" if self.at_end() else repr(self.text[self.position : self.position + 12])

    def fail(self, message: str, *, hint: str | None = None, position: int | None = None) -> NoReturn:
        column = (self.position if position is None else position) + 1
        raise ExpressionError(
            message if hint is None else f"{message} ({hint})", column=column, rule=self.text
        )

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
        match = _BARE_KEY.match(self.text, start)
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
        elif self.sees("'") or self.sees('"'):
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
            match = _BARE_KEY.match(self.text, self.position)
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

    def integer(self) -> int | None:
        match = _INTEGER.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return int(match.group())

    # -- predicates -----------------------------------------------------------------------------

    def filter(self, opened: int) -> Filter:
        self.skip_space()
        if not self.takes("("):
            self.fail("a filter needs parentheses", hint="write [?(…)]")
        predicate = self.either()
        self.skip_space()
        if not self.takes(")"):
            self.fail_in_predicate(f"the filter opened at column {opened + 1}")
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
                self.fail_in_predicate(f"the parenthesis at column {opened}")
            return group
        left = self.operand()
        self.skip_space()
        column = self.position + 1
        match = _OPERATOR.match(self.text, self.position)
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
        if self.sees("'") or self.sees('"'):
            return Literal(self.string(), start + 1)
        word = _WORD.match(self.text, start)
        if word is not None:
            self.position = word.end()
            return Literal(_CONSTANTS[word.group()], start + 1)
        number = _NUMBER.match(self.text, start)
        if number is not None:
            self.position = number.end()
            if self.sees("."):
                self.fail("a number cannot end in a point", hint=f"write {number.group()}.0")
            digits = number.group()
            return Literal(int(digits) if _INTEGER.fullmatch(digits) else float(digits), start + 1)
        path = self.path()
        if path is None:
            self.fail_in_operand()
        return self.list_literal(path, start)

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

    # -- strings --------------------------------------------------------------------------------

    def strings(self) -> list[str]:
        if not (self.sees("'") or self.sees('"')):
            return []
        found = [self.string()]
        self.skip_space()
        while self.takes(","):
            self.skip_space()
            if not (self.sees("'") or self.sees('"')):
                self.fail(f"expected a quoted key after ',', found {self.here()}")
            found.append(self.string())
            self.skip_space()
        return found

    def string(self) -> str:
        start = self.position
        if self.sees("'"):
            match = _SINGLE_QUOTED.match(self.text, start)
            if match is None:
                self.fail_in_single_quotes(start)
            self.position = match.end()
            return match.group(1)
        match = _DOUBLE_QUOTED.match(self.text, start)
        if match is None:
            self.fail("a double quote is never closed")
        self.position = match.end()
        try:
            decoded = json.loads(match.group(), strict=False)
        except ValueError:
            self.fail(
                f"{match.group()} has an escape that JSON strings do not have",
                hint="double a backslash that is meant for a regular expression",
                position=start,
            )
        if not isinstance(decoded, str):
            raise TypeError(f"a quoted string decoded to {decoded!r}")
        return decoded

    # -- errors that guess what was meant ---------------------------------------------------------

    def fail_in_single_quotes(self, start: int) -> NoReturn:
        good = re.compile(_SINGLE_QUOTED.pattern[:-1]).match(self.text, start)
        at = start if good is None else good.end()
        if self.text.startswith('"', at):
            self.fail(
                "a double quote cannot stand in single quotes",
                hint='write the string in double quotes, the inner ones as \\"',
                position=at,
            )
        if self.text.startswith("\\", at):
            escape = self.text[at : at + 2]
            self.fail(
                f"{escape} is no escape here",
                hint=f'in double quotes it is written "\\{escape}"; a digit is [0-9] in either',
                position=at,
            )
        self.fail("a single quote is never closed", position=start)

    def fail_at_start(self) -> NoReturn:
        word = _BARE_KEY.match(self.text, self.position)
        if word is not None:
            self.fail("a path starts with $", hint=f"write $.{word.group()}…")
        if self.sees("(") or self.sees("{"):
            self.fail(f"a path starts with $, found {self.here()}", hint="for jq set syntax: jq")
        self.fail(f"a path starts with $, found {self.here()}")

    def fail_after_path(self) -> NoReturn:
        if self.sees("&&") or self.sees("||"):
            self.fail("&& and || stand inside a filter only", hint="write $[?(@.a && @.b)]")
        if self.sees("|"):
            self.fail("a path has no pipes", hint="for jq set syntax: jq")
        if _OPERATOR.match(self.text, self.position) is not None:
            self.fail("a comparison stands inside a filter only", hint="write $[?(@.a > 1)]")
        if _BARE_KEY.match(self.text, self.position) and self.text[self.position - 1].isspace():
            self.fail(
                f"expected a step or the end, found {self.here()}",
                hint="a key with a space needs quotes: ['a key']",
            )
        self.fail(f"expected a step or the end, found {self.here()}")

    def fail_in_operand(self) -> NoReturn:
        if self.at_end():
            self.fail("the expression ends where an operand should stand")
        if self.sees("+"):
            self.fail("a number has no plus sign", hint="leave it out")
        if self.sees("/"):
            self.fail("a regular expression is a quoted string", hint="write ~= '…'")
        word = re.compile(r"\w+").match(self.text, self.position)
        if word is not None and word.group().lower() in _CONSTANTS:
            self.fail(f"unknown word {word.group()}", hint=f"write {word.group().lower()}")
        if word is not None:
            self.fail(f"unknown word {word.group()}", hint=f"for the member write @.{word.group()}")
        self.fail(f"expected an operand, found {self.here()}")

    def fail_in_predicate(self, opened: str) -> NoReturn:
        self.skip_space()
        word = re.compile(r"[A-Za-z]+").match(self.text, self.position)
        if self.at_end():
            self.fail(f"{opened} is never closed")
        if word is not None and word.group().lower() in ("and", "or", "not"):
            symbol = {"and": "&&", "or": "||", "not": "!"}[word.group().lower()]
            self.fail(f"unknown word {word.group()}", hint=f"write {symbol}")
        if word is not None:
            self.fail(
                f"unknown operator {word.group()}",
                hint="there are == != < > <= >= ~= in nin size anyOf noneOf subsetOf",
            )
        if self.sees("="):
            self.fail("a single = is no operator", hint="write ==")
        if self.sees("&") or self.sees("|"):
            self.fail(f"unknown operator {self.here()}", hint="write && or ||")
        if self.text[self.position] in "+-*/%":
            self.fail("there is no arithmetic in JSONPath", hint="for jq set syntax: jq")
        if self.sees("]"):
            self.fail(f"{opened} is not closed before ']'")
        self.fail(f"expected ')' for {opened}, found {self.here()}")


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False) if "'" in key else f"'{key}'"
