"""MinHash: a short signature of a document whose agreement with another estimates how much they share.

A shingle is a run of words, in lower case and without punctuation; the signature holds, for each of many hash
functions, the smallest value over the document's shingles. Two signatures agree in about the share that the
two sets of shingles have in common (their Jaccard similarity), give or take sqrt(s (1 - s) / hashes).
How near documents are found by their signatures stands in ``clusters``.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from mixle_assets.segmentation.words import split_words

SEED = 0x6D69786C65
"""Of the hash functions: a constant, so that signatures can be compared for ever."""
_SHINGLES_AT_A_TIME = 1 << 14


def shingles(text: str, ngram_length: int) -> NDArray[np.uint64]:
    """Return the hashes of the different shingles of a text, sorted; fewer words than one shingle are one.

    Args:
        text: Any text.
        ngram_length: Words of a shingle.
    """
    words = [word for word in split_words(text.lower()) if any(map(str.isalnum, word))]
    if not words:
        return np.zeros(0, np.uint64)
    runs = {
        " ".join(words[start : start + ngram_length])
        for start in range(max(1, len(words) - ngram_length + 1))
    }
    return np.unique(np.fromiter((xxh3_64_intdigest(run.encode()) for run in runs), np.uint64, len(runs)))


def signature(hashes: NDArray[np.uint64], num_hashes: int) -> NDArray[np.uint32]:
    """Return the MinHash signature of a set of shingles, uint32 of shape (num_hashes,).

    Each hash function is the upper half of a·x + b modulo 2^64 with a odd, which is 2-independent enough for
    hashed shingles; no shingles give the largest value everywhere.

    Source: Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer
    arithmetic without primes", STACS 1996.
    """
    factors, terms = _functions(num_hashes)
    smallest = np.full(num_hashes, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(hashes), _SHINGLES_AT_A_TIME):
        some = hashes[start : start + _SHINGLES_AT_A_TIME, None]
        values = ((some * factors + terms) >> np.uint64(32)).astype(np.uint32)
        np.minimum(smallest, values.min(axis=0), out=smallest)
    return smallest


@functools.cache
def _functions(num_hashes: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # Hashed numbers, not a generator: they stay what they are in any version of NumPy.
    values = np.array(
        [xxh3_64_intdigest(number.to_bytes(8, "little"), seed=SEED) for number in range(2 * num_hashes)],
        np.uint64,
    )
    return values[:num_hashes] | np.uint64(1), values[num_hashes:]
