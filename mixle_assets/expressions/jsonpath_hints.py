"""What a broken JSONPath was probably meant to be: errors that guess, for the parser to end in."""

from __future__ import annotations

import re
from typing import NoReturn

from mixle_assets.expressions.jsonpath_scanner import Scanner

BARE_KEY = re.compile(r"[A-Za-z0-9_\-/\\#]+")
"""A key that needs no quotes."""
OPERATOR = re.compile(r"==|!=|~=|=~|>=|<=|>|<|(?:in|nin|size|noneOf|anyOf|subsetOf)(?![A-Za-z0-9_])")
CONSTANTS = {"true": True, "false": False, "null": None}

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[A-Za-z]+")


def fail_at_start(scan: Scanner) -> NoReturn:
    """Say why no path starts here."""
    word = BARE_KEY.match(scan.text, scan.position)
    if word is not None:
        scan.fail("a path starts with $", hint=f"write $.{word.group()}…")
    if scan.sees("(") or scan.sees("{"):
        scan.fail(f"a path starts with $, found {scan.here()}", hint="for jq set syntax: jq")
    scan.fail(f"a path starts with $, found {scan.here()}")


def fail_after_path(scan: Scanner) -> NoReturn:
    """Say what is wrong with what follows a whole path."""
    if scan.sees("&&") or scan.sees("||"):
        scan.fail("&& and || stand inside a filter only", hint="write $[?(@.a && @.b)]")
    if scan.sees("|"):
        scan.fail("a path has no pipes", hint="for jq set syntax: jq")
    if OPERATOR.match(scan.text, scan.position) is not None:
        scan.fail("a comparison stands inside a filter only", hint="write $[?(@.a > 1)]")
    if BARE_KEY.match(scan.text, scan.position) and scan.text[scan.position - 1].isspace():
        scan.fail(
            f"expected a step or the end, found {scan.here()}",
            hint="a key with a space needs quotes: ['a key']",
        )
    scan.fail(f"expected a step or the end, found {scan.here()}")


def fail_in_operand(scan: Scanner) -> NoReturn:
    """Say why no operand of a comparison stands here."""
    if scan.at_end():
        scan.fail("the expression ends where an operand should stand")
    if scan.sees("+"):
        scan.fail("a number has no plus sign", hint="leave it out")
    if scan.sees("/"):
        scan.fail("a regular expression is a quoted string", hint="write ~= '…'")
    word = _WORD.match(scan.text, scan.position)
    if word is not None and word.group().lower() in CONSTANTS:
        scan.fail(f"unknown word {word.group()}", hint=f"write {word.group().lower()}")
    if word is not None:
        scan.fail(f"unknown word {word.group()}", hint=f"for the member write @.{word.group()}")
    scan.fail(f"expected an operand, found {scan.here()}")


def fail_in_predicate(scan: Scanner, opened: str) -> NoReturn:
    """Say why a filter or group does not end here; ``opened`` names what is open."""
    scan.skip_space()
    word = _LETTERS.match(scan.text, scan.position)
    if scan.at_end():
        scan.fail(f"{opened} is never closed")
    if word is not None and word.group().lower() in ("and", "or", "not"):
        symbol = {"and": "&&", "or": "||", "not": "!"}[word.group().lower()]
        scan.fail(f"unknown word {word.group()}", hint=f"write {symbol}")
    if word is not None:
        scan.fail(
            f"unknown operator {word.group()}",
            hint="there are == != < > <= >= ~= in nin size anyOf noneOf subsetOf",
        )
    if scan.sees("="):
        scan.fail("a single = is no operator", hint="write ==")
    if scan.sees("&") or scan.sees("|"):
        scan.fail(f"unknown operator {scan.here()}", hint="write && or ||")
    if scan.text[scan.position] in "+-*/%":
        scan.fail("there is no arithmetic in JSONPath", hint="for jq set syntax: jq")
    if scan.sees("]"):
        scan.fail(f"{opened} is not closed before ']'")
    scan.fail(f"expected ')' for {opened}, found {scan.here()}")
