"""Adding up the statistics that stages leave in ``Manifest.details``: rules, spans, measures, tokens.

The shapes are those the stages write as plain JSON; the stages themselves are not imported.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mixle_assets.records import Counts
from mixle_assets.reporting.plots import Bucket

NUM_LONGEST = 10
NUM_SLOWEST = 10


@dataclass
class RuleSum:
    """What the rules of a filter did, over shards.

    Attributes:
        rules: ``(role, expression)`` of each, in the recipe's order.
        num_shards: Shards that were added.
        num_documents: Documents judged.
        tallies: For each rule its ``hits``, ``sole_hits``, ``missing`` and ``errors``, in documents.
        overlap: Documents that two rules matched both, by their positions, the smaller first.
    """

    rules: tuple[tuple[str, str], ...]
    num_shards: int = 0
    num_documents: int = 0
    tallies: list[Counter[str]] = field(default_factory=list)
    overlap: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, written: dict[str, Any]) -> None:
        """Add ``details["rules"]`` of a mixed shard that was made by the same rules."""
        self.tallies = self.tallies or [Counter() for _ in self.rules]
        self.num_shards += 1
        self.num_documents += written["num_documents"]
        for tally, rule in zip(self.tallies, written["rules"], strict=True):
            for what in ("hits", "sole_hits", "missing", "errors"):
                tally[what] += rule[what]
        for rule, other, number in written["overlap"]:
            self.overlap[rule, other] += number


@dataclass
class SpanSum:
    """What the span replacements of a stream did, over shards.

    Attributes:
        rules: ``(span, replacement)`` of each, in the recipe's order.
        totals: ``num_texts`` changed, ``num_removed_characters``, ``num_clipped``, ``num_swallowed``.
        tallies: For each rule its ``num_documents``, ``num_selected``, ``num_reversed``, ``num_outside``.
    """

    rules: tuple[tuple[str, str], ...]
    totals: Counter[str] = field(default_factory=Counter)
    tallies: list[Counter[str]] = field(default_factory=list)

    def add(self, written: dict[str, Any]) -> None:
        """Add ``details["spans"]`` of a mixed shard that was made by the same replacements."""
        self.tallies = self.tallies or [Counter() for _ in self.rules]
        self.totals.update({what: number for what, number in written.items() if what != "rules"})
        for tally, rule in zip(self.tallies, written["rules"], strict=True):
            tally.update({what: number for what, number in rule.items() if what.startswith("num_")})


@dataclass
class MeasureSum:
    """The distribution of one measure, over files.

    Attributes:
        num_scores: Scores; a measure of spans has as many as it found.
        num_documents: Documents with at least one; None if a manifest does not say.
        least: The smallest score.
        greatest: The largest.
        total: Sum of all scores, from means of six decimals.
    """

    num_scores: int = 0
    num_documents: int | None = 0
    least: float = math.inf
    greatest: float = -math.inf
    total: float = 0.0
    _buckets: Counter[tuple[float, float]] = field(default_factory=Counter)

    def add(self, written: dict[str, Any]) -> None:
        """Add a measure of ``details["measures"]`` of an attribute file."""
        self.num_scores += written["count"]
        documents = written.get("documents")
        self.num_documents = (
            None if documents is None or self.num_documents is None else self.num_documents + documents
        )
        self.least = min(self.least, written["min"])
        self.greatest = max(self.greatest, written["max"])
        self.total += written["mean"] * written["count"]
        for low, high, count in written["histogram"]:
            self._buckets[low, high] += count

    @property
    def mean(self) -> float:
        """The mean of all scores."""
        return self.total / self.num_scores if self.num_scores else 0.0

    @property
    def num_zeros(self) -> int:
        """Scores that are exactly zero."""
        return self._buckets[0.0, 0.0]

    @property
    def buckets(self) -> list[Bucket]:
        """The histogram, ascending."""
        return [(low, high, count) for (low, high), count in sorted(self._buckets.items())]


@dataclass
class SlowestSum:
    """The documents that took the taggers of a set longest, over files.

    Attributes:
        found: ``(seconds, file, line, id, characters)``, longest first.
    """

    found: list[tuple[float, str, int, str, int]] = field(default_factory=list)

    def add(self, file: str, written: list[dict[str, Any]]) -> None:
        """Add ``details["slowest"]`` of an attribute file."""
        more = [(one["seconds"], file, one["line"], one["id"], one["characters"]) for one in written]
        self.found = sorted([*self.found, *more], key=lambda one: (-one[0], *one[1:3]))[:NUM_SLOWEST]


@dataclass
class TokenSum:
    """The tokens of a stream, over shards.

    Attributes:
        num_documents: Documents.
        num_tokens: Tokens, without boundaries.
        text_in_bytes: Their texts, in UTF-8.
        special_strings: Spelling of a special token to how often it stood in a text.
        longest: ``(tokens, provenance)`` of the longest documents, longest first.
        engines: What encoded, to the number of shards.
        dtypes: As what ids are stored, to the number of shards.
        vocabulary_size: Ids that their tokenizer has; None if shards differ in it or do not tell.
        ids_used: A bit for each id that occurs, the lowest first.
    """

    num_documents: int = 0
    num_tokens: int = 0
    text_in_bytes: int = 0
    special_strings: Counter[str] = field(default_factory=Counter)
    longest: list[tuple[int, str]] = field(default_factory=list)
    engines: Counter[str] = field(default_factory=Counter)
    dtypes: Counter[str] = field(default_factory=Counter)
    vocabulary_size: int | None = None
    ids_used: int = 0
    _by_bits: Counter[int] = field(default_factory=Counter)

    def add(self, counts: Counts, details: dict[str, Any]) -> None:
        """Add the counts and details of doc arrays."""
        first = not self.engines
        size = details.get("vocabulary_size")
        self.vocabulary_size = size if first or size == self.vocabulary_size else None
        if size is not None:
            self.ids_used |= int.from_bytes(
                zlib.decompress(base64.b64decode(details["ids_used_bits"])), "little"
            )
        self.num_documents += counts.num_out
        self.num_tokens += details["num_tokens"]
        self.text_in_bytes += details["text_in_bytes"]
        self.special_strings.update(details["special_strings_seen"])
        self.engines[details["engine"]] += 1
        self.dtypes[details["dtype"]] += 1
        for bits, number in enumerate(details["documents_by_bits_of_length"]):
            self._by_bits[bits] += number
        more = [(one["num_tokens"], one["provenance"]) for one in details["longest_documents"]]
        self.longest = sorted([*self.longest, *more], key=lambda one: (-one[0], one[1]))[:NUM_LONGEST]

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text to a token; 0 without tokens."""
        return self.text_in_bytes / self.num_tokens if self.num_tokens else 0.0

    @property
    def buckets(self) -> list[Bucket]:
        """Documents by length in tokens: of 0, 1, 2-3, 4-7, 8-15, … tokens."""
        return [
            (2.0 ** (bits - 1), 2.0**bits, number) if bits else (0.0, 0.0, number)
            for bits, number in sorted(self._by_bits.items())
            if number
        ]
