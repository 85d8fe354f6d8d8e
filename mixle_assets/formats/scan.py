"""What a block of JSON lines may hold, found without parsing it, a few bytes a cycle.

The fast decoder rounds integers beyond 64 bits and passes over repeated keys in silence; these scans say
which blocks need a second look. They never miss one, and are seldom wrong the other way.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONG_DIGITS = re.compile(rb"[0-9]{19}")
_KEY_END = re.compile(rb'(?<!\\)"[ \t\r]*:')
_FOUR_DIGITS = np.uint32(0x01010101)
_ZERO, _TEN = np.uint8(48), np.uint8(10)
_COLON, _QUOTE, _BACKSLASH, _SPACE = np.uint8(58), np.uint8(34), np.uint8(92), np.uint8(32)
# Pieces that stay in the second-level cache, in buffers that are not given back to the system each time.
_PIECE_IN_BYTES = 128 * 1024
_OVERLAP_IN_BYTES = 32
_shifted: NDArray[np.uint8] = np.empty(_PIECE_IN_BYTES, np.uint8)
_flags: NDArray[np.bool_] = np.empty(_PIECE_IN_BYTES, np.bool_)
_groups: NDArray[np.bool_] = np.empty(_PIECE_IN_BYTES // 4, np.bool_)


def may_hold_long_digits(content: bytes) -> bool:
    """Return False only if no 19 ASCII digits stand in a row, so that each integer fits into 64 bits.

    A run of 19 digits fills four neighbouring groups of four bytes, wherever it starts::

        ....|...9|2233|7203|6854|7758|08..
    """
    codes = np.frombuffer(content, np.uint8)
    for start in range(0, len(codes), _PIECE_IN_BYTES - _OVERLAP_IN_BYTES):
        piece = codes[start : start + _PIECE_IN_BYTES]
        size = len(piece) & ~3
        if size < 16:
            continue
        np.subtract(piece[:size], _ZERO, out=_shifted[:size])
        np.less(_shifted[:size], _TEN, out=_flags[:size])
        four = np.equal(_flags[:size].view(np.uint32), _FOUR_DIGITS, out=_groups[: size // 4])
        eight = four[:-1] & four[1:]
        if (eight[:-2] & eight[2:]).any():
            return True
    return False


def has_long_digits(line: bytes) -> bool:
    """Return whether 19 ASCII digits stand in a row in one line."""
    return _LONG_DIGITS.search(line) is not None


def count_keys(content: bytes) -> int:
    """Return how many JSON keys a block holds at most, or -1 where a space stands before a colon.

    Inside a string a quote is escaped, so an unescaped quote before a colon ends a key, or else opens a
    string that starts with a colon. (A key that ends in a backslash is not counted.)
    """
    codes = np.frombuffer(content, np.uint8)
    number = 0
    for start in range(0, len(codes), _PIECE_IN_BYTES):
        piece = codes[start : start + _PIECE_IN_BYTES]
        colons = np.flatnonzero(np.equal(piece, _COLON, out=_flags[: len(piece)])) + start
        before = codes[colons - 1]
        keys = colons[before == _QUOTE]
        spaces = colons[before <= _SPACE]
        if (codes[spaces - 2] <= _QUOTE).any():
            return -1
        number += int(np.count_nonzero(codes[keys - 2] != _BACKSLASH))
    return number


def count_keys_of_line(line: bytes) -> int:
    """Return how many JSON keys one line holds at most, spaces behind them or not."""
    return len(_KEY_END.findall(line))


def count_built_keys(value: Any) -> int:
    """Return how many keys a decoded JSON value has, at all depths."""
    if type(value) is dict:
        number = len(value)
        for item in value.values():
            kind = type(item)
            if kind is dict or kind is list:
                number += count_built_keys(item)
        return number
    if type(value) is list:
        return sum(count_built_keys(item) for item in value if type(item) is dict or type(item) is list)
    return 0
