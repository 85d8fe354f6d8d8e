"""What one stage alone tells of a run: which rules overlap, how long documents are, whose the tokens are.

The numbers are those that the stages leave in ``Manifest.details``; the report has all of them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from mixle_assets.defs.plots import bar_chart
from mixle_assets.defs.tables import table
from mixle_assets.manifest import Manifest
from mixle_assets.reporting.sums import TokenSum

Metadata = dict[str, dg.MetadataValue[Any]]


def stage_metadata(manifests: Sequence[Manifest]) -> Metadata:
    """Return tables and plot of the stage that made these outputs; empty if it has none of its own.

    Args:
        manifests: All outputs of the run, of one stage.
    """
    show = _SHOWN.get(manifests[0].stage) if manifests else None
    return show(manifests) if show is not None else {}


def _show_rules(manifests: Sequence[Manifest]) -> Metadata:
    """Return how often each rule matched, how often no other did, and which two matched together."""
    matched: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for manifest in manifests:
        written = manifest.details.get("rules", {"rules": [], "overlap": []})
        names = [rule["expression"] for rule in written["rules"]]
        for name, rule in zip(names, written["rules"], strict=True):
            matched[name] += rule["hits"]
            alone[name] += rule["sole_hits"]
        for first, second, number in written["overlap"]:
            together[names[first], names[second]] += number
    if not matched:
        return {}
    metadata: Metadata = {
        "rules": table(
            {"rule": name, "matched": number, "matched alone": alone[name]}
            for name, number in matched.most_common()
        )
    }
    if together:
        metadata["rules that overlap"] = table(
            {"rule": first, "and": second, "documents": number}
            for (first, second), number in together.most_common()
        )
    return metadata


def _show_lengths(manifests: Sequence[Manifest]) -> Metadata:
    """Return a plot of the documents by their length in tokens, a bar for each doubling that occurs."""
    tokens = TokenSum()
    for manifest in manifests:
        tokens.add(manifest.counts, manifest.details)
    bars = {_lengths_of(low, high): number for low, high, number in tokens.buckets}
    return {"plot": bar_chart("Documents by length in tokens", bars)} if bars else {}


def _lengths_of(low: float, high: float) -> str:
    """Return the whole numbers of a bucket: 0, 1, 2 to 3, 4 to 7 and so on."""
    return f"{low:.0f}" if high <= 2 else f"{low:,.0f} to {high - 1:,.0f}"


def _show_shares(manifests: Sequence[Manifest]) -> Metadata:
    """Return the share of each stream, how much of the rows is text, and a plot of the tokens."""
    (manifest,) = manifests  # an epoch is one output and a run of its own
    details = manifest.details
    return {
        "shares": table(
            {
                "stream": stream["name"],
                "weight": f"{stream['weight']:g}",
                "tokens": stream["tokens"],
                "declared share": f"{stream['declared_share']:.2%}",
                "real share": f"{stream['real_share']:.2%}",
            }
            for stream in details["streams"]
        ),
        "packing efficiency": dg.MetadataValue.float(details["packing_efficiency"]),
        "plot": bar_chart(
            "Tokens of each stream", {stream["name"]: stream["tokens"] for stream in details["streams"]}
        ),
    }


_SHOWN: dict[str, Callable[[Sequence[Manifest]], Metadata]] = {
    "mixed_shards": _show_rules,
    "doc_arrays": _show_lengths,
    "packed_epoch": _show_shares,
}
