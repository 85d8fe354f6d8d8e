"""How the scores of each measure are distributed over a file: what a threshold is chosen by.

Only sums over one file in one order; laying several files together is reporting's work.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLD_EVERY = 4096
"""Scores of one measure that are kept before they are folded into its histogram."""
_UNITS_IN_ONE = 100_000
"""Scores have five decimals."""
_LARGEST_SUM = 2**62


class Distribution:
    """Count, least, greatest, mean and a histogram of the scores of every measure, in constant memory.

    ``documents`` are those with at least one score: a measure of spans has as many scores as it found spans.
    Two buckets lie between one power of two and the next; zero has its own. Scores ``0, 0, 0.3, 5`` give::

        {"count": 4, "documents": 4, "min": 0.0, "max": 5.0, "mean": 1.325,
         "histogram": [[0.0, 0.0, 2], [0.25, 0.375, 1], [4.0, 6.0, 1]]}     # [low, high, count], half-open
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[float]] = {}
        self._folded: dict[str, _Folded] = {}
        self._num_repeated: dict[str, int] = {}

    def scores_of(self, key: str) -> list[float]:
        """Return the list that takes this measure's scores; it is emptied by ``fold``, never replaced."""
        return self._waiting.setdefault(key, [])

    def note_repeated(self, key: str, by: int) -> None:
        """Note that ``by`` scores of a measure are of a document that gave one before."""
        self._num_repeated[key] = self._num_repeated.get(key, 0) + by

    def fold(self, *, all_of_them: bool = False) -> None:
        """Fold long lists away; to be called now and then, so that memory stays bounded."""
        for key, scores in self._waiting.items():
            if len(scores) >= _FOLD_EVERY or (all_of_them and scores):
                self._folded.setdefault(key, _Folded()).add(scores)
                scores.clear()

    def as_json(self) -> dict[str, Any]:
        """Return key to numbers, in alphabetical order: plain JSON, the same for the same scores."""
        self.fold(all_of_them=True)
        return {
            key: self._folded[key].as_json(self._num_repeated.get(key, 0)) for key in sorted(self._folded)
        }


class _Folded:
    def __init__(self) -> None:
        self.count = 0
        self.total = 0  # in units of the last decimal
        self.least = math.inf
        self.greatest = -math.inf
        self.buckets: dict[int, int] = {}

    def add(self, scores: list[float]) -> None:
        values = np.array(scores, np.float64)
        self.count += len(values)
        self.total += _sum_in_units(values)
        self.least = min(self.least, float(values.min()))
        self.greatest = max(self.greatest, float(values.max()))
        # abs(value) = fraction * 2**exponent with 0.5 <= fraction < 1; halves of an octave are 2 and 3.
        fractions, exponents = np.frexp(np.abs(values))
        numbers = np.where(values == 0, 0, (exponents + 1100) * 4 + (fractions * 4).astype(np.int64))
        for number, count in zip(
            *np.unique(np.where(values < 0, -numbers, numbers), return_counts=True), strict=True
        ):
            self.buckets[int(number)] = self.buckets.get(int(number), 0) + int(count)

    def as_json(self, num_repeated: int) -> dict[str, Any]:
        return {
            "count": self.count,
            "documents": self.count - num_repeated,
            "min": self.least,
            "max": self.greatest,
            "mean": round(self.total / (self.count * _UNITS_IN_ONE), 6),
            "histogram": [[*_bounds(number), self.buckets[number]] for number in sorted(self.buckets)],
        }


def _sum_in_units(values: NDArray[np.float64]) -> int:
    """Return the sum of scores in units of their last decimal: whole numbers, so no cut changes it."""
    with np.errstate(over="ignore"):
        units = np.rint(values * _UNITS_IN_ONE)
    if np.abs(units).max() < _LARGEST_SUM / len(units):
        return int(units.astype(np.int64).sum())
    return sum(
        int(unit) if math.isfinite(unit) else int(value) * _UNITS_IN_ONE
        for unit, value in zip(units.tolist(), values.tolist(), strict=True)
    )


def _bounds(number: int) -> tuple[float, float]:
    """Return low and high of a bucket; a negative one is the mirror of its positive."""
    if number == 0:
        return 0.0, 0.0
    octave, half = divmod(abs(number), 4)
    low = math.ldexp(half / 4, octave - 1100)
    is_last = octave - 1100 == sys.float_info.max_exp and half == 3
    high = sys.float_info.max if is_last else math.ldexp((half + 1) / 4, octave - 1100)
    return (low, high) if number > 0 else (-high, -low)
