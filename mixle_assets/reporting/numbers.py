"""What the manifests of a corpus say, added up: by stage, by stream, by rule, by measure.

Takes one manifest after the other and keeps sums only, so that ten thousand shards need no more room than
ten. How it looks is ``sections``'s work.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mixle_assets.manifest import Manifest, digest_of
from mixle_assets.records import Counts
from mixle_assets.reporting.sums import MeasureSum, RuleSum, SlowestSum, SpanSum, TokenSum


@dataclass
class StageNumbers:
    """One stage.

    Attributes:
        name: The asset.
        num_partitions: Partitions that the recipe asks for.
        num_built: Those of them whose outputs all have a manifest.
        num_outputs: Manifests.
        size_in_bytes: Stored size of all outputs.
        counts: Group, such as a stream or an epoch, to its counts.
        code_versions: Version of the stage's code to the number of outputs it made.
    """

    name: str
    num_partitions: int = 0
    num_built: int = 0
    num_outputs: int = 0
    size_in_bytes: int = 0
    counts: dict[str, Counts] = field(default_factory=dict)
    code_versions: Counter[str] = field(default_factory=Counter)
    _digests: list[list[str]] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """The digest of the whole stage, as ``mixle-assets build`` prints it; ``""`` if nothing is built."""
        return digest_of(sorted(self._digests)) if self._digests else ""

    @property
    def total(self) -> Counts:
        """The counts of all groups together."""
        total = Counts()
        for counts in self.counts.values():
            total.add(counts)
        return total

    def add(self, group: str, manifest: Manifest) -> None:
        """Take one output in."""
        self.num_outputs += 1
        self.size_in_bytes += manifest.size_in_bytes
        self.counts.setdefault(group, Counts()).add(manifest.counts)
        self.code_versions[manifest.code_version] += 1
        self._digests.append([manifest.key, manifest.content_digest])


@dataclass(frozen=True)
class CheckNumbers:
    """One check, as far as the ledgers know.

    Attributes:
        stage: The asset.
        name: The guarantee.
        description: What it means.
        severity: ``error`` or ``warn``.
        num_keys: Partitions that are built.
        num_passed: Those of them that passed in the content they have now.
    """

    stage: str
    name: str
    description: str
    severity: str
    num_keys: int
    num_passed: int


@dataclass
class CorpusNumbers:
    """All of a corpus.

    Attributes:
        recipe: The recipe's name.
        streams: Its streams.
        block: Targets in a packed row.
        stages: Its stages, in order of work.
        rules: Stream to what its rules did, an entry for each set of rules that shards were made by.
        spans: Likewise for what was replaced.
        duplicate_ids: Stream to documents whose id an earlier one of their shard has.
        measures: Stream to attribute set to measure to its distribution.
        num_tagged: Stream to attribute set to documents.
        slowest: Stream to attribute set to the documents that took its taggers longest.
        tokens: Stream to its tokens.
        tokenizer: What the tokenizer that was trained here says of itself.
        epochs: Epoch to what its manifest says.
        checks: The checks.
    """

    recipe: str
    streams: tuple[str, ...] = ()
    block: int = 0
    stages: dict[str, StageNumbers] = field(default_factory=dict)
    rules: dict[str, dict[tuple[tuple[str, str], ...], RuleSum]] = field(default_factory=dict)
    spans: dict[str, dict[tuple[tuple[str, str], ...], SpanSum]] = field(default_factory=dict)
    duplicate_ids: Counter[str] = field(default_factory=Counter)
    measures: dict[str, dict[str, dict[str, MeasureSum]]] = field(default_factory=dict)
    num_tagged: dict[str, Counter[str]] = field(default_factory=dict)
    slowest: dict[str, dict[str, SlowestSum]] = field(default_factory=dict)
    tokens: dict[str, TokenSum] = field(default_factory=dict)
    tokenizer: dict[str, Any] = field(default_factory=dict)
    epochs: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: list[CheckNumbers] = field(default_factory=list)

    def add(
        self, stage: str, manifest: Manifest, *, group: str, stream: str = "", attribute_set: str = ""
    ) -> None:
        """Take one output in.

        Args:
            stage: The asset; one of ``stages``.
            manifest: What stands beside the output.
            group: What its counts are added up under.
            stream: Whose it is, if it is one stream's.
            attribute_set: Its attribute set, if it has one.
        """
        self.stages[stage].add(group, manifest)
        details = manifest.details
        if stage == "mixed_shards":
            self._add_rules(stream, details)
        elif stage == "attributes":
            self.num_tagged.setdefault(stream, Counter())[attribute_set] += manifest.counts.num_out
            sums = self.measures.setdefault(stream, {}).setdefault(attribute_set, {})
            for measure, distribution in details.get("measures", {}).items():
                sums.setdefault(measure, MeasureSum()).add(distribution)
            slowest = self.slowest.setdefault(stream, {}).setdefault(attribute_set, SlowestSum())
            slowest.add(manifest.key.removeprefix(f"{attribute_set}/"), details.get("slowest", []))
        elif stage == "doc_arrays":
            self.tokens.setdefault(stream, TokenSum()).add(manifest.counts, details)
        elif stage == "tokenizer":
            self.tokenizer = details
        elif stage == "packed_epoch":
            self.epochs[manifest.key] = details

    def _add_rules(self, stream: str, details: dict[str, Any]) -> None:
        self.duplicate_ids[stream] += details.get("duplicate_ids", 0)
        if (rules := details.get("rules")) and rules["rules"]:
            # Shards of an earlier recipe may lie beside those of this one: their rules are not added up.
            key = tuple((rule["role"], rule["expression"]) for rule in rules["rules"])
            self.rules.setdefault(stream, {}).setdefault(key, RuleSum(key)).add(rules)
        if (spans := details.get("spans")) and spans["rules"]:
            key = tuple((rule["span"], rule["replacement"]) for rule in spans["rules"])
            self.spans.setdefault(stream, {}).setdefault(key, SpanSum(key)).add(spans)
