"""Run one stage over partitions: skip what is current, do the rest on an engine, report per partition."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from mixle_assets import storage
from mixle_assets.engine import Engine
from mixle_assets.errors import MixleError
from mixle_assets.manifest import Manifest
from mixle_assets.pipeline.asking import ask_all
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.memory import require_memory
from mixle_assets.pipeline.stages import Stage
from mixle_assets.pipeline.work import Work, do_work, find_current


@dataclass
class StageOutcome:
    """How a stage's partitions ended.

    Attributes:
        stage: The asset.
        finished: Partition to the manifests of all its outputs, for partitions that are whole.
        failed: Partition to its first error.
        num_built: Outputs that were built.
        num_current: Outputs that were left as they were.
    """

    stage: str
    finished: dict[str, list[Manifest]] = field(default_factory=dict)
    failed: dict[str, MixleError] = field(default_factory=dict)
    num_built: int = 0
    num_current: int = 0


OnProgress = Callable[[str, int, int], None]
"""Called with the stage, the outputs that are done, and their total."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def run_stage(
    loaded: LoadedRecipe,
    stage: Stage,
    keys: Iterable[str],
    engine: Engine,
    *,
    on_progress: OnProgress = ignore_progress,
    wait_in_seconds: float = 0.0,
) -> StageOutcome:
    """Bring the given partitions of a stage up to date.

    A partition that fails does not stop the others. Holds the lease on the recipe's folder.

    Args:
        loaded: The recipe.
        stage: Which stage.
        keys: Partitions; ``[""]`` for a stage without partitions.
        engine: Where the work runs.
        on_progress: Called when the number of finished outputs changes.
        wait_in_seconds: How long to wait for another build of the same recipe.

    Raises:
        LeaseError: Another build holds the recipe's folder.
        RecipeError: What the workers would keep in memory, such as models, does not fit into this machine.
    """
    with storage.hold_lease(loaded.layout.folder, wait_in_seconds=wait_in_seconds):
        return _run_leased(loaded, stage, list(keys), engine, on_progress)


def _run_leased(
    loaded: LoadedRecipe, stage: Stage, keys: Sequence[str], engine: Engine, on_progress: OnProgress
) -> StageOutcome:
    outcome = StageOutcome(stage.name)
    all_work: dict[str, Sequence[Work]] = {}
    manifests: dict[str, Manifest] = {}  # by location: of what is left, then of what is built
    pending: list[Work] = []

    def look(key: str) -> MixleError | list[tuple[Work, dict[str, Manifest]]]:
        try:
            works = stage.find_work(loaded, key)
        except MixleError as error:
            return error
        return [(work, find_current(work)) for work in works]

    for key, found in zip(keys, ask_all(loaded, look, keys), strict=True):
        if isinstance(found, MixleError):
            outcome.failed[key] = found
            continue
        all_work[key] = [work for work, _ in found]
        for work, current in found:
            manifests |= current
            outcome.num_current += len(current)
            wanted = tuple(output for output in work.outputs if output.path not in current)
            if wanted:
                pending.append(dataclasses.replace(work, outputs=wanted))
    require_memory(pending, engine)
    total = outcome.num_current + sum(len(work.outputs) for work in pending)
    on_progress(stage.name, outcome.num_current, total)
    with closing(engine.run(do_work, pending)) as running:  # an interrupt here ends the workers here
        for ended in running:
            work = pending[ended.index]
            if ended.error is not None:
                outcome.failed.setdefault(work.key, ended.error)
                continue
            paths = (output.path for output in work.outputs)
            manifests.update(zip(paths, ended.result or (), strict=True))
            outcome.num_built += len(work.outputs)
            on_progress(stage.name, outcome.num_current + outcome.num_built, total)
    for key, works in all_work.items():
        if key not in outcome.failed:
            outcome.finished[key] = [manifests[output.path] for work in works for output in work.outputs]
    return outcome
