"""The lower half of the jq parser: tokens, numbers, string pieces, and giving up."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import NamedTuple

from mixle_assets.expressions.jq_ast import Literal

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_TOKEN = re.compile(
    r"""(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
    |(?P<format>@[A-Za-z0-9_]+)
    |(?P<variable>\$(?:__loc__|[A-Za-z_][A-Za-z0-9_]*))
    |(?P<word>(?:[A-Za-z_][A-Za-z0-9_]*::)*[A-Za-z_][A-Za-z0-9_]*)
    |(?P<symbol>\?//=?|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|\.\.|[.\[\]{}()|,:;=<>+\-*/%?"$])
    """,
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    {"def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label"}
    | {"import", "include", "and", "or", "__loc__"}
)
_MAX_EXACT = 2**53
"""Integers up to here are doubles; jq holds longer literals with all their digits."""


class Unknown(Exception):  # noqa: N818 - not an error: the program is libjq's alone
    """A form this parser does not know."""


class Token(NamedTuple):
    """A token: its kind (number, field, format, variable, word, keyword, symbol, end), text and place."""

    kind: str
    text: str
    start: int
    end: int


class Tokens:
    """A cursor over a program's tokens.

    Attributes:
        text: The program.
        token: The token at hand.
    """

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.token = self._read(position)

    def _read(self, position: int) -> Token:
        space = _SPACE.match(self.text, position)
        start = position if space is None else space.end()
        if start >= len(self.text):
            return Token("end", "", start, start)
        match = _TOKEN.match(self.text, start)
        if match is None or match.lastgroup is None:
            raise Unknown
        kind = match.lastgroup
        if kind == "word" and match.group() in _KEYWORDS:
            kind = "keyword"
        return Token(kind, match.group(), start, match.end())

    def advance(self) -> Token:
        """Move to the next token and return the one at hand."""
        token = self.token
        self.token = self._read(token.end)
        return token

    def takes(self, *texts: str) -> str | None:
        """Move past any of these symbols or keywords, and return which it was; else None."""
        if self.token.kind in ("symbol", "keyword") and self.token.text in texts:
            return self.advance().text
        return None

    def expect(self, text: str) -> None:
        """Move past a symbol or keyword, which must come."""
        if self.takes(text) is None:
            raise Unknown

    def sees(self, text: str) -> bool:
        """Whether the token at hand is this symbol."""
        return self.token.kind == "symbol" and self.token.text == text

    def decode(self, start: int, end: int) -> str:
        """Decode the piece of a string between two positions."""
        try:
            decoded = json.loads(f'"{self.text[start:end]}"', strict=False)
            decoded.encode()
        except ValueError:
            raise Unknown from None
        return str(decoded)


def number_literal(text: str) -> Literal:
    """Read a number, and whether a double holds it with all its digits."""
    value = float(text)
    exact = Decimal(text) == Decimal(repr(value)) and abs(value) <= _MAX_EXACT
    return Literal(int(value) if exact and value.is_integer() else value, exact)
