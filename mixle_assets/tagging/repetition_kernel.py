"""Find what is repeated at once: a unit of characters that stands four times in a row.

Compiled with numba where it is installed; without it the same functions run as plain Python, with the same
values, tens of times slower. What becomes of the findings stands in ``repetitions``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import numba
except ImportError:

    def compiled(function: Any) -> Any:
        """Leave the function as it is: numba is not installed."""
        return function
else:

    def compiled(function: Any) -> Any:
        """Compile the function, and keep the result beside the module."""
        return numba.njit(cache=True, nogil=True)(function)


_SHORT = 8
"""Units below this length are tried one by one; longer ones only where their first characters come again."""
_GRAMS = (8, 64, 512, 4096)
"""A unit of at least so many characters is looked for where that many come again near by."""
LONGEST_UNIT = 8 * _GRAMS[-1] - 1
"""Longest unit that is looked for, in characters."""
_WINDOW = 1 << 20
_AHEAD = 4 * (LONGEST_UNIT + 1)


def find_repeated_units(text: str) -> list[tuple[int, int, int]]:
    r"""Return start, end and number of copies of every repetition, in time about proportional to the text.

    What is found is what the pattern ``(.+?)(?:\s?\1){3,}`` matches from left to right: the shortest unit
    without a line feed that stands four times or more in a row, one white space allowed before each copy.
    Copies are then counted without overlap, whatever lies between::

        "no no no no end"    [(0, 11, 4)]

    A backtracking engine takes quadratic time and more, since it tries every length at every place. Units
    longer than ``LONGEST_UNIT`` are not looked for: on such lines that engine does not come to an end.
    """
    if len(text) < 4:
        return []
    characters = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    spaces = _is_space(characters)
    size = min(len(text), _WINDOW + _AHEAD)
    hashes = np.zeros(size + 1, np.uint64)
    following = np.zeros((len(_GRAMS), size), np.int32)
    table = np.zeros(max(1024, 1 << (2 * size - 1).bit_length()), np.int32)
    found = (
        np.zeros((_WINDOW // 4 + 1, 3), np.int64)
        if size > 1 << 16
        else np.zeros((size // 4 + 1, 3), np.int64)
    )
    rows: list[tuple[int, int, int]] = []
    start = 0
    with np.errstate(over="ignore"):
        for window in range(0, len(text), _WINDOW):
            stop = min(window + _WINDOW, len(text))
            if start < stop:
                num_found, start = _find_units(
                    characters, spaces, window, max(start, window), stop, hashes, following, table, found
                )
                rows += map(tuple, found[:num_found].tolist())
    return rows


@compiled
def _find_units(characters, spaces, window, start, stop, hashes, following, table, found):  # type: ignore[no-untyped-def]
    """Find the repetitions that begin in [start, stop); return their number and where to go on."""
    size = min(characters.size - window, hashes.size - 1)
    base = np.uint64(0x9E3779B97F4A7C15)
    for k in range(size):
        hashes[k + 1] = hashes[k] * base + np.uint64(characters[window + k]) + np.uint64(1)
    num_levels = _link_grams(characters, window, size, hashes, following, table)
    num_found = 0
    line_end = start
    place = start
    while place < stop:
        if line_end <= place:
            line_end = place
            while line_end < characters.size and characters[line_end] != 10:
                line_end += 1
            if line_end == place:
                place += 1
                continue
        longest = min(line_end - place, (characters.size - place) // 4)
        unit = 0
        end = -1
        first = characters[place]
        for length in range(1, min(longest, 7) + 1):
            after = place + length
            if characters[after] == first or (spaces[after] and characters[after + 1] == first):
                end = _end_of_copies(characters, spaces, place, length, window, hashes)
                if end >= 0:
                    unit = length
                    break
        level = 0
        gram = 8
        while end < 0 and level < num_levels and gram <= longest:
            # A copy begins where the gram comes again: at once, or after one white space.
            other = place
            while end < 0:
                step = following[level, other - window]
                if step == 0:
                    break
                other += step
                distance = other - place
                if distance - 1 >= 8 * gram:
                    break
                for length in (distance - 1, distance):
                    if (
                        gram <= length < 8 * gram
                        and length <= longest
                        and (length == distance or spaces[other - 1])
                    ):
                        end = _end_of_copies(characters, spaces, place, length, window, hashes)
                        if end >= 0:
                            unit = length
                            break
            level += 1
            gram *= 8
        if end < 0:
            place += 1
            continue
        found[num_found, 0] = place
        found[num_found, 1] = end
        found[num_found, 2] = _count_copies(characters, place, end, unit)
        num_found += 1
        place = end
    return num_found, place


@compiled
def _link_grams(characters, window, size, hashes, following, table):  # type: ignore[no-untyped-def]
    """Set ``following[level, k]`` to how far ahead the gram at k comes again, 0 if it does not.

    Returns the number of levels that are worth looking at.
    """
    base = np.uint64(0x9E3779B97F4A7C15)
    longest_line = 0
    line = 0
    for k in range(size):
        line = 0 if characters[window + k] == 10 else line + 1
        longest_line = max(longest_line, line)
    gram = 8
    power = np.uint64(1)
    for _ in range(gram):
        power = power * base
    level = 0
    while level < following.shape[0] and gram <= longest_line and 4 * gram <= size:
        slots = 1024
        while slots < 2 * size:
            slots *= 2
        mask = slots - 1
        table[:slots] = 0
        for k in range(size):
            following[level, k] = 0
        for k in range(size - gram, -1, -1):
            code = hashes[k + gram] - hashes[k] * power
            mixed = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            slot = np.int64(mixed >> np.uint64(32)) & mask
            while table[slot] != 0:
                other = table[slot] - 1
                if hashes[other + gram] - hashes[other] * power == code:
                    following[level, k] = other - k
                    break
                slot = (slot + 1) & mask
            table[slot] = k + 1
        for _ in range(3):
            power = power * power
        gram *= 8
        level += 1
    return level


@compiled
def _end_of_copies(characters, spaces, place, unit, window, hashes):  # type: ignore[no-untyped-def]
    """Return where the copies of the unit at ``place`` end, -1 if there are fewer than four in all.

    As a backtracking engine goes: before each copy first with a white space, then without; once there are
    four, as far as it goes.
    """
    size = characters.size
    for first in (1, 0):
        one = place + unit + first
        if not _follows(characters, spaces, place, unit, one, first, window, hashes):
            continue
        for second in (1, 0):
            two = one + unit + second
            if not _follows(characters, spaces, place, unit, two, second, window, hashes):
                continue
            for third in (1, 0):
                three = two + unit + third
                if not _follows(characters, spaces, place, unit, three, third, window, hashes):
                    continue
                if not (
                    _same(characters, place, one, unit)
                    and _same(characters, place, two, unit)
                    and _same(characters, place, three, unit)
                ):
                    continue
                end = three + unit
                while True:
                    if end + 1 + unit <= size and spaces[end] and _same(characters, place, end + 1, unit):
                        end += 1 + unit
                    elif end + unit <= size and _same(characters, place, end, unit):
                        end += unit
                    else:
                        return end
    return -1


@compiled
def _follows(characters, spaces, place, unit, copy, with_space, window, hashes):  # type: ignore[no-untyped-def]
    """Return whether a copy seems to begin there, by hash; short ones are compared later anyway."""
    if copy + unit > characters.size or (with_space and not spaces[copy - 1]):
        return False
    if characters[copy] != characters[place]:
        return False
    if unit <= 16:
        return _same(characters, place, copy, unit)
    power = np.uint64(1)
    square = np.uint64(0x9E3779B97F4A7C15)
    exponent = unit
    while exponent:
        if exponent & 1:
            power = power * square
        square = square * square
        exponent >>= 1
    a = place - window
    b = copy - window
    return hashes[a + unit] - hashes[a] * power == hashes[b + unit] - hashes[b] * power


@compiled
def _same(characters, a, b, length):  # type: ignore[no-untyped-def]
    for k in range(length):  # noqa: SIM110, numba compiles no generator into all()
        if characters[a + k] != characters[b + k]:
            return False
    return True


@compiled
def _count_copies(characters, start, end, unit):  # type: ignore[no-untyped-def]
    """Return how often the unit at ``start`` occurs up to ``end`` without overlap."""
    copies = 0
    place = start
    while place + unit <= end:
        if _same(characters, start, place, unit):
            copies += 1
            place += unit
        else:
            place += 1
    return copies


def _is_space(characters: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return where there is white space as Python's regular expressions have it."""
    c = characters
    spaces: NDArray[np.bool_] = (c == 32) | (c - np.uint32(9) < 5) | (c - np.uint32(28) < 4)
    if (c > 0x7F).any():
        spaces |= (c == 0x85) | (c == 0xA0) | (c == 0x1680) | (c - np.uint32(0x2000) < 11)
        spaces |= (c == 0x2028) | (c == 0x2029) | (c == 0x202F) | (c == 0x205F) | (c == 0x3000)
    return spaces
