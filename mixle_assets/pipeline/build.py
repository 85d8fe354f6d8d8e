"""The whole chain in order, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mixle_assets import storage
from mixle_assets.engine import Engine, open_engine
from mixle_assets.errors import MixleError, RecipeError
from mixle_assets.pipeline.asset_check import CheckOutcome
from mixle_assets.pipeline.inputs import find_unplanned_files, freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import OnProgress, StageOutcome, ignore_progress, run_stage
from mixle_assets.pipeline.stages import STAGES, Stage


@dataclass
class BuildReport:
    """What a build did.

    Attributes:
        outcomes: How each stage ended, in order.
        warnings: What the user should know.
        checks: What the checks found.
    """

    outcomes: list[StageOutcome] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    checks: list[CheckOutcome] = field(default_factory=list)

    @property
    def failed(self) -> dict[str, MixleError]:
        """``<stage> <partition>`` to its error, for all that failed."""
        return {
            f"{outcome.stage} {key}".rstrip(): error
            for outcome in self.outcomes
            for key, error in outcome.failed.items()
        }

    @property
    def num_built(self) -> int:
        """Outputs that were built."""
        return sum(outcome.num_built for outcome in self.outcomes)

    @property
    def num_current(self) -> int:
        """Outputs that were left as they were."""
        return sum(outcome.num_current for outcome in self.outcomes)


def stages_of(loaded: LoadedRecipe) -> list[Stage]:
    """Return the stages that a recipe has, in order of work."""
    return [stage for stage in STAGES.values() if stage.is_in(loaded)]


def engine_of(loaded: LoadedRecipe, workers: int | None = None) -> Engine:
    """Return the engine that a recipe asks for; ``workers`` overrides its number."""
    execution = loaded.recipe.execution
    return open_engine(execution.engine, workers or execution.workers, ray_address=execution.ray_address)


def make_documents(
    loaded: LoadedRecipe, engine: Engine, on_progress: OnProgress = ignore_progress
) -> StageOutcome | None:
    """Make the documents that are made here; None if the recipe has none of these."""
    documents = STAGES["documents"]
    if not documents.is_in(loaded):
        return None
    return run_stage(loaded, documents, documents.keys(loaded), engine, on_progress=on_progress)


def prepare(
    loaded: LoadedRecipe, engine: Engine, report: BuildReport, on_progress: OnProgress = ignore_progress
) -> LoadedRecipe:
    """Make the documents that are made here, and freeze the plan if there is none.

    Returns:
        The recipe as planned; the outcome and what is worth a warning are added to ``report``.
    """
    outcome = make_documents(loaded, engine, on_progress)
    if outcome is not None:
        report.outcomes.append(outcome)
        if outcome.failed:
            return loaded
    if not loaded.is_planned:
        report.warnings += freeze_plan(loaded).warnings
    elif unplanned := find_unplanned_files(loaded):
        report.warnings.append(
            f"{len(unplanned)} document files are not in the frozen plan, so not in the corpus (first: "
            f"{unplanned[0]}); `mixle-assets plan` adds them"
        )
    return replace(loaded)  # a fresh one: the plan is read once and kept


def build(
    loaded: LoadedRecipe,
    engine: Engine,
    *,
    only: str | None = None,
    shards: Sequence[str] = (),
    on_progress: OnProgress = ignore_progress,
    wait_in_seconds: float = 0.0,
) -> BuildReport:
    """Bring a corpus up to date, stage by stage.

    A shard that fails goes no further and stops no other shard; a stage that needs all shards is not begun
    while one of them failed.

    Args:
        loaded: The recipe.
        engine: Where the work runs.
        only: Name of the one stage to run; None runs all.
        shards: Keys of the shards to run; empty runs all. With some, what needs all shards is left out, but
            for the hashes and the index of duplicates, without which no shard is right.
        on_progress: Called when the number of finished outputs of a stage changes.
        wait_in_seconds: How long to wait for another build of the same recipe.

    Raises:
        RecipeError: There is no such stage or shard in the recipe.
        LeaseError: Another build holds the recipe's folder.
    """
    report = BuildReport(warnings=list(loaded.warnings))
    stages = stages_of(loaded)
    if only is not None and only not in {stage.name for stage in stages}:
        raise RecipeError(
            f"no stage {only!r} in this recipe; it has {', '.join(stage.name for stage in stages)}"
        )
    with storage.hold_lease(loaded.layout.folder, wait_in_seconds=wait_in_seconds):
        storage.remove_partial_files(loaded.layout.folder)
        loaded = prepare(loaded, engine, report, on_progress)
        if report.failed:
            return report
        if unknown := sorted(set(shards) - set(loaded.plan.keys)):
            raise RecipeError(
                f"no shard {unknown[0]!r} in the plan; it has {', '.join(loaded.plan.keys[:10])}, …"
            )
        failed_keys: set[str] = set()
        waiting_keys: set[str] = set()
        for stage in stages:
            if stage.name == "documents" or only not in (None, stage.name):
                continue
            keys = stage.keys(loaded)
            if stage.partitions == "shard":
                keys = tuple(key for key in keys if key not in failed_keys | waiting_keys)
            elif failed_keys:
                waiting_keys |= stage.shards_waiting(loaded)
                report.warnings.append(
                    f"{stage.name} needs all shards and waits for {', '.join(sorted(failed_keys))}"
                )
                continue
            if shards and not stage.is_global:
                if stage.partitions != "shard":
                    continue
                keys = tuple(key for key in keys if key in shards)
            outcome = run_stage(loaded, stage, keys, engine, on_progress=on_progress)
            report.outcomes.append(outcome)
            failed_keys |= set(outcome.failed)
    return report
