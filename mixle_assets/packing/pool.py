"""Which documents an epoch holds, and how often each: weights turned into exact whole numbers.

Weight 1.3 means each document once and three tenths of them once more. Which three tenths is decided by a
hash of seed, stream, id and position, so it does not depend on what else is in the recipe, and is the same in
each epoch unless the stream says ``resample``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from mixle_assets.formats.doc_batches import encode_id
from mixle_assets.packing.arguments import non_negative
from mixle_assets.records import DocumentId


@dataclass(frozen=True)
class PoolStream:
    """One stream as a source of the pool.

    Attributes:
        name: Name in the recipe.
        num_documents: Documents it has.
        weight: Copies an epoch.
        resample: Whether the fraction is drawn anew in each epoch.
    """

    name: str
    num_documents: int
    weight: float = 1.0
    resample: bool = False

    @property
    def quota(self) -> tuple[int, int]:
        """Whole copies, and documents that come once more: weight 1.3 of 10 documents is ``(1, 3)``.

        Computed with the decimal number that was written: 1.3 has no last digits here. Halves go to the even
        number, as Python's ``round`` does.
        """
        weight = Fraction(str(self.weight))
        copies = weight.numerator // weight.denominator
        return copies, round((weight - copies) * self.num_documents)

    @property
    def num_entries(self) -> int:
        """Documents of this stream in an epoch, copies counted."""
        copies, extra = self.quota
        return copies * self.num_documents + extra


def pool_documents(
    streams: Sequence[PoolStream],
    ids_of: Callable[[int], Iterable[DocumentId]],
    *,
    seed: int,
    epoch: int,
) -> NDArray[Any] | None:
    """Return the documents of an epoch before they are put in order.

    Streams come one after another; a stream's whole copies one after another, then its sampled documents in
    their own order. Streams of 3 and 2 documents with weights 1 and 1.5: ``[0 1 2 3 4 4]``.

    Args:
        streams: In the order of the recipe.
        ids_of: Gives the ids of the documents of stream number k; called only where a fraction is drawn.
        seed: The recipe's.
        epoch: Which pass; matters only for streams with ``resample``.

    Returns:
        Document numbers, counted through all streams; None where that is each document once, in order.
    """
    seed, epoch = non_negative("seed", seed), non_negative("epoch", epoch)
    if all(stream.quota == (1, 0) for stream in streams):
        return None
    dtype = number_dtype(sum(stream.num_documents for stream in streams))
    parts: list[NDArray[Any]] = [np.empty(0, dtype)]
    first = 0
    for number, stream in enumerate(streams):
        copies, extra = stream.quota
        own = np.arange(first, first + stream.num_documents, dtype=dtype)
        parts += [own] * copies
        if extra:
            chosen = choose_documents(
                ids_of(number), extra, seed=seed, stream=stream.name, epoch=epoch if stream.resample else None
            )
            parts.append(own[chosen])
        first += stream.num_documents
    return np.concatenate(parts)


def choose_documents(
    ids: Iterable[DocumentId], number: int, *, seed: int, stream: str, epoch: int | None
) -> NDArray[np.int64]:
    """Return the positions of the ``number`` documents with the smallest hash, ascending.

    The hash is XXH3-64 of seed, stream, epoch (only where it matters), position and id; where two are equal,
    the earlier position counts as smaller.
    """
    head = f"mixle_assets.pool/1\0{seed}\0{'' if epoch is None else epoch}\0{stream}\0"
    digest = xxhash.xxh3_64_intdigest
    hashes = np.fromiter(
        (
            digest(f"{head}{position}\0{encode_id(document_id)}".encode())
            for position, document_id in enumerate(ids)
        ),
        np.uint64,
    )
    return np.sort(np.argsort(hashes, kind="stable")[:number])


def number_dtype(num_documents: int) -> type[np.uint32] | type[np.int64]:
    """Return the dtype that document numbers are kept in: 4 bytes where they suffice."""
    return np.uint32 if num_documents <= 2**32 else np.int64


def multiplicities(order: NDArray[Any], num_documents: int) -> NDArray[np.int64]:
    """Return how often each document stands in an order, shape (num_documents,)."""
    counted = np.zeros(num_documents, np.int64)
    for at in range(0, len(order), 2**24):
        counted += np.bincount(order[at : at + 2**24], minlength=num_documents)
    return counted
