"""Token ids of a text that have a period, and where they stand in the text.

The tokenizer is a ``tokenizer.json`` that the user names. Ids come from the fastest engine that agrees with
the ``tokenizers`` library; offsets are reckoned from them, or asked of that library where that cannot be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.tagging.token_offsets import PROBES, TokenOffsets

LONGEST_PERIOD = 13
"""Longest period of token ids that is looked for."""
_BATCH = 1 << 20
"""Characters that are encoded in one call."""

Found: TypeAlias = tuple[int, int, int]
"""Start and end in characters, and copies, of a sequence with a period."""


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

        from mixle_assets.tokenizers.engines import choose_engine
        from mixle_assets.tokenizers.huggingface import HuggingFaceEngine

        content = storage.read_bytes(path)
        try:
            parsed = json.loads(content)
            # With the post-processor: it says what offsets take in.
            library: Any = tokenizers.Tokenizer.from_str(content.decode())
            library.no_padding()
            library.no_truncation()
            if parsed["model"].get("dropout"):
                library.model.dropout = None  # it would give other ids each time
            names = [token["content"] for token in parsed.get("added_tokens") or []]
            self._offsets = TokenOffsets(parsed)
        except Exception as error:  # the library raises the bare class
            raise InputError(f"not a tokenizer.json: {error!r}", path=path) from error
        self._library = library
        encoder_json = _encoder_json(parsed) or content.decode()
        self._engine = choose_engine("auto", encoder_json, HuggingFaceEngine(library), names).engine
        self._can_reckon = self._offsets.is_known and self._offsets.agrees_with(
            library.encode_batch(list(PROBES), add_special_tokens=False)
        )
        self.memory_in_bytes = 20 * len(content)

    def find(self, text: str) -> list[Found]:
        """Return every sequence of one text, by period, then by place."""
        return self.find_all([text])[0]

    def find_all(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return the same for each of several texts, which takes less time than one by one."""
        found: list[list[Found]] = [[] for _ in texts]
        for first, batch in _batches(texts):
            encoded = self._engine.encode(batch)
            periods = find_periods(encoded.values, encoded.lengths)
            stops = np.cumsum(encoded.lengths)
            for row in np.unique(periods[:, 0]).tolist():
                ids = encoded.values[stops[row] - encoded.lengths[row] : stops[row]].astype(np.int64)
                of_text = periods[periods[:, 0] == row, 1:]
                found[first + row] = self._placed(batch[row], ids, of_text)
        return found

    def _placed(self, text: str, ids: NDArray[np.int64], periods: NDArray[np.int64]) -> list[Found]:
        places = self._offsets.of(text, ids) if self._can_reckon else None
        if places is None:
            encoding = self._library.encode(text, add_special_tokens=False)
            starts, ends = np.array(encoding.offsets, np.int64).reshape(-1, 2).T
            ids = np.array(encoding.ids, np.uint32)
            periods = find_periods(ids, np.array([len(ids)], np.int64))[:, 1:]
        else:
            starts, ends = places
        return [(int(starts[first]), int(ends[stop - 1]), copies) for first, stop, copies in periods.tolist()]


def find_periods(ids: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows (text, first token, end, copies) of all sequences of ids with a period, shape (n, 4).

    A sequence of period p is a longest stretch in which every id equals the one p before, with at least three
    copies of the period; periods go from 1 to 13. Order: by text, by period, then by place::

        7 5 5 5 5 9 | 1 2 1 2 1 2    [[0, 1, 5, 4], [1, 0, 6, 3]]       # four copies of 5, three of 1 2

    Args:
        ids: Of all texts, one behind the other.
        lengths: Number of ids of each text.
    """
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    rows = []
    for period in range(1, LONGEST_PERIOD + 1):
        equal = np.flatnonzero(ids[period:] == ids[:-period])
        equal = equal.compress(text_of.take(equal) == text_of.take(equal + period))
        breaks = np.flatnonzero(np.diff(equal) != 1)
        firsts = equal.take(np.concatenate(([0], breaks + 1))) if len(equal) else equal
        lasts = equal.take(np.concatenate((breaks, [-1]))) if len(equal) else equal
        runs = lasts - firsts + 1
        kept = runs >= 2 * period
        first, run = firsts.compress(kept), runs.compress(kept)
        length = run + period
        rows.append(np.stack((text_of.take(first), first, first + length, length // period), 1))
    found = np.concatenate(rows)
    found = found[np.argsort(found[:, 0], kind="stable")]
    starts = np.cumsum(lengths) - lengths
    found[:, 1:3] -= starts.take(found[:, :1])
    return found


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the texts some at a time, with the place of the first."""
    first = size = 0
    for place, text in enumerate(texts):
        if size and size + len(text) > _BATCH:
            yield first, texts[first:place]
            first, size = place, 0
        size += len(text)
    if first < len(texts):
        yield first, texts[first:]


def _encoder_json(parsed: dict[str, Any]) -> str | None:
    """Return the tokenizer without what adds tokens, cuts or varies; None if it has nothing of that kind."""
    processor = parsed.get("post_processor") or {}
    adds = processor.get("type") not in (None, "ByteLevel")
    varies = parsed["model"].get("dropout")
    if not (adds or varies or parsed.get("padding") or parsed.get("truncation")):
        return None
    model = {**parsed["model"], **({"dropout": None} if varies else {})}
    plain = {**parsed, "post_processor": None, "padding": None, "truncation": None, "model": model}
    return json.dumps(plain, ensure_ascii=False)
