"""Paragraphs as runs of words: what of them is compared, so that a share of repeated runs can be told.

As in Dolma, run 0 is taken, then run 1, then every ``stride`` words one; a paragraph with fewer than two runs
is compared whole, unless such are skipped. A run of one word and a paragraph of that word are the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from xxhash import xxh3_128_digest

from mixle_assets.deduping.paragraphs import HASH_IN_BYTES, Paragraphs, is_compared, split_paragraphs
from mixle_assets.segmentation.words import split_words


class NgramRules(Protocol):
    """The part of a recipe's ``by_ngram`` that decides what is hashed."""

    @property
    def ngram_length(self) -> int:
        """Words in a run."""

    @property
    def stride(self) -> int:
        """Words from one run to the next; 0 means 1."""

    @property
    def skip_short_paragraphs(self) -> bool:
        """Whether a paragraph of fewer than two runs is left out."""


def ngram_starts(num_words: int, ngram_length: int, stride: int) -> list[int]:
    """Return the first words of the runs: of 9 words, length 3, stride 2: 0 1 3 5."""
    last = num_words - ngram_length
    return [start for start in (0, *range(1, last + 1, stride or 1)) if start <= last]


def hash_ngram(words: Sequence[str]) -> bytes:
    """Return the hash of a run of words; seeded, since a paragraph ``a b`` is not the run of a and b."""
    return xxh3_128_digest(" ".join(words).encode(), seed=len(words) if len(words) > 1 else 0)


def hash_ngrams(texts: Sequence[str], separator: str, whole: Paragraphs, rules: NgramRules) -> Paragraphs:
    """Replace the hash of each whole paragraph by those of its runs of words.

    Args:
        texts: The texts that ``whole`` was made of.
        separator: What stands between two paragraphs.
        whole: As ``hash_paragraphs`` gives it; what is not compared there is not compared here.
        rules: How runs are taken.

    Returns:
        The same paragraphs; ``num_hashes`` and ``num_counted`` say which hashes belong to which.
    """
    hashes: list[bytes] = []
    num_hashes = np.zeros(len(whole.lengths), np.uint32)
    num_counted = np.zeros(len(whole.lengths), np.uint32)
    compared = is_compared(whole.hashes).tolist()
    for number, piece in enumerate(split_paragraphs(texts, separator)):
        if not compared[number]:
            continue
        words = split_words(piece.decode())
        length = rules.ngram_length
        runs = [
            hash_ngram(words[start : start + length])
            for start in ngram_starts(len(words), length, rules.stride)
        ]
        counted = len(runs)
        if len(runs) < 2 and not rules.skip_short_paragraphs:
            # A lone run is known from here on, but the paragraph is judged by its whole.
            runs.append(bytes(whole.hashes[number]))
            counted = 1
        hashes.extend(runs)
        num_hashes[number], num_counted[number] = len(runs), counted
    return whole._replace(
        hashes=np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, HASH_IN_BYTES),
        num_hashes=num_hashes,
        num_counted=num_counted,
    )
