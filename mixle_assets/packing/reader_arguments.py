"""What a ``StreamingCorpus`` uses where nothing is given, and what it refuses when asked to be strict."""

from __future__ import annotations

from typing import Any, Final

from mixle_assets.packing.corpus import Corpus
from mixle_assets.packing.selectors import RecipeSelector
from mixle_assets.packing.strict import StrictDocuments


class _Unset:
    def __repr__(self) -> str:
        return "<the corpus's own>"


UNSET: Final[Any] = _Unset()
"""Stands for an argument that was not given."""

_NO_DEFAULT = ("world_size", "block", "batch_size")
_MIXLE_DEFAULTS: dict[str, Any] = {
    "seed": 0,
    "pad_id": 0,
    "boundary_id": None,
    "sequence_selector": None,
    "order": "mixle",
    "residency": "documents",
    "equalize": "none",
    "strategy": "concatenate",
}


def reader_arguments(documents: Any, **arguments: Any) -> dict[str, Any]:
    """Return the arguments with a stored corpus's own, or mixle's, in place of those not given.

    Raises:
        TypeError: Over a plain sequence, one that mixle demands was not given.
    """
    given = {name: value for name, value in arguments.items() if value is not UNSET}
    defaults = documents.defaults() if isinstance(documents, Corpus) else _MIXLE_DEFAULTS
    if missing := [name for name in _NO_DEFAULT if name not in given and name not in defaults]:
        raise TypeError(f"StreamingCorpus() is missing the keyword arguments {', '.join(missing)}")
    return {**defaults, **given}


def check_reader(documents: Any, selector: Any) -> None:
    """Refuse documents that are no sequence, and a selector that is no function.

    Raises:
        TypeError: Either is something else.
    """
    if not isinstance(documents, Corpus):
        StrictDocuments(documents)
    if selector is not None and not callable(selector) and not isinstance(selector, RecipeSelector):
        raise TypeError(f"sequence_selector must be callable, got {selector!r}")
