"""What assets and checks show in the UI: numbers from manifests, tables of faults. Nothing is computed here.

A run over a range copies the metadata of the run into the event of every partition, so a partition gets its
own few numbers there; the tables and the plot of the run are an observation beside them, recorded once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from mixle_assets.defs.plots import bar_chart
from mixle_assets.defs.stage_metadata import stage_metadata
from mixle_assets.defs.tables import table
from mixle_assets.errors import MixleError
from mixle_assets.manifest import Manifest, digest_of
from mixle_assets.pipeline.asset_check import CheckOutcome
from mixle_assets.pipeline.run import StageOutcome
from mixle_assets.records import Counts

_NAMED_FAILURES = 5


def partition_metadata(manifests: Sequence[Manifest]) -> dict[str, Any]:
    """Return the numbers of one partition: what went in, out and was dropped, its size and digest."""
    if not manifests:
        return {
            "outputs": 0
        }  # the recipe asks nothing of this shard, such as one of a stream without taggers
    counts = total_counts(manifests)
    return {
        "dagster/row_count": counts.num_out,
        "records in": counts.num_in,
        "dropped": sum(counts.dropped.values()),
        "size in bytes": sum(manifest.size_in_bytes for manifest in manifests),
        "content digest": content_digest_of(manifests),
    }


def total_counts(manifests: Iterable[Manifest]) -> Counts:
    """Return the counts of several outputs added up."""
    total = Counts()
    for manifest in manifests:
        total.add(manifest.counts)
    return total


def content_digest_of(manifests: Sequence[Manifest]) -> str:
    """Return the digest of what a partition holds: the data version. One output is its own."""
    if len(manifests) == 1:
        return manifests[0].content_digest
    return digest_of(sorted([manifest.key, manifest.content_digest] for manifest in manifests))


def run_metadata(manifests: Sequence[Manifest]) -> dict[str, dg.MetadataValue[Any]]:
    """Return tables of one partition: its outputs, and why records were dropped."""
    tables: dict[str, dg.MetadataValue[Any]] = {}
    if manifests:
        tables["outputs"] = table(
            {
                "output": manifest.key,
                "in": manifest.counts.num_in,
                "out": manifest.counts.num_out,
                "dropped": sum(manifest.counts.dropped.values()),
                "size in bytes": manifest.size_in_bytes,
                "content digest": manifest.content_digest,
            }
            for manifest in manifests
        )
    return tables | counts_metadata(manifests) | stage_metadata(manifests)


def range_metadata(outcome: StageOutcome) -> dict[str, dg.MetadataValue[Any]]:
    """Return tables of a run over a range: its partitions by group, and why records were dropped."""
    groups: dict[str, list[Manifest]] = {}
    for key, manifests in outcome.finished.items():
        groups.setdefault(key.rpartition("/")[0], []).extend(manifests)
    rows: list[dict[str, str | int]] = []
    for name, manifests in groups.items():
        counts = total_counts(manifests)
        rows.append(
            {
                "stream": name,
                "in": counts.num_in,
                "out": counts.num_out,
                "dropped": sum(counts.dropped.values()),
                "size in bytes": sum(manifest.size_in_bytes for manifest in manifests),
            }
        )
    every = [manifest for manifests in outcome.finished.values() for manifest in manifests]
    return {"by stream": table(rows)} | counts_metadata(every) | stage_metadata(every)


def counts_metadata(manifests: Sequence[Manifest]) -> dict[str, dg.MetadataValue[Any]]:
    """Return where the records went, as tables and as a picture."""
    metadata: dict[str, dg.MetadataValue[Any]] = {}
    counts = total_counts(manifests)
    by_number = dict(sorted(counts.dropped.items(), key=lambda item: (-item[1], item[0])))
    if by_number:
        metadata["dropped by reason"] = table(
            {"reason": reason, "records": number} for reason, number in by_number.items()
        )
        metadata["plot"] = bar_chart("Records kept and dropped", {"kept": counts.num_out} | by_number)
    if counts.noted:
        metadata["noted"] = table({"what": what, "number": n} for what, n in sorted(counts.noted.items()))
    return metadata


def failure_summary(outcome: StageOutcome) -> str:
    """Return in a few lines which partitions failed, and that the others are kept."""
    num_all = len(outcome.finished) + len(outcome.failed)
    lines = [
        f"{outcome.stage}: {len(outcome.failed)} of {num_all} partitions failed; the {len(outcome.finished)} "
        "others are finished and recorded. Run the same range again: what is finished is not built again."
        if num_all > 1
        else f"{outcome.stage} failed"
    ]
    named = list(outcome.failed.items())[:_NAMED_FAILURES]
    lines += [f"{key}: {error}".removeprefix(": ") for key, error in named]
    if len(outcome.failed) > len(named):
        lines.append(f"... and {len(outcome.failed) - len(named)} more")
    return "\n".join(lines)


def failure_metadata(failed: Mapping[str, MixleError]) -> dict[str, dg.MetadataValue[Any]]:
    """Return the failed partitions with their errors as a table."""
    return {
        "failed": table({"partition": key, "error": str(error)} for key, error in failed.items()),
        "num failed": dg.MetadataValue.int(len(failed)),
    }


def check_metadata(outcome: CheckOutcome) -> dict[str, dg.MetadataValue[Any]]:
    """Return what a check looked at and what it found."""
    metadata: dict[str, dg.MetadataValue[Any]] = {
        "partitions looked at": dg.MetadataValue.int(len(outcome.keys)),
        "partitions verified before": dg.MetadataValue.int(outcome.num_verified),
        "violations": dg.MetadataValue.int(outcome.num_violations),
    }
    if outcome.violations:
        metadata["first violations"] = table(
            {"where": violation.where, "expected": violation.expected, "found": violation.found}
            for violation in outcome.violations
        )
    return metadata
