"""Documents that are near each other, joined into clusters of which one member stays.

Candidates come from bands: two documents whose signatures agree in all rows of one band are compared, and
joined if the signatures agree enough. Being near is passed on: A~B and B~C put A, B and C into one cluster,
whose root is its best member, so that a member of a reference set is the root wherever there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_digest

COMPARED_WITH = 1000
"""Earlier members of a group, with different signatures, that each is compared with: bounds a huge group."""


class Clusters:
    """Disjoint sets of numbers; the root of each is its smallest member.

    Numbers are ranks: the smaller survives. Joining by size would be a little faster and lose that.
    """

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def root(self, member: int) -> int:
        """Return the smallest member of the cluster that ``member`` is in; alone, itself."""
        root = member
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while (parent := self._parents.get(member, member)) != root:
            self._parents[member] = root
            member = parent
        return root

    def join(self, one: int, other: int) -> None:
        """Put two clusters together."""
        first, second = sorted((self.root(one), self.root(other)))
        self._parents[first] = first
        self._parents[second] = first

    def members(self) -> list[tuple[int, int]]:
        """Return every number that was joined to another, with its root, in rising order."""
        return [(member, self.root(member)) for member in sorted(self._parents)]


class NearMatches(NamedTuple):
    """Documents that are near a better one: positions, rising, the root of their cluster, how near they are.

    The similarity is the agreement of the two signatures; along a chain it may lie below the threshold.
    """

    positions: NDArray[np.int64]
    roots: NDArray[np.int64]
    similarities: NDArray[np.float32]

    def between(self, start: int, stop: int) -> NearMatches:
        """Return those with ``start <= position < stop``."""
        here = slice(*np.searchsorted(self.positions, [start, stop]))
        return NearMatches(self.positions[here], self.roots[here], self.similarities[here])

    def matched_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the roots in ``start <= position < stop``: unique, rising."""
        return np.unique(self.roots[(self.roots >= start) & (self.roots < stop)])


NO_NEAR_MATCHES = NearMatches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def band_hashes(signatures: NDArray[np.uint32], num_bands: int) -> NDArray[np.uint8]:
    """Return a hash for each band of each signature, uint8 of shape (documents · bands, 16).

    Zeros for a document without shingles, whose signature is the largest value everywhere.
    """
    hashes = b"".join(
        [
            xxh3_128_digest(band.tobytes(), seed=number)
            for row in np.ascontiguousarray(signatures)
            for number, band in enumerate(np.split(row, num_bands))
        ]
    )
    found = np.frombuffer(hashes, np.uint8).reshape(-1, 16).copy()
    is_empty = (signatures == np.iinfo(np.uint32).max).all(axis=1)
    found[np.repeat(is_empty, num_bands)] = 0
    return found


def join_candidates(
    groups: Iterable[NDArray[np.int64]],
    signatures: Callable[[NDArray[np.int64]], NDArray[np.uint32]],
    ranks: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    *,
    min_similarity: float,
    keep_one: bool,
) -> NearMatches:
    """Compare the members of each group, join those that are near, and mark all but the best of a cluster.

    Args:
        groups: Positions of documents that share a band, at least two in each.
        signatures: Positions to their signatures.
        ranks: Positions to their ranks: the lowest rank, then the lowest position, stays.
        min_similarity: Agreement of signatures from which on two documents are near.
        keep_one: Whether the best of a cluster stays unmarked.
    """
    near: list[tuple[int, int]] = []
    for group in groups:
        near.extend(_near_pairs(group, signatures(group), min_similarity))
    if not near:
        return NO_NEAR_MATCHES
    positions = np.unique(np.array(near, np.int64))
    positions = positions[np.lexsort((positions, ranks(positions)))]
    # From here on a document is its number in this order: the smaller survives.
    numbers = {position: number for number, position in enumerate(positions.tolist())}
    clusters = Clusters()
    for one, other in near:
        clusters.join(numbers[one], numbers[other])
    pairs: list[tuple[int, int]] = []
    first_follower: dict[int, int] = {}
    for member, root in clusters.members():
        if member != root:
            pairs.append((member, root))
            first_follower.setdefault(root, member)
    if not keep_one:
        pairs.extend(first_follower.items())
    found = positions[np.array(pairs, np.int64)]
    found = found[np.argsort(found[:, 0])]
    ours, theirs = signatures(found[:, 0]), signatures(found[:, 1])
    similarities = (ours == theirs).mean(axis=1, dtype=np.float64).astype(np.float32)
    return NearMatches(found[:, 0].copy(), found[:, 1].copy(), similarities)


def _near_pairs(
    group: NDArray[np.int64], rows: NDArray[np.uint32], min_similarity: float
) -> list[tuple[int, int]]:
    """Return the pairs of positions that are near; of equal signatures each is paired with the first only."""
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    representatives = first[kind]
    pairs = [
        (int(position), int(group[at]))
        for position, at in zip(group.tolist(), representatives.tolist(), strict=True)
        if position != group[at]
    ]
    different = np.sort(first)
    for number in range(1, len(different)):
        others = different[max(0, number - COMPARED_WITH) : number]
        one = different[number]
        agreements = (rows[one] == rows[others]).mean(axis=1, dtype=np.float64)
        pairs.extend(
            (int(group[one]), int(group[at])) for at in others[agreements >= min_similarity].tolist()
        )
    return pairs
