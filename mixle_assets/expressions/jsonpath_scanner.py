"""The lower half of the JSONPath parser: a cursor over the text, its strings and integers, its errors."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from mixle_assets.errors import ExpressionError

_SPACE = re.compile(r"(?: |\t|\n|\r\n)*")
INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_SINGLE_QUOTED_START = re.compile(r"""'((?:[^"'\\]|\\["'\\/bfnrt()]|\\u[0-9A-Fa-f]{4})*)""")
"""An opening single quote and what may follow; escapes are taken but, as in Dolma, not decoded."""
_DOUBLE_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_MAX_DIGITS = 18


class Scanner:
    """A cursor over an expression.

    Attributes:
        text: The expression.
        position: How far it is read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.position >= len(self.text)

    def skip_space(self) -> None:
        """Move past white space: space, tab, line ends."""
        match = _SPACE.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def sees(self, token: str) -> bool:
        """Whether the text goes on with ``token``."""
        return self.text.startswith(token, self.position)

    def takes(self, token: str) -> bool:
        """Move past ``token`` if the text goes on with it, and say whether it did."""
        if self.sees(token):
            self.position += len(token)
            return True
        return False

    def expect(self, token: str, context: str) -> None:
        """Move past white space and ``token``, which must come."""
        self.skip_space()
        if not self.takes(token):
            self.fail(f"expected {token!r} {context}, found {self.here()}")

    def here(self) -> str:
        """What stands here, for a message."""
        return "the end" if self.at_end() else repr(self.text[self.position : self.position + 12])

    def fail(self, message: str, *, hint: str | None = None, position: int | None = None) -> NoReturn:
        """Raise an error with the column of ``position``, or of the cursor."""
        column = (self.position if position is None else position) + 1
        raise ExpressionError(
            message if hint is None else f"{message} ({hint})", column=column, rule=self.text
        )

    def sees_quote(self) -> bool:
        """Whether a string starts here."""
        return self.sees("'") or self.sees('"')

    def strings(self) -> list[str]:
        """Read strings with commas between them; none if there is no quote."""
        if not self.sees_quote():
            return []
        found = [self.string()]
        self.skip_space()
        while self.takes(","):
            self.skip_space()
            if not self.sees_quote():
                self.fail(f"expected a quoted key after ',', found {self.here()}")
            found.append(self.string())
            self.skip_space()
        return found

    def string(self) -> str:
        """Read a quoted string: as it is written in single quotes, decoded as JSON in double quotes."""
        start = self.position
        if self.sees("'"):
            match = _SINGLE_QUOTED_START.match(self.text, start)
            end = start + 1 if match is None else match.end()
            if match is None or not self.text.startswith("'", end):
                self.fail_in_single_quotes(start, end)
            self.position = end + 1
            return match.group(1)
        match = _DOUBLE_QUOTED.match(self.text, start)
        if match is None:
            self.fail("a double quote is never closed")
        self.position = match.end()
        try:
            decoded = str(json.loads(match.group(), strict=False))
            decoded.encode()
        except ValueError:
            self.fail(
                f"{match.group()} has an escape that JSON strings do not have",
                hint="double a backslash that is meant for a regular expression",
                position=start,
            )
        return decoded

    def fail_in_single_quotes(self, start: int, end: int) -> NoReturn:
        """Say why the string that opens at ``start`` goes wrong at ``end``."""
        if self.text.startswith('"', end):
            self.fail(
                "a double quote cannot stand in single quotes",
                hint='write the string in double quotes, the inner ones as \\"',
                position=end,
            )
        if self.text.startswith("\\", end):
            escape = self.text[end : end + 2]
            self.fail(
                f"{escape} is no escape here",
                hint=f'in double quotes it is written "\\{escape}"; a digit is [0-9] in either',
                position=end,
            )
        self.fail("a single quote is never closed", position=start)

    def integer(self) -> int | None:
        """Read an integer; None if there is none."""
        match = INTEGER.match(self.text, self.position)
        if match is None:
            return None
        if len(match.group()) > _MAX_DIGITS:
            self.fail(f"no array has a position of {len(match.group())} digits")
        self.position = match.end()
        return int(match.group())
