"""Byte-level BPE learned from word counts: the same merges on any machine, in any order of words.

Written here because the order in which the ``tokenizers`` trainer sees equal candidates can depend on a hash
table. Where no such tie occurs both learn the same merges, which the tests check.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import tokenizers

from mixle_assets.tokenizers.byte_level import byte_level_json, byte_spelling

MIN_COUNT = 2
"""A pair seen once is no pattern."""


class Merges(NamedTuple):
    """Spelled tokens in the order of their ids, the 256 bytes first, and the merges that make the others."""

    tokens: list[str]
    merges: list[tuple[str, str]]


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Return how often each piece occurs that GPT-2's pattern splits texts into, spelled by byte."""
    split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in split(text))
    return counts


def learn_merges(words: Mapping[str, int], num_tokens: int) -> Merges:
    """Learn merges until there are ``num_tokens`` tokens, or no pair occurs twice.

    The most frequent pair of neighbours is merged; of equally frequent ones the pair whose tokens are older.
    ``{"aab": 2, "ab": 1}``: ``a b`` occurs 3 times and is merged first, then ``a ab``, 2 times.

    Args:
        words: Spelled words to their counts.
        num_tokens: Tokens to end with, the 256 bytes among them.
    """
    learner = _Learner(words)
    while len(learner.tokens) < num_tokens and learner.merge_next():
        pass
    return Merges(learner.tokens, learner.merges)


class _Learner:
    def __init__(self, words: Mapping[str, int]) -> None:
        self.tokens = sorted(byte_spelling())
        self.merges: list[tuple[str, str]] = []
        self._ids = {token: number for number, token in enumerate(self.tokens)}
        self._words: list[list[int]] = []
        self._word_counts: list[int] = []
        self._pair_counts: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._words_with: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for word, count in words.items():
            if len(word) > 1:
                self._add_word([self._ids[character] for character in word], count)
        # Entries whose count is out of date are put right when they come up.
        self._queue = [(-count, pair) for pair, count in self._pair_counts.items()]
        heapq.heapify(self._queue)

    def _add_word(self, word: list[int], count: int) -> None:
        number = len(self._words)
        self._words.append(word)
        self._word_counts.append(count)
        for pair in itertools.pairwise(word):
            self._pair_counts[pair] += count
            self._words_with[pair].add(number)

    def merge_next(self) -> bool:
        """Merge the best pair; False if none is left that is worth it."""
        while self._queue:
            negative, pair = heapq.heappop(self._queue)
            count = self._pair_counts.get(pair, 0)
            if count == -negative and count >= MIN_COUNT:
                self._merge(pair)
                return True
            if MIN_COUNT <= count < -negative:
                heapq.heappush(self._queue, (-count, pair))
        return False

    def _merge(self, pair: tuple[int, int]) -> None:
        left, right = (self.tokens[part] for part in pair)
        self.merges.append((left, right))
        # "ab"+"c" and "a"+"bc" are one token, with two merges.
        new = self._ids.setdefault(left + right, len(self.tokens))
        if new == len(self.tokens):
            self.tokens.append(left + right)
        grown: set[tuple[int, int]] = set()
        for number in self._words_with.pop(pair):
            self._merge_in_word(number, pair, new, grown)
        self._pair_counts.pop(pair, None)
        for other in grown:
            heapq.heappush(self._queue, (-self._pair_counts[other], other))

    def _merge_in_word(
        self, number: int, pair: tuple[int, int], new: int, grown: set[tuple[int, int]]
    ) -> None:
        before, count = self._words[number], self._word_counts[number]
        after = _merged(before, pair, new)
        if len(after) == len(before):
            return
        pair_counts, words_with = self._pair_counts, self._words_with
        for old in itertools.pairwise(before):
            pair_counts[old] -= count
        for fresh in itertools.pairwise(after):
            pair_counts[fresh] += count
            if new in fresh:
                words_with[fresh].add(number)
                grown.add(fresh)
        self._words[number] = after


def _merged(word: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    """Return the word with each occurrence of the pair replaced, from the left: ``a a a`` → ``aa a``."""
    left, right = pair
    merged: list[int] = []
    place, last = 0, len(word) - 1
    while place <= last:
        token = word[place]
        if token == left and place < last and word[place + 1] == right:
            merged.append(new)
            place += 2
        else:
            merged.append(token)
            place += 1
    return merged


def trained_json(learned: Merges, special: Sequence[str]) -> dict[str, Any]:
    """Return the parsed ``tokenizer.json`` of learned merges; special tokens take the last ids."""
    ids = {token: number for number, token in enumerate(learned.tokens)}
    names = {name: len(ids) + place for place, name in enumerate(dict.fromkeys(special))}
    return byte_level_json(ids, learned.merges, names)
