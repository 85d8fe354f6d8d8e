"""What is built, stale and missing, found by reading manifests; nothing is built or changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mixle_assets.errors import MixleError
from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.build import stages_of
from mixle_assets.pipeline.check import find_built
from mixle_assets.pipeline.inputs import find_unplanned_files
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages import Stage
from mixle_assets.pipeline.work import find_reason_to_build, read_manifest

UPSTREAM = "an input is not built"


@dataclass
class StageStatus:
    """The partitions of one stage, each in one of three states.

    Attributes:
        stage: The asset.
        current: Partitions that a build would leave as they are.
        stale: Partition to why it would be built again.
        missing: Partition to why it is not there.
    """

    stage: str
    current: list[str] = field(default_factory=list)
    stale: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def reasons(self) -> Counter[str]:
        """Why partitions are stale, with their numbers."""
        return Counter(self.stale.values())

    def as_json(self) -> dict[str, Any]:
        """Return the status as plain JSON."""
        return {"current": self.current, "stale": self.stale, "missing": self.missing}


def find_status(loaded: LoadedRecipe) -> list[StageStatus]:
    """Return the status of each stage of a recipe, in order of work."""
    return [_status_of(loaded, stage) for stage in stages_of(loaded)]


def find_state(loaded: LoadedRecipe) -> str | None:
    """Return the digest of all that is built, or None if a build would have something to do."""
    if not loaded.is_planned or find_unplanned_files(loaded):
        return None
    statuses = find_status(loaded)
    if any(status.stale or status.missing for status in statuses):
        return None
    manifests = [
        manifest
        for stage in stages_of(loaded)
        for all_work in find_built(loaded, stage.name).values()
        for work in all_work
        for output in work.outputs
        if (manifest := read_manifest(output.path)) is not None
    ]
    return digest_of(
        sorted([manifest.stage, manifest.key, manifest.content_digest] for manifest in manifests)
    )


def _status_of(loaded: LoadedRecipe, stage: Stage) -> StageStatus:
    status = StageStatus(stage.name)
    if stage.partitions == "shard" and not loaded.is_planned:
        return status
    for key in stage.keys(loaded):
        try:
            all_work = stage.find_work(loaded, key)
        except MixleError:
            status.missing[key] = UPSTREAM
            continue
        outputs = [(output, work.code_version) for work in all_work for output in work.outputs]
        reasons = [reason for output, version in outputs if (reason := find_reason_to_build(output, version))]
        if not reasons:
            status.current.append(key)
        elif any(read_manifest(output.path) is not None for output, _ in outputs):
            status.stale[key] = reasons[0]
        else:
            status.missing[key] = reasons[0]
    return status
