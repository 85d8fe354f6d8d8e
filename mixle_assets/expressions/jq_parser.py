"""Text to jq syntax tree, for programs that libjq has compiled already.

So this parser judges nothing: what it does not know it gives up on (None), and libjq alone runs the
program. What it does read it must read as libjq does; the precedences are those of jq's manual.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

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
from mixle_assets.expressions.jq_tokens import Tokens, Unknown, number_literal

_ASSIGNMENTS = frozenset({"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_CONSTANTS = {"null": None, "true": True, "false": False}
_MAX_DEPTH = 30
"""Nested parentheses; a rule has few, and Python's recursion has a limit."""


def parse_jq(program: str) -> Node | None:
    """Read a jq program that compiles.

    Args:
        program: The program; it must be one that libjq takes.

    Returns:
        Its syntax tree, or None for a form that is left to libjq (``def``, ``label``, destructuring, ``?//``,
        modules, very deep nesting).
    """
    if "#" in program and ("\\\n" in program or "\r" in program):
        return None  # a comment can go on after a backslash; how far depends on libjq's version
    try:
        parser = _Parser(program)
        node = parser.pipe()
        return node if parser.token.kind == "end" else None
    except Unknown:
        return None


class _Parser(Tokens):
    def __init__(self, text: str, position: int = 0) -> None:
        super().__init__(text, position)
        self.depth = 0

    # -- from the loosest operator to the tightest ------------------------------------------------

    def pipe(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unknown
        stages = [self.comma()]
        while self.takes("|"):
            stages.append(self.comma())
        self.depth -= 1
        node = stages.pop()
        while stages:
            node = Pipe(stages.pop(), node)
        return node

    def comma(self) -> Node:
        left = self.alternative()
        while self.takes(","):
            left = Comma(left, self.alternative())
        return left

    def alternative(self) -> Node:
        left = self.assignment()
        if self.takes("//"):
            return Alternative(left, self.alternative())
        return left

    def assignment(self) -> Node:
        left = self.either()
        operator = self.takes(*_ASSIGNMENTS)
        return left if operator is None else Assign(operator, left, self.either())

    def either(self) -> Node:
        left = self.both()
        while self.takes("or"):
            left = Or(left, self.both())
        return left

    def both(self) -> Node:
        left = self.comparison()
        while self.takes("and"):
            left = And(left, self.comparison())
        return left

    def comparison(self) -> Node:
        left = self.sum()
        column = self.token.start + 1
        operator = self.takes(*_COMPARISONS)
        return left if operator is None else Binary(operator, left, self.sum(), column)

    def sum(self) -> Node:
        left = self.product()
        while True:
            column = self.token.start + 1
            operator = self.takes("+", "-")
            if operator is None:
                return left
            left = Binary(operator, left, self.product(), column)

    def product(self) -> Node:
        if self.takes("-"):  # binds looser than * and tighter than +: -2 * 3 is -(2 * 3)
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise Unknown
            node = Negate(self.product())
            self.depth -= 1
            return node
        left = self.postfix()
        while True:
            column = self.token.start + 1
            operator = self.takes("*", "/", "%")
            if operator is None:
                return left
            if self.token.text == "-":
                raise Unknown
            left = Binary(operator, left, self.postfix(), column)

    def postfix(self) -> Node:
        if self.takes("try"):
            body = self.postfix()
            return Try(body, self.postfix() if self.takes("catch") else None)
        node = self.indexed()
        if self.takes("as"):
            name = self.variable_name()
            self.expect("|")
            return Bind(node, name, self.pipe())
        return node

    def indexed(self) -> Node:
        """Read a term and what is attached to it: ``.a["b"][0][]?``."""
        grouped = self.token.kind not in ("field", "symbol") or self.sees("(")
        node = self.term()
        while True:
            token = self.token
            if token.kind == "field":
                self.advance()
                node = Index(node, Literal(token.text[1:]), column=token.start + 1)
            elif self.sees("["):
                node = self.bracket(node)
            elif token.text == "." and self.text[token.end : token.end + 1] in ('"', "["):
                self.advance()
                node = self.quoted(node) if self.sees('"') else self.bracket(node)
            elif self.takes("?"):
                if isinstance(node, Index | Slice | Iterate) and not grouped:
                    node = replace(node, optional=True)
                else:
                    node = Try(node, None)
                grouped = True
                continue
            else:
                return node
            grouped = False

    def quoted(self, target: Node) -> Node:
        column = self.token.start + 1
        return Index(target, self.string(), column=column)

    # -- terms --------------------------------------------------------------------------------------

    def term(self) -> Node:
        token = self.token
        match token.kind:
            case "number":
                self.advance()
                return number_literal(token.text)
            case "field":
                self.advance()
                return Index(Identity(), Literal(token.text[1:]), column=token.start + 1)
            case "format":
                self.advance()
                return Interpolation((self.string(),)) if self.sees('"') else Call(token.text)
            case "variable":
                self.advance()
                return Variable(token.text[1:])
            case "word":
                self.advance()
                return self.call(token.text)
            case "keyword":
                return self.keyword()
            case "symbol":
                return self.symbol()
        raise Unknown

    def symbol(self) -> Node:
        if self.sees('"'):
            return self.string()
        token = self.advance()
        match token.text:
            case "(":
                node = self.pipe()
                self.expect(")")
                return node
            case "[":
                if self.takes("]"):
                    return Array(None)
                node = self.pipe()
                self.expect("]")
                return Array(node)
            case "{":
                return self.object()
            case "..":
                return Call("..")
            case "." if self.sees('"'):
                return self.quoted(Identity())
            case "." if self.sees("["):
                return self.bracket(Identity())
            case ".":
                return Identity()
        raise Unknown

    def bracket(self, target: Node) -> Node:
        column = self.token.start + 1
        self.expect("[")
        if self.takes("]"):
            return Iterate(target)
        if self.takes(":"):
            stop = self.pipe()
            self.expect("]")
            return Slice(target, None, stop)
        key = self.pipe()
        if self.takes(":"):
            end = None if self.sees("]") else self.pipe()
            self.expect("]")
            return Slice(target, key, end)
        self.expect("]")
        return Index(target, key, column=column)

    def keyword(self) -> Node:
        if self.takes("if"):
            return self.condition()
        if self.takes("reduce"):
            source = self.indexed()
            self.expect("as")
            name = self.variable_name()
            [start, update] = self.arguments(2)
            return Reduce(source, name, start, update)
        if self.takes("foreach"):
            source = self.indexed()
            self.expect("as")
            name = self.variable_name()
            parts = self.arguments(3)
            return Reduce(source, name, parts[0], parts[1], parts[2] if len(parts) > 2 else Identity())
        raise Unknown

    def condition(self) -> Node:
        condition = self.pipe()
        self.expect("then")
        chosen = self.pipe()
        if self.takes("elif"):
            return If(condition, chosen, self.condition())
        otherwise = self.pipe() if self.takes("else") else Identity()
        self.expect("end")
        return If(condition, chosen, otherwise)

    def variable_name(self) -> str:
        if self.token.kind != "variable":
            raise Unknown  # destructuring
        name = self.advance().text[1:]
        if self.token.text.startswith("?//"):
            raise Unknown
        return name

    def call(self, name: str) -> Node:
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name])
        return Call(name, tuple(self.arguments(None)) if self.sees("(") else ())

    def arguments(self, at_most: int | None) -> Sequence[Node]:
        self.expect("(")
        found = [self.pipe()]
        while self.takes(";"):
            found.append(self.pipe())
        self.expect(")")
        if at_most is not None and not 2 <= len(found) <= at_most:
            raise Unknown
        return found

    def object(self) -> Node:
        entries: list[tuple[Node, Node]] = []
        while not self.takes("}"):
            if entries:
                self.expect(",")
            entries.append(self.entry())
        return Object(tuple(entries))

    def entry(self) -> tuple[Node, Node]:
        token = self.token
        if token.kind == "variable":
            self.advance()
            return Literal(token.text[1:]), Variable(token.text[1:])
        if token.kind in ("word", "keyword"):
            self.advance()
            key: Node = Literal(token.text)
        elif token.kind == "number":
            self.advance()
            key = number_literal(token.text)
        elif self.sees('"'):
            key = self.string()
        elif self.takes("("):
            key = self.pipe()
            self.expect(")")
        else:
            raise Unknown
        if not self.takes(":"):
            return key, Index(Identity(), key, column=token.start + 1)
        value = self.entry_value()
        while self.takes("|"):
            value = Pipe(value, self.entry_value())
        return key, value

    def entry_value(self) -> Node:
        return Negate(self.postfix()) if self.takes("-") else self.postfix()

    # -- strings ------------------------------------------------------------------------------------

    def string(self) -> Node:
        """Read a string from its opening quote, which is the current token."""
        position = self.token.end
        parts: list[Node] = []
        piece = position
        while True:
            char = self.text[position : position + 1]
            if char == '"':
                parts.append(Literal(self.decode(piece, position)))
                self.token = self._read(position + 1)
                return parts[0] if len(parts) == 1 else Interpolation(tuple(parts))
            if char == "\\" and self.text[position + 1 : position + 2] == "(":
                parts.append(Literal(self.decode(piece, position)))
                inner = _Parser(self.text, position + 2)
                inner.depth = self.depth
                parts.append(inner.pipe())
                if not inner.sees(")"):
                    raise Unknown
                position = piece = inner.token.end
            elif char == "\\":
                position += 2
            elif char == "":
                raise Unknown
            else:
                position += 1
