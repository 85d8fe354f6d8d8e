"""The one rule by which every number handed to this package is taken.

A whole number is an ``int``, a NumPy integer, or a float without a fraction. A flag is not a number, text is
not, nor is an array. Ranges are checked here too, so that no function checks its arguments twice.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)


def whole_number(name: str, value: Any) -> int:
    """Return ``value`` as an int: ``3``, ``np.uint8(3)`` and ``3.0`` are 3.

    Raises:
        TypeError: A flag, text, None, array or any other thing that is not a plain number.
        ValueError: A float that is infinite, NaN, or has a fraction.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a whole number, got {value!r} of type {type(value).__name__}")
    if isinstance(value, int | np.integer):
        return int(value)
    if not math.isfinite(value) or value != math.floor(value):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value)


def positive(name: str, value: Any) -> int:
    """Return a whole number from 1."""
    number = whole_number(name, value)
    if number < 1:
        raise ValueError(f"{name} must be positive, got {number}")
    return number


def non_negative(name: str, value: Any) -> int:
    """Return a whole number from 0."""
    number = whole_number(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}")
    return number


def token_id(name: str, value: Any) -> int:
    """Return a whole number that fits int64, of any sign."""
    number = whole_number(name, value)
    if not MIN_INT64 <= number <= MAX_INT64:
        raise ValueError(f"{name} must fit in 64 bits, got {number}")
    return number


def optional_token_id(name: str, value: Any) -> int | None:
    """Return a token id, or None for none."""
    return None if value is None else token_id(name, value)


def rank_of(rank: Any, world_size: Any) -> tuple[int, int]:
    """Return rank and world size; the rank is below the world size."""
    number = positive("world_size", world_size)
    reader = non_negative("rank", rank)
    if reader >= number:
        raise ValueError(f"rank must be below world_size {number}, got {reader}")
    return reader, number
