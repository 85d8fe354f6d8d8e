"""Curriculum hooks: one of ours or a user's function, as a recipe names it; and the check of what it returns.

A selector is called as mixle calls it, ``selector(order, seed, epoch)``, with positions in the pool, before
the split into ranks. What it returns must be such positions again.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import RecipeError
from mixle_assets.packing.curricula import CURRICULA, PoolFacts
from mixle_assets.packing.order import SequenceSelector

_KEY = "packing.selector"


@dataclass(frozen=True)
class RecipeSelector:
    """A selector as a recipe names it; becomes a function once there is a pool.

    Attributes:
        name: A name of ours, or a dotted path such as ``my_pkg.curricula.easy_first``.
        parameters: Handed to it by keyword; ``repeats: true`` lets a function of the user's repeat positions.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def plain(self) -> Any:
        """Return it as it stands in YAML: the name alone, or a mapping."""
        return {"selector": self.name, **dict(self.parameters)} if self.parameters else self.name

    @property
    def attribute(self) -> str | None:
        """Key of the attribute whose scores it needs, or None."""
        return dict(self.parameters).get("attribute") if self.name == "by_score" else None

    def bind(self, facts: PoolFacts) -> SequenceSelector:
        """Return the function for one pool; what it returns is checked."""
        parameters = dict(self.parameters)
        if self.name in CURRICULA:
            curriculum = functools.partial(CURRICULA[self.name], facts=facts, **parameters)
            return CheckedSelector(lambda order, seed, epoch: curriculum(order, epoch))
        repeats = bool(parameters.pop("repeats", False))
        function = load_function(self.name)
        return CheckedSelector(functools.partial(function, **parameters), repeats)


def recipe_selector(use: Any) -> RecipeSelector | None:
    """Return the selector a recipe names.

    Args:
        use: None, a name, ``{"selector": name, parameter: value}``, or an object with both as attributes.

    Raises:
        RecipeError: No such name or function, or a parameter that it does not take.
    """
    if use is None:
        return None
    if isinstance(use, str):
        name, parameters = use, {}
    elif isinstance(use, Mapping):
        parameters = dict(use)
        name = parameters.pop("selector", None)
    else:
        name, parameters = use.selector, dict(use.parameters)
    if not isinstance(name, str):
        raise RecipeError(f"names no selector: {use!r}", key=_KEY)
    function = CURRICULA[name] if name in CURRICULA else load_function(name)
    known = inspect.signature(function).parameters
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    taken = {one.name for one in known.values() if one.kind is inspect.Parameter.KEYWORD_ONLY}
    if name not in CURRICULA:
        taken |= {"repeats", *list(known)[3:]}
    for parameter in parameters:
        if parameter not in taken and not takes_all:
            raise RecipeError(
                f"{name} takes no {parameter!r}, but {', '.join(sorted(taken)) or 'nothing'}", key=_KEY
            )
    if name == "by_score" and "attribute" not in parameters:
        raise RecipeError("by_score needs an attribute: {selector: by_score, attribute: <key>}", key=_KEY)
    # Lists as tuples: a selector read back from a file equals the one that was written.
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    return RecipeSelector(name, tuple(sorted(frozen.items())))


def load_function(name: str) -> Callable[..., Any]:
    """Return the function at a dotted path.

    Raises:
        RecipeError: There is no such module or function.
    """
    module_name, _, function_name = name.rpartition(".")
    if not module_name:
        raise RecipeError(
            f"{name!r} is neither a dotted path nor one of {', '.join(sorted(CURRICULA))}", key=_KEY
        )
    try:
        found = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        raise RecipeError(f"{name!r} cannot be imported: {error}", key=_KEY) from error
    if not callable(found):
        raise RecipeError(f"{name!r} is not a function but {found!r}", key=_KEY)
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
