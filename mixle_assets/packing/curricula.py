"""The orders that a recipe can ask for by name instead of a shuffle: by length, stream or score.

Each is a function of the shuffled order and of facts about the pool; documents that are alike in what it
looks at keep their shuffled order, so epochs differ. A user's own curriculum is a function at a dotted
path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import RecipeError


@dataclass(frozen=True)
class PoolFacts:
    """What a curriculum may look at.

    Attributes:
        documents: Document number at each position of the pool; None where they are the same.
        lengths: Tokens of each document, by document number.
        stream_names: In the order of the recipe.
        stream_starts: Number of the first document of each stream, and at the end how many there are.
        scores: Score of each document, by document number; None where no attribute was named.
    """

    documents: NDArray[Any] | None
    lengths: NDArray[np.int64]
    stream_names: tuple[str, ...]
    stream_starts: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None

    def at(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Return the document numbers at positions of the pool."""
        return positions if self.documents is None else self.documents[positions]


Curriculum = Callable[..., NDArray[np.int64]]


def shortest_first(order: NDArray[np.int64], epoch: int, facts: PoolFacts) -> NDArray[np.int64]:
    """Sort by length, short documents first."""
    return order[np.argsort(facts.lengths[facts.at(order)], kind="stable")]


def longest_first(order: NDArray[np.int64], epoch: int, facts: PoolFacts) -> NDArray[np.int64]:
    """Sort by length, long documents first."""
    return order[np.argsort(-facts.lengths[facts.at(order)], kind="stable")]


def length_buckets(
    order: NDArray[np.int64],
    epoch: int,
    facts: PoolFacts,
    *,
    edges: Sequence[int] = (),
    descending: bool = False,
) -> NDArray[np.int64]:
    """Take documents in buckets of similar length, shuffled inside each.

    Args:
        order: The shuffled order.
        epoch: Which pass.
        facts: Of the pool.
        edges: Lengths in tokens where a bucket ends, ascending; without any, the powers of two.
        descending: Long documents first.
    """
    lengths = facts.lengths[facts.at(order)]
    if list(edges) != sorted(set(edges)):
        raise RecipeError(f"edges must ascend, got {list(edges)}", key="packing.selector")
    if edges:
        buckets = np.searchsorted(np.array(edges, np.int64), lengths, side="left")
    else:
        buckets = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    return order[np.argsort(-buckets if descending else buckets, kind="stable")]


def stream_after_stream(
    order: NDArray[np.int64], epoch: int, facts: PoolFacts, *, streams: Sequence[str] = ()
) -> NDArray[np.int64]:
    """Take one stream after another, shuffled inside each.

    Args:
        order: The shuffled order.
        epoch: Which pass.
        facts: Of the pool.
        streams: Their names in the order wanted; without any, as in the recipe. All must be named.
    """
    names = list(streams) or list(facts.stream_names)
    if sorted(names) != sorted(facts.stream_names):
        raise RecipeError(
            f"streams must be {', '.join(facts.stream_names)} in some order, got {', '.join(names)}",
            key="packing.selector",
        )
    ranks = np.array([names.index(name) for name in facts.stream_names])
    return order[np.argsort(ranks[_streams(order, facts)], kind="stable")]


def interleave_streams(order: NDArray[np.int64], epoch: int, facts: PoolFacts) -> NDArray[np.int64]:
    """Spread each stream evenly over the epoch, so that every part of it has the mixture of the whole.

    Streams of 4 and 2 documents: ``a b a a b a``.
    """
    streams = _streams(order, facts)
    place = np.empty(len(order))
    for stream in range(len(facts.stream_names)):
        own = np.flatnonzero(streams == stream)
        place[own] = (np.arange(len(own)) + 0.5) / max(1, len(own))
    return order[np.lexsort((streams, place))]


def by_score(
    order: NDArray[np.int64], epoch: int, facts: PoolFacts, *, attribute: str, descending: bool = False
) -> NDArray[np.int64]:
    """Sort by the score a tagger gave each document.

    Args:
        order: The shuffled order.
        epoch: Which pass.
        facts: Of the pool.
        attribute: Key of the attribute; the score is that of its first span.
        descending: High scores first.
    """
    if facts.scores is None:
        raise RecipeError(f"no scores of {attribute} were read", key="packing.selector")
    scores = facts.scores[facts.at(order)]
    return order[np.argsort(-scores if descending else scores, kind="stable")]


CURRICULA: dict[str, Curriculum] = {
    function.__name__: function
    for function in (
        shortest_first,
        longest_first,
        length_buckets,
        stream_after_stream,
        interleave_streams,
        by_score,
    )
}
"""Name in a recipe to curriculum."""


def _streams(order: NDArray[np.int64], facts: PoolFacts) -> NDArray[np.int64]:
    return np.searchsorted(facts.stream_starts, facts.at(order), side="right") - 1
