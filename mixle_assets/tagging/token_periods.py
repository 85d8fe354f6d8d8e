"""Token ids of a text that have a period, and where they stand in the text.

The tokenizer is a ``tokenizer.json`` that the user names. Ids come from the fastest engine that agrees with
the ``tokenizers`` library; offsets are reckoned from them, or asked of that library where that cannot be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from mixle_assets import storage
from mixle_assets.tagging.token_offsets import PROBES, TokenOffsets


class PeriodicTokens:
    """Finds periods in the tokens of a text.

    Args:
        path: Location of the ``tokenizer.json``.

    Raises:
        InputError: The file is missing or no such tokenizer.
    """

    def __init__(self, path: str) -> None:
        # Only here: most recipes name no tagger that needs a tokenizer.
        import tokenizers

        from mixle_assets.tagging.repetition_kernel import find_periods
        from mixle_assets.tokenizers.engines import choose_engine
        from mixle_assets.tokenizers.huggingface import HuggingFaceEngine, HuggingFaceFile

        content = storage.read_bytes(path)
        parsed = json.loads(content)
        file = HuggingFaceFile(parsed, path, [], "as_ids")
        reference = HuggingFaceEngine(file.encoder)
        names = [token["content"] for token in parsed.get("added_tokens") or []]
        self._engine = choose_engine("auto", file.encoder_json, reference, names).engine
        # Without padding and truncation, but with the post-processor: it says what offsets take in.
        self._with_offsets: Any = tokenizers.Tokenizer.from_str(
            json.dumps({**parsed, "padding": None, "truncation": None}, ensure_ascii=False)
        )
        self._offsets = TokenOffsets(parsed)
        self._can_reckon = self._offsets.is_known and self._offsets.agrees_with(
            self._with_offsets.encode_batch(list(PROBES), add_special_tokens=False)
        )
        self._find_periods = find_periods
        self.memory_in_bytes = 20 * len(content)

    def find(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield start and end in characters, and copies, of every sequence with a period."""
        ids = self._engine.encode([text]).values.astype(np.int64)
        periods = self._find_periods(ids)
        if not len(periods):
            return
        places = self._offsets.of(text, ids) if self._can_reckon else None
        if places is None:
            encoding = self._with_offsets.encode(text, add_special_tokens=False)
            periods = self._find_periods(np.array(encoding.ids, np.int64))
            starts, ends = np.array(encoding.offsets, np.int64).reshape(-1, 2).T
        else:
            starts, ends = places
        for first, stop, copies in periods.tolist():
            yield int(starts[first]), int(ends[stop - 1]), copies
