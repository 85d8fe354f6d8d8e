r"""Regular expressions of ``~=`` : RE2, with the Unicode meanings that Dolma's engine (Rust's) has.

RE2 takes linear time on any text and has neither look-around nor back-references, as Rust's. It knows
``\b``, ``\w``, ``\d`` and ``\s`` for ASCII only, where Rust's know Unicode (``\bcafé\b`` finds a word): the
last three are written out for RE2, and an expression with ``\b`` is Python's to search.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol, cast

import re2


class Pattern(Protocol):
    """A compiled expression."""

    def search(self, text: str, /) -> object | None:
        """Find it anywhere in a text; None if it is nowhere."""


class RegexError(ValueError):
    """The expression does not compile; the message says why."""


class Piece(NamedTuple):
    """A part of an expression: one escape with its backslash, or one character.

    Attributes:
        text: The part.
        in_class: Whether it stands between ``[`` and ``]``.
        position: Where it starts.
    """

    text: str
    in_class: bool
    position: int


_WORD = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}"
_SPACE = r"\t\n\v\f\r\x{85}\p{Z}"
_UNICODE = {
    r"\w": f"[{_WORD}]",
    r"\W": f"[^{_WORD}]",
    r"\d": r"\p{Nd}",
    r"\D": r"\P{Nd}",
    r"\s": f"[{_SPACE}]",
    r"\S": f"[^{_SPACE}]",
}
_UNICODE_IN_CLASS = {r"\w": _WORD, r"\d": r"\p{Nd}", r"\D": r"\P{Nd}", r"\s": _SPACE}


def pieces(expression: str) -> Iterator[Piece]:
    """Split an expression into escapes and characters, and say which stand in a class."""
    position = 0
    opened: int | None = None
    while position < len(expression):
        text = expression[position : position + (2 if expression[position] == "\\" else 1)]
        in_class = opened is not None
        if opened is None and text == "[":
            opened = position
        elif opened is not None and text == "[" and expression.startswith("[:", position):
            end = expression.find(":]", position)
            text = expression[position : end + 2] if end >= 0 else text
        elif text == "]" and opened is not None and expression[opened:position] not in ("[", "[^"):
            opened = None
            in_class = False
        yield Piece(text, in_class, position)
        position += len(text)


@lru_cache(maxsize=1024)
def compile_regex(expression: str) -> Pattern:
    r"""Compile an expression; it is searched for anywhere, unless anchored.

    Args:
        expression: The expression, in RE2's syntax; ``\b \w \d \s`` and their opposites mean Unicode's.

    Returns:
        The pattern.

    Raises:
        RegexError: It does not compile.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        plain = re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0]
        raise RegexError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    found = list(pieces(expression))
    if any(_only_python_has(piece) for piece in found):
        return _compile_in_python(expression) or cast(Pattern, plain)
    if not any(piece.text in _UNICODE for piece in found):
        return cast(Pattern, plain)
    translated = "".join(
        (_UNICODE_IN_CLASS if piece.in_class else _UNICODE).get(piece.text, piece.text) for piece in found
    )
    return cast(Pattern, re2.compile(translated, options))


def _only_python_has(piece: Piece) -> bool:
    if piece.in_class:
        return piece.text in (r"\W", r"\S")
    return piece.text in (r"\b", r"\B")


def _compile_in_python(expression: str) -> Pattern | None:
    """Compile with ``re``, if that reads the expression as RE2 does; nested repetitions may then be slow."""
    if re.search(r"\[\[:|\\[pPzQCx]|\(\?[a-zA-Z]*U", expression):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(expression)
    except (re.error, Warning):
        return None
