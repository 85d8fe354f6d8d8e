"""Near documents over all members: bands to candidates, candidates to clusters, on disk where it is large.

The two halves stand in ``minhash`` (signatures) and ``clusters`` (what is joined); this is the way between.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixle_assets.deduping.buckets import MAX_BUCKETS, Occurrences, map_array
from mixle_assets.deduping.clusters import NO_NEAR_MATCHES, NearMatches, band_hashes, join_candidates
from mixle_assets.deduping.hash_files import HashFile
from mixle_assets.deduping.members import Extents, Member, eligible_batches, member_rank
from mixle_assets.recipe import NearDocuments


def match_near_documents(
    members: Sequence[Member],
    numbers: Sequence[int],
    extents: Extents,
    bucket_in_hashes: int,
    scratch: Path,
) -> NearMatches:
    """Find the documents that are near a better one, among members that share an index.

    Memory grows with the number of documents that share a band with another, not with all of them.
    """
    rules = members[numbers[-1]].rules
    near = rules.near_documents
    if near is None:
        return NO_NEAR_MATCHES
    folder = Path(tempfile.mkdtemp(dir=scratch))
    pairs = _candidates(members, numbers, extents, near, bucket_in_hashes, folder)
    if not len(pairs):
        return NO_NEAR_MATCHES
    wanted = np.unique(pairs)
    signatures = _signatures(members, numbers, extents, wanted, folder / "signatures")
    ranks = np.array([member_rank(member) for member in members], np.int64)
    return join_candidates(
        _groups(pairs),
        lambda positions: signatures[np.searchsorted(wanted, positions)],
        lambda positions: ranks[np.searchsorted(extents.documents, positions, "right") - 1],
        min_similarity=near.min_similarity,
        keep_one=rules.keep != "none",
    )


def _candidates(
    members: Sequence[Member],
    numbers: Sequence[int],
    extents: Extents,
    near: NearDocuments,
    bucket_in_hashes: int,
    folder: Path,
) -> NDArray[np.int64]:
    """Return documents with the first that shares a band with them, int64 of shape (pairs, 2)."""
    num_documents = sum(map(extents.num_documents, numbers))
    num_buckets = min(MAX_BUCKETS, max(1, -(-num_documents * near.num_bands // bucket_in_hashes)))
    occurrences = Occurrences(num_buckets, folder)
    for number in numbers:
        position = int(extents.documents[number])
        for batch, eligible in eligible_batches(members[number], extents.num_documents(number)):
            positions = np.arange(position, position + len(batch.lines))
            position += len(batch.lines)
            rows = batch.signatures
            if eligible is not None:
                positions, rows = positions[eligible], rows[eligible]
            occurrences.add(band_hashes(rows, near.num_bands), np.repeat(positions, near.num_bands))
    occurrences.match(np.zeros_like, keep_one=True)
    found = occurrences.between(0, int(extents.documents[-1]))
    return np.stack([found.matches, found.positions], axis=1)


def _signatures(
    members: Sequence[Member],
    numbers: Sequence[int],
    extents: Extents,
    wanted: NDArray[np.int64],
    path: Path,
) -> NDArray[np.uint32]:
    """Return the signatures of the wanted documents, mapped, uint32 of shape (wanted, hashes)."""
    num_hashes = 0
    with path.open("wb") as sink:
        for number in numbers:
            start = int(extents.documents[number])
            for batch in HashFile(members[number].hashes):
                here = slice(*np.searchsorted(wanted, [start, start + len(batch.lines)]))
                sink.write(batch.signatures[wanted[here] - start].tobytes())
                num_hashes = batch.signatures.shape[1]
                start += len(batch.lines)
    signatures: NDArray[np.uint32] = map_array(path, np.dtype(np.uint32)).reshape(-1, num_hashes)
    return signatures


def _groups(pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the positions of each group: the first and all that share a band with it, rising."""
    pairs = np.unique(pairs, axis=0)
    starts = np.flatnonzero(np.append(True, pairs[1:, 0] != pairs[:-1, 0]))
    for start, stop in zip(starts, np.append(starts[1:], len(pairs)), strict=True):
        yield np.concatenate([pairs[start : start + 1, 0], pairs[start:stop, 1]])
