"""What is built, stale and missing, found by reading manifests; nothing is built or changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from mixle_assets.errors import MixleError
from mixle_assets.manifest import Manifest, digest_of
from mixle_assets.pipeline.asking import ask_all
from mixle_assets.pipeline.build import stages_of
from mixle_assets.pipeline.inputs import find_unplanned_files
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages import Stage
from mixle_assets.pipeline.work import examine

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
    return [_status_of(loaded, stage)[0] for stage in stages_of(loaded)]


def find_state(loaded: LoadedRecipe) -> str | None:
    """Return the digest of all that is built, or None if a build would have something to do."""
    if not loaded.is_planned or find_unplanned_files(loaded):
        return None
    contents = []
    for stage in stages_of(loaded):
        status, manifests = _status_of(loaded, stage)
        if status.stale or status.missing:
            return None
        contents += [[manifest.stage, manifest.key, manifest.content_digest] for manifest in manifests]
    return digest_of(sorted(contents))


def _status_of(loaded: LoadedRecipe, stage: Stage) -> tuple[StageStatus, list[Manifest]]:
    """Return the status of a stage, and the manifests of what is current."""
    status = StageStatus(stage.name)
    current: list[Manifest] = []
    if stage.partitions == "shard" and not loaded.is_planned:
        return status, current

    def look(key: str) -> list[tuple[str | None, Manifest | None]] | MixleError:
        try:
            all_work = stage.find_work(loaded, key)
        except MixleError as error:
            return error
        return [examine(output, work.code_version) for work in all_work for output in work.outputs]

    keys = stage.keys(loaded)
    for key, found in zip(keys, ask_all(loaded, look, keys), strict=True):
        if isinstance(found, MixleError):
            status.missing[key] = UPSTREAM
            continue
        reasons = [reason for reason, _ in found if reason]
        manifests = [manifest for _, manifest in found if manifest is not None]
        if not reasons:
            status.current.append(key)
            current += manifests
        elif manifests:
            status.stale[key] = reasons[0]
        else:
            status.missing[key] = reasons[0]
    return status, current
