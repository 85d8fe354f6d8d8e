"""Which lines of a block need a second look, found a few bytes a cycle without parsing them again.

The fast decoder rounds integers beyond 64 bits and passes over repeated keys in silence. No such integer is
missed here; a repeated key could be only where two rare spellings cancel out, and costs a count, no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]

_DIGITS = re.compile(rb"[0-9]*")
_FOUR_DIGITS = np.uint32(0x01010101)
_ZERO, _TEN = np.uint8(48), np.uint8(10)
_LF, _SPACE, _QUOTE, _COLON, _BACKSLASH = (np.uint8(code) for code in b'\n ":\\')
_LONG = 19  # digits: what has fewer fits into 64 bits
# Pieces that stay in the second-level cache, in buffers that are not given back to the system each time.
_PIECE_IN_BYTES = 128 * 1024
_OVERLAP_IN_BYTES = 32
_shifted: NDArray[np.uint8] = np.empty(_PIECE_IN_BYTES, np.uint8)
_flags: NDArray[np.bool_] = np.empty(_PIECE_IN_BYTES, np.bool_)
_groups: NDArray[np.bool_] = np.empty(_PIECE_IN_BYTES // 4, np.bool_)


def find_suspicious_lines(content: bytes, rows: Sequence[Any]) -> list[int]:
    """Return which lines of a block may hold an integer beyond 64 bits, or one key twice.

    Args:
        content: The lines, joined by LF.
        rows: What the fast decoder made of each.

    Returns:
        Places in ``rows``, ascending.
    """
    codes = np.frombuffer(content, np.uint8)
    ends = np.append(_find(codes, _LF), len(codes))
    found = set(np.searchsorted(ends, _find_long_integers(content, codes)).tolist())
    num_keys = np.diff(np.searchsorted(_find_key_ends(codes), ends), prepend=0).tolist()
    for place, (number, row) in enumerate(zip(num_keys, rows, strict=True)):
        if number != count_keys(row):
            found.add(place)
    return sorted(found)


def count_keys(value: Any) -> int:
    """Return how many keys a decoded JSON value has, at all depths."""
    if type(value) is dict:
        number = len(value)
        for item in value.values():
            kind = type(item)
            if kind is dict or kind is list:
                number += count_keys(item)
        return number
    if type(value) is list:
        return sum(count_keys(item) for item in value if type(item) is dict or type(item) is list)
    return 0


def _find_long_integers(content: bytes, codes: NDArray[np.uint8]) -> list[int]:
    """Return where runs of 19 digits or more start that may be a JSON integer.

    A run of 19 digits fills four neighbouring groups of four bytes, wherever it starts::

        ....|...9|2233|7203|6854|7758|08..
    """
    places = []
    for start in range(0, len(codes), _PIECE_IN_BYTES - _OVERLAP_IN_BYTES):
        piece = codes[start : start + _PIECE_IN_BYTES]
        size = len(piece) & ~3
        if size < 16:
            continue
        np.subtract(piece[:size], _ZERO, out=_shifted[:size])
        np.less(_shifted[:size], _TEN, out=_flags[:size])
        four = np.equal(_flags[:size].view(np.uint32), _FOUR_DIGITS, out=_groups[: size // 4])
        eight = four[:-1] & four[1:]
        groups = np.flatnonzero(eight[:-2] & eight[2:])
        if len(groups):
            first_of_run = np.diff(groups, prepend=-2) > 1
            places += [start + 4 * group for group in groups[first_of_run].tolist()]
    found = []
    for place in places:
        first = place
        while first and content[first - 1 : first].isdigit():
            first -= 1
        last = _DIGITS.match(content, first).end()  # type: ignore[union-attr]  # matches anything
        # A fraction, or a mantissa, is a float: its value is kept by any decoder. So is a string.
        if (
            last - first >= _LONG
            and content[last : last + 1] not in (b".", b"e", b"E", b'"')
            and content[first - 1 : first] not in (b".", b'"')
        ):
            found.append(first)
    return found


def _find_key_ends(codes: NDArray[np.uint8]) -> Positions:
    """Return the colons that end a JSON key: behind an unescaped quote, or behind that and one space.

    Inside a string a quote is escaped; so what is found beyond keys are strings that start with a colon.
    """
    colons = _find(codes, _COLON)
    quotes = colons - 1
    spaced = np.flatnonzero(codes[quotes] <= _SPACE)
    quotes[spaced] -= 1
    is_end = codes[quotes] == _QUOTE
    ends: Positions = colons[is_end]
    quotes = quotes[is_end]
    is_escaped = (codes[quotes - 1] == _BACKSLASH) & (codes[quotes - 2] != _BACKSLASH)
    return ends[~is_escaped]


def _find(codes: NDArray[np.uint8], code: np.uint8) -> Positions:
    places = []
    for start in range(0, len(codes), _PIECE_IN_BYTES):
        piece = codes[start : start + _PIECE_IN_BYTES]
        places.append(np.flatnonzero(np.equal(piece, code, out=_flags[: len(piece)])) + start)
    return np.concatenate(places) if places else np.empty(0, np.int64)
