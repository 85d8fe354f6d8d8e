"""What is told of a tokenized shard in its manifest: lengths, ids used, special strings, long documents."""

from __future__ import annotations

import base64
import heapq
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.tokenizers import Encoded, TextTokenizer

NUM_LONGEST = 10


class ShardStatistics:
    """Gathers numbers batch by batch; lengths are in tokens, without BOS.

    Args:
        tokenizer: Knows the special strings and the unknown id.
    """

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._tokenizer = tokenizer
        self._num_documents = 0
        self._num_tokens = 0
        self._text_in_bytes = 0
        self._num_unknown = 0
        self._is_used = np.zeros(tokenizer.vocabulary_size, np.bool_)
        self._special_strings: Counter[str] = Counter()
        self._length_bits = np.zeros(64, np.int64)
        self._longest: list[tuple[int, int, str]] = []

    def add(self, texts: Sequence[str], provenances: Sequence[str], encoded: Encoded) -> None:
        """Take in the next documents of the shard."""
        for text in texts:
            self._text_in_bytes += len(text) if text.isascii() else len(text.encode())
            self._special_strings.update(self._tokenizer.special_strings_in(text))
        if self._tokenizer.unknown_id is not None:
            self._num_unknown += int(np.count_nonzero(encoded.values == self._tokenizer.unknown_id))
        self._note_used(encoded.values)
        self._length_bits += np.bincount(np.frexp(encoded.lengths.astype(np.float64))[1], minlength=64)
        self._keep_longest(encoded.lengths.tolist(), provenances)
        self._num_documents += len(texts)
        self._num_tokens += len(encoded.values)

    def _note_used(self, values: NDArray[np.uint32]) -> None:
        if values.max(initial=0) >= len(self._is_used):  # refused with its document when it is written
            values = values[values < len(self._is_used)]
        self._is_used[values] = True

    def _keep_longest(self, lengths: Sequence[int], provenances: Sequence[str]) -> None:
        for row, length in enumerate(lengths):
            # Of equally long documents the first stays, so its negative place is the larger.
            entry = (length, -(self._num_documents + row), provenances[row])
            if len(self._longest) < NUM_LONGEST:
                heapq.heappush(self._longest, entry)
            elif entry > self._longest[0]:
                heapq.heapreplace(self._longest, entry)

    @property
    def num_special_strings(self) -> int:
        """How often the spelling of a special token stood in a text."""
        return self._special_strings.total()

    @property
    def num_unknown(self) -> int:
        """Tokens that are the tokenizer's unknown token."""
        return self._num_unknown

    def as_details(self) -> dict[str, Any]:
        """Return all of it as plain JSON.

        ``documents_by_bits_of_length`` counts documents of 0, 1, 2-3, 4-7, 8-15, … tokens. ``ids_used_bits``
        is base64 of a zlib stream of a bit for each id, the lowest first: shards can be joined by "or".
        """
        num_bits = int(np.flatnonzero(self._length_bits).max(initial=0)) + 1
        return {
            "text_in_bytes": self._text_in_bytes,
            "bytes_per_token": round(self._text_in_bytes / max(self._num_tokens, 1), 4),
            "vocabulary_size": len(self._is_used),
            "num_ids_used": int(np.count_nonzero(self._is_used)),
            "ids_used_bits": base64.b64encode(
                zlib.compress(np.packbits(self._is_used, bitorder="little").tobytes(), 9)
            ).decode(),
            "special_strings_seen": dict(sorted(self._special_strings.items())),
            "documents_by_bits_of_length": self._length_bits[:num_bits].tolist(),
            "longest_documents": [
                {"provenance": provenance, "num_tokens": length}
                for length, _, provenance in sorted(self._longest, reverse=True)
            ],
        }
