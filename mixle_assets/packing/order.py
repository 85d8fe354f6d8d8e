"""In which order the documents of an epoch come, and which of them a rank reads.

``global_document_order`` is the order of mixle 0.8.2, bit for bit, and named ``mixle`` in recipes. It has two
known weaknesses, kept for the sake of runs that depend on it: it knows only 2**32 orders, and joins seed and
epoch without saying where one ends, so (seed 5, epoch 7) and (seed 5 + 7 * 2**32, epoch 0) are one order.
``separated_document_order`` has neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixle_assets.manifest import digest_of
from mixle_assets.packing.arguments import MAX_INT64, non_negative, rank_of

SequenceSelector: TypeAlias = Callable[[NDArray[np.int64], int, int], Any]
"""``selector(order, seed, epoch)`` gives the order that is used instead: sorted, filtered, repeated."""


def global_document_order(
    num_documents: int, *, seed: int, epoch: int, sequence_selector: SequenceSelector | None = None
) -> NDArray[Any]:
    """Return the order of the documents in an epoch, the same on every rank and machine.

    Seed 0, epoch 0, five documents: ``[0 3 1 2 4]``; epoch 1: ``[0 1 3 2 4]``.

    Args:
        num_documents: How many there are.
        seed: Decides the order together with ``epoch``.
        epoch: Which pass, from 0.
        sequence_selector: Curriculum hook; what it returns is used as it is. It sees the order of all ranks,
            so it must be the same pure function on each of them. ``selectors.check_selected`` validates.

    Returns:
        The permutation, int64, shape (num_documents,); or what the selector made of it.

    Raises:
        TypeError: An argument is not a number.
        ValueError: An argument is negative, not whole, or there are more than 2**63 - 1 documents.
    """
    number = _num_documents(num_documents)
    whole_seed, whole_epoch = non_negative("seed", seed), non_negative("epoch", epoch)
    # RandomState, not default_rng: NumPy freezes its stream, so an order recorded today survives an upgrade.
    state = int(np.random.SeedSequence([whole_seed, whole_epoch]).generate_state(1)[0])
    order = np.random.RandomState(state).permutation(number).astype(np.int64, copy=False)
    return _selected(order, whole_seed, whole_epoch, sequence_selector)


def separated_document_order(
    num_documents: int, *, seed: int, epoch: int, sequence_selector: SequenceSelector | None = None
) -> NDArray[Any]:
    """Return the order named ``separated``: 128 bits of state, and no two (seed, epoch) share one by rule.

    Arguments, result and errors are those of ``global_document_order``.
    """
    number = _num_documents(num_documents)
    whole_seed, whole_epoch = non_negative("seed", seed), non_negative("epoch", epoch)
    # As text: a seed may have more than 64 bits. The name keeps other uses of the seed apart from this one.
    key = int(digest_of(["mixle_assets.document_order/1", str(whole_seed), str(whole_epoch)]), 16)
    words = [key >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    order = np.random.RandomState(words).permutation(number).astype(np.int64, copy=False)
    return _selected(order, whole_seed, whole_epoch, sequence_selector)


ORDERS = {"mixle": global_document_order, "separated": separated_document_order}
"""Name of an order in a recipe to the function that makes it."""


def shard_documents_for_rank(order: ArrayLike, rank: int, world_size: int) -> NDArray[Any]:
    """Return what a rank reads of an order: positions rank, rank + world_size and so on.

    Order ``[4 2 0 3 1]`` for two ranks: ``[4 0 1]`` and ``[2 3]``. The result is a view.

    Raises:
        TypeError: ``rank`` or ``world_size`` is not a number.
        ValueError: ``world_size`` is not positive, or ``rank`` is not from 0 to ``world_size`` - 1.
        IndexError: ``order`` is a single value.
    """
    reader, number = rank_of(rank, world_size)
    return np.asarray(order)[reader::number]


def _num_documents(num_documents: int) -> int:
    number = non_negative("num_documents", num_documents)
    if number > MAX_INT64:
        raise ValueError(f"num_documents must be at most {MAX_INT64}, got {number}")
    return number


def _selected(
    order: NDArray[np.int64], seed: int, epoch: int, selector: SequenceSelector | None
) -> NDArray[Any]:
    return order if selector is None else np.asarray(selector(order, seed, epoch))
