"""One JSON row from bytes and back: the fast decoders, and the exact one behind them.

Which fields a row must have is known in ``documents`` and ``attributes``.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import msgspec
import orjson

from mixle_assets.records import Counts

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the fast decoder raises for a line that it does not take."""
REPLACEMENT = "\ufffd"
_SURROGATES = re.compile("[\ud800-\udfff]")


class MalformedRowError(ValueError):
    """A line is no JSON that we take; the reader adds the place, or counts it."""


def decode_exactly(line: bytes, counts: Counts) -> Any:
    """Decode one JSON value slowly and exactly: integers of any length, lone surrogates made U+FFFD.

    Notes ``lone_surrogates`` (characters replaced) and ``duplicate_keys`` (keys that a later one overwrote).

    Raises:
        MalformedRowError: Not UTF-8, not JSON, or a number that is not finite.
    """
    surrogates = duplicates = 0

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates, surrogates
        built = {}
        for key, value in pairs:
            if not key.isascii():
                key, replaced = _SURROGATES.subn(REPLACEMENT, key)
                surrogates += replaced
            built[key] = clean(value)
        duplicates += len(pairs) - len(built)
        return built

    def clean(value: Any) -> Any:
        nonlocal surrogates
        if type(value) is str and not value.isascii():
            value, replaced = _SURROGATES.subn(REPLACEMENT, value)
            surrogates += replaced
        elif type(value) is list:
            value = [clean(item) for item in value]
        return value

    try:
        value = clean(
            json.loads(
                line.decode("utf-8"), object_pairs_hook=build, parse_constant=_refuse, parse_float=_finite
            )
        )
    except UnicodeDecodeError as error:
        raise MalformedRowError(
            f"not UTF-8: byte {line[error.start]:#04x} at byte {error.start + 1} of the line"
        ) from error
    except RecursionError as error:
        raise MalformedRowError("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise MalformedRowError(f"not JSON: {error.msg} at character {error.colno} of the line") from error
    except ValueError as error:
        raise MalformedRowError(str(error)) from error
    counts.note("lone_surrogates", surrogates)
    counts.note("duplicate_keys", duplicates)
    return value


def encode_row(row: Any) -> bytes:
    """Return one JSON value as compact UTF-8 without newline: key order kept, no needless escapes.

    Raises:
        TypeError: The value is not plain JSON.
    """
    try:
        return orjson.dumps(row)
    except TypeError:
        # orjson stops at 64 bits; msgspec writes integers of any length. It would write NaN as null.
        return msgspec.json.encode(row)


def encode_line(row: Any) -> bytes:
    """Return ``encode_row(row)`` with a newline behind it."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return msgspec.json.encode(row) + b"\n"


def _refuse(constant: str) -> NoReturn:
    raise MalformedRowError(f"{constant} is no JSON number")


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise MalformedRowError(f"the number {literal} is beyond a double")
    return value
