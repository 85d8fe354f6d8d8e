"""The manifests of a corpus as one tree of numbers: counts that balance, digests, checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mixle_assets.manifest import Manifest, digest_of
from mixle_assets.pipeline.build import BuildReport
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import StageOutcome
from mixle_assets.records import Counts


def summarize(loaded: LoadedRecipe, report: BuildReport) -> dict[str, Any]:
    """Return what a build left on disk as plain JSON.

    Returns:
        ``recipe``, ``folder``, ``num_built``, ``num_current``, ``failed``, ``warnings``, ``checks``; and
        ``stages``: of each its digest, numbers of partitions, and ``groups`` (streams, sets, epochs) with
        their counts.
    """
    return {
        "recipe": loaded.recipe.name,
        "folder": loaded.layout.folder,
        "num_built": report.num_built,
        "num_current": report.num_current,
        "failed": {name: str(error) for name, error in report.failed.items()},
        "warnings": report.warnings,
        "stages": [_stage(outcome) for outcome in report.outcomes],
        "checks": [check.as_json() for check in report.checks],
    }


def stage_digest(manifests: Iterable[Manifest]) -> str:
    """Return the digest of a whole stage: of the keys and content digests of its outputs, sorted."""
    return digest_of(sorted([manifest.key, manifest.content_digest] for manifest in manifests))


def _stage(outcome: StageOutcome) -> dict[str, Any]:
    manifests = [manifest for all_of_key in outcome.finished.values() for manifest in all_of_key]
    groups: dict[str, Counts] = {}
    for manifest in manifests:
        groups.setdefault(_group_of(manifest), Counts()).add(manifest.counts)
    return {
        "name": outcome.stage,
        "digest": stage_digest(manifests),
        "num_partitions": len(outcome.finished),
        "num_failed": len(outcome.failed),
        "num_built": outcome.num_built,
        "num_current": outcome.num_current,
        "size_in_bytes": sum(manifest.size_in_bytes for manifest in manifests),
        "groups": {
            name: {
                "num_in": counts.num_in,
                "num_out": counts.num_out,
                "dropped": dict(sorted(counts.dropped.items(), key=lambda item: (-item[1], item[0]))),
                "noted": dict(sorted(counts.noted.items())),
            }
            for name, counts in groups.items()
        },
    }


def _group_of(manifest: Manifest) -> str:
    """Return what an output's numbers are added up under: the stream, the attribute set, or itself."""
    return manifest.key.partition("/")[0]
