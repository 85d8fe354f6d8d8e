"""What can be told of a block of JSON lines a few bytes a cycle: is it one object a line, with how many keys.

A decoder that takes the whole block at once would take two objects on a line, or one on two; and all fast
decoders pass over repeated keys in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]
Positions = NDArray[np.int64]

_LF, _SPACE, _QUOTE, _COLON, _COMMA, _BACKSLASH, _BRACKET, _OPEN, _CLOSE = np.frombuffer(
    b'\n ":,\\[{}', np.uint8
)
# Pieces that stay in the second-level cache, in a buffer that is not given back to the system each time.
_PIECE_IN_BYTES = 128 * 1024
_LONG_LINE_IN_BYTES = 512
_flags: NDArray[np.bool_] = np.empty(_PIECE_IN_BYTES, np.bool_)


def find_line_ends(content: bytes) -> tuple[Codes, Positions]:
    """Return the bytes of a block as an array, and where its LFs are."""
    codes = np.frombuffer(content, np.uint8)
    # Where lines are long it is cheaper to leap from one end to the next than to mark every byte.
    if content.find(b"\n", 0, _LONG_LINE_IN_BYTES) >= 0:
        return codes, _find(codes, _LF)
    places = []
    find = content.find
    place = find(b"\n")
    while place >= 0:
        places.append(place)
        place = find(b"\n", place + 1)
    return codes, np.array(places, np.int64)


def is_an_object_a_line(codes: Codes, ends: Positions) -> bool:
    """Return whether every LF stands between ``}`` and ``{``, so that no JSON value can go over it.

    Within a value, ``}`` and ``{`` never stand next to each other.
    """
    if not len(ends):
        return True
    inside = ends[0] > 0 and ends[-1] + 1 < len(codes)
    return bool(inside and (codes[ends - 1] == _CLOSE).all() and (codes[ends + 1] == _OPEN).all())


def find_repeated_keys(codes: Codes, ends: Positions, rows: Sequence[Any]) -> list[int]:
    """Return which lines may hold one key twice; some are named in vain, such as a key that ends in a colon.

    Args:
        codes: The bytes of the block.
        ends: Where its LFs are.
        rows: What a decoder made of each line.

    Returns:
        Places in ``rows``, ascending.
    """
    stops = np.append(ends, len(codes))
    num_keys = np.diff(np.searchsorted(_find_key_ends(codes), stops), prepend=0).tolist()
    return [
        place
        for place, (number, row) in enumerate(zip(num_keys, rows, strict=True))
        if number != count_keys(row)
    ]


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


def _find_key_ends(codes: Codes) -> Positions:
    """Return the colons that end a JSON key: behind an unescaped quote, or behind that and one space.

    Inside a string a quote is escaped. One that opens a string, which may start with a colon, stands behind
    a colon, comma, bracket, brace or space.
    """
    colons = _find(codes, _COLON)
    quotes = colons - 1
    spaced = np.flatnonzero(codes[quotes] <= _SPACE)
    quotes[spaced] -= 1
    is_end = codes[quotes] == _QUOTE
    ends, quotes = colons[is_end], quotes[is_end]
    before = codes[quotes - 1]
    is_other = (before == _BACKSLASH) & (codes[quotes - 2] != _BACKSLASH)
    for opening in (_COLON, _COMMA, _BRACKET, _OPEN, _SPACE):
        is_other |= before == opening
    return np.asarray(ends[~is_other], np.int64)


def _find(codes: Codes, code: np.uint8) -> Positions:
    places = []
    for start in range(0, len(codes), _PIECE_IN_BYTES):
        piece = codes[start : start + _PIECE_IN_BYTES]
        places.append(np.flatnonzero(np.equal(piece, code, out=_flags[: len(piece)])) + start)
    return np.concatenate(places) if places else np.empty(0, np.int64)
