"""Curriculum hooks: a user's function, or one of ours, that changes the order of an epoch; and its check.

A selector is called as mixle calls it, ``selector(order, seed, epoch)``, with positions in the pool, before
the split into ranks. What it returns must be such positions again.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import RecipeError
from mixle_assets.packing.order import SequenceSelector


def load_selector(name: str) -> SequenceSelector:
    """Return the function at a dotted path such as ``my_pkg.curricula.short_first``.

    Raises:
        RecipeError: There is no such module or function.
    """
    module_name, _, function_name = name.rpartition(".")
    if not module_name:
        raise RecipeError(
            f"{name!r} is no dotted path, such as my_pkg.curricula.short_first", key="packing.selector"
        )
    try:
        found = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        raise RecipeError(f"{name!r} cannot be imported: {error}", key="packing.selector") from error
    if not callable(found):
        raise RecipeError(f"{name!r} is not a function but {found!r}", key="packing.selector")
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class CheckedSelector:
    """A selector whose results are checked by ``check_selected``.

    Attributes:
        selector: The function.
        repeats: Whether it may give a position more than once.
    """

    selector: SequenceSelector
    repeats: bool = False

    def __call__(self, order: NDArray[np.int64], seed: int, epoch: int) -> NDArray[np.int64]:
        """Return what the selector returns, checked; it may do as it likes with its copy of the order."""
        return check_selected(self.selector(order.copy(), seed, epoch), len(order), repeats=self.repeats)


def check_selected(selected: Any, num_documents: int, *, repeats: bool = False) -> NDArray[np.int64]:
    """Return what a selector returned, if it is a list of positions.

    Args:
        selected: What it returned.
        num_documents: Positions there are.
        repeats: Whether a position may come more than once.

    Returns:
        int64, 1-D; leaving positions out is what selectors are for.

    Raises:
        ValueError: Not 1-D, not whole numbers, out of range, or repeated; the place is named.
    """
    order = np.asarray(selected)
    if order.ndim != 1:
        raise ValueError(f"the selector must return one list of positions, got shape {order.shape}")
    if order.size == 0:
        return np.empty(0, np.int64)
    if order.dtype.kind not in "iu":
        raise ValueError(f"the selector must return whole numbers, got {order.dtype}")
    wrong = np.flatnonzero((order < 0) | (order >= num_documents))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"the selector returned {order[at]} at place {at}; positions are 0 to {num_documents - 1}"
        )
    order = order.astype(np.int64, copy=False)
    if not repeats:
        seen = np.bincount(order, minlength=num_documents)
        if seen.max() > 1:
            twice = int(seen.argmax())
            raise ValueError(f"the selector returned position {twice} {int(seen[twice])} times")
    return order
