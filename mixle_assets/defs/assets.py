"""The assets of a recipe, from a factory over the stages: take the partitions, ask the pipeline, report."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import dagster as dg
from pydantic import Field

from mixle_assets import storage
from mixle_assets.defs.catalog import CATALOG, SHARD_PLAN, assets_of, upstream_of
from mixle_assets.defs.metadata import (
    content_digest_of,
    failure_metadata,
    failure_summary,
    partition_metadata,
    range_metadata,
    run_metadata,
)
from mixle_assets.defs.partitions import RecipePartitions, keys_to_build
from mixle_assets.defs.resources import EngineResource, Listener, ReportResource
from mixle_assets.defs.sensors import AUTOMATION
from mixle_assets.defs.tables import table
from mixle_assets.defs.versions import code_version
from mixle_assets.errors import LeaseError, MixleError, ShardError, StoreError
from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.inputs import PlanChange, freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.report import report_path
from mixle_assets.pipeline.run import StageOutcome, run_stage
from mixle_assets.pipeline.stages import STAGES, Stage

# A second attempt is asked for by the step itself: under a RetryPolicy Dagster (1.13) repeats an interrupted
# step too, so that *Terminate* would start the work anew instead of ending it.
MAX_RETRIES = 1

# One step uses the machine; an instance may limit how many do so at once (docs/how-to/several-recipes.md).
POOL = "mixle_engine"


class StageConfig(dg.Config):
    """What a run may say about the work, in the launchpad; nothing here changes content."""

    workers: int | None = Field(default=None, ge=1, description="Worker processes of this step.")
    wait_in_seconds: float = Field(
        default=7 * 86400.0, ge=0, description="How long to wait for another build of the same recipe."
    )


class PlanConfig(dg.Config):
    """How the plan is frozen."""

    extend: bool = Field(default=True, description="Add new files; else a frozen plan stays as it is.")
    replan: bool = Field(
        default=False, description="Plan anew, instead of adding new files; shards may then change."
    )
    wait_in_seconds: float = Field(
        default=7 * 86400.0, ge=0, description="How long to wait for another build of the same recipe."
    )


def recipe_assets(loaded: LoadedRecipe) -> list[dg.AssetsDefinition]:
    """Return the assets of a recipe, in order of work."""
    partitions = RecipePartitions(loaded)
    return [
        plan_asset(loaded) if name == SHARD_PLAN else stage_asset(loaded, STAGES[name], partitions)
        for name in assets_of(loaded)
    ]


def asset_key(loaded: LoadedRecipe, asset: str) -> dg.AssetKey:
    """Return the key of one asset of a recipe: ``<slug>/<asset>``."""
    return dg.AssetKey([loaded.recipe.slug, asset])


def plan_asset(loaded: LoadedRecipe) -> dg.AssetsDefinition:
    """Return the asset that freezes the plan."""

    @_asset(loaded, SHARD_PLAN, None)
    def shard_plan(
        context: dg.AssetExecutionContext, config: PlanConfig, listener: dg.ResourceParam[Listener]
    ) -> dg.MaterializeResult[None]:
        with _leased(context, listener, loaded, config.wait_in_seconds):
            change = _change_plan(replace(loaded), config)
        for warning in change.warnings:
            context.log.warning(warning)
        if change.new_keys:
            context.log.info(f"{len(change.new_keys)} new shards: reload the code location to see them")
        shards = change.plan.shards
        streams = {stream.name: change.plan.of_stream(stream.name) for stream in loaded.recipe.streams}
        return dg.MaterializeResult(
            metadata={
                "shards": len(shards),
                "new shards": len(change.new_keys),
                "streams": table(
                    {
                        "stream": name,
                        "shards": len(own),
                        "files": sum(len(shard.files) for shard in own),
                        "size in bytes": sum(file.size_in_bytes for shard in own for file in shard.files),
                    }
                    for name, own in streams.items()
                ),
            },
            data_version=dg.DataVersion(
                digest_of([[shard.key, [file.name for file in shard.files]] for shard in shards])
            ),
        )

    return shard_plan


def _change_plan(loaded: LoadedRecipe, config: PlanConfig) -> PlanChange:
    if loaded.is_planned and not config.extend and not config.replan:
        return PlanChange(loaded.plan, new_keys=(), warnings=())
    return freeze_plan(loaded, replan=config.replan)


def stage_asset(loaded: LoadedRecipe, stage: Stage, partitions: RecipePartitions) -> dg.AssetsDefinition:
    """Return the asset of one stage."""

    @_asset(loaded, stage.name, partitions)
    def build(
        context: dg.AssetExecutionContext,
        config: StageConfig,
        engine: EngineResource,
        listener: dg.ResourceParam[Listener],
        report: ReportResource,
    ) -> dg.MaterializeResult[None]:
        planned = replace(loaded)  # the plan as it is now, not as it was when the location was loaded
        report.expect(planned)
        with _leased(context, listener, planned, config.wait_in_seconds):
            outcome = run_stage(
                planned,
                stage,
                keys_to_build(context, planned, stage),
                engine.open(planned, config.workers),
                on_progress=listener.progress(context.log.info),
            )
        listener.stage_ended(outcome)
        return report_partitions(context, outcome)  # partial success is recorded before a failure is raised

    return build


def report_partitions(context: dg.AssetExecutionContext, outcome: StageOutcome) -> dg.MaterializeResult[None]:
    """Report how the partitions of a run ended.

    Raises:
        dagster.Failure: Some failed. Those that are finished are recorded first, on the last attempt only:
            an attempt that is repeated would record them twice.
        dagster.RetryRequested: Some failed, and it may have been the machine's fault.
    """
    if outcome.failed:
        is_last = context.retry_number >= MAX_RETRIES or not _may_pass_next_time(outcome)
        for key, manifests in outcome.finished.items() if is_last else ():
            context.log_event(
                dg.AssetMaterialization(
                    context.asset_key, partition=key or None, metadata=partition_metadata(manifests)
                )
            )
        failure = dg.Failure(failure_summary(outcome), failure_metadata(outcome.failed), allow_retries=False)
        if is_last:
            raise failure
        raise dg.RetryRequested(max_retries=MAX_RETRIES) from failure
    if len(outcome.finished) == 1:
        (manifests,) = outcome.finished.values()
        return dg.MaterializeResult(
            metadata=partition_metadata(manifests) | run_metadata(manifests),
            data_version=dg.DataVersion(content_digest_of(manifests)),
        )
    # A range: Dagster would give all partitions the same data version, so it gets none.
    for key, manifests in outcome.finished.items():
        context.add_asset_metadata(partition_metadata(manifests), partition_key=key)
    context.log_event(dg.AssetObservation(context.asset_key, metadata=range_metadata(outcome)))
    return dg.MaterializeResult()


def _may_pass_next_time(outcome: StageOutcome) -> bool:
    """Return whether an error may be the machine's fault: bad data stays bad."""
    return any(isinstance(error, ShardError | StoreError) for error in outcome.failed.values())


def _asset(
    loaded: LoadedRecipe, name: str, partitions: RecipePartitions | None
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Return the decorator that makes a function the asset ``name`` of a recipe."""
    entry = CATALOG[name]
    stage = STAGES.get(name)
    upstream = upstream_of(loaded, name)
    with quiet_about_backfill_policy():
        return dg.asset(
            key=asset_key(loaded, name),
            group_name=loaded.recipe.slug,
            deps=[_dependency(loaded, one, stage) for one in upstream],
            partitions_def=partitions.of(stage) if partitions is not None and stage is not None else None,
            description=entry.description,
            kinds=set(entry.kinds),
            metadata=_definition_metadata(loaded, name),
            code_version=code_version(loaded, name),
            backfill_policy=(
                dg.BackfillPolicy.multi_run(1) if entry.runs_alone else dg.BackfillPolicy.single_run()
            ),
            automation_condition=AUTOMATION if upstream else None,
            pool=POOL if stage is not None else None,
        )


def _dependency(loaded: LoadedRecipe, upstream: str, stage: Stage | None) -> dg.AssetDep:
    """Return an edge of the graph: shard to shard, or from all shards to whatever is not one."""
    key = asset_key(loaded, upstream)
    upstream_stage = STAGES.get(upstream)
    if stage is None or upstream_stage is None or upstream_stage.partitions in ("none", stage.partitions):
        return dg.AssetDep(key)
    return dg.AssetDep(key, partition_mapping=dg.AllPartitionMapping())


def _definition_metadata(loaded: LoadedRecipe, name: str) -> dict[str, Any]:
    """Return what an asset says before it is built: its folder, its report, where its recipe stands."""
    metadata: dict[str, Any] = {
        "folder": dg.MetadataValue.path(loaded.layout.folder),
        "report": dg.MetadataValue.path(report_path(loaded)),
    }
    if loaded.recipe.path is not None:
        line = loaded.recipe.line_of(CATALOG[name].recipe_key)
        metadata["recipe"] = dg.MetadataValue.path(f"{loaded.recipe.path}:{line}")
    return metadata


@contextmanager
def quiet_about_backfill_policy() -> Iterator[None]:
    """Silence the one warning that every start would print: the argument is labelled beta."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*`backfill_policy`", dg.BetaWarning)
        yield


@contextmanager
def _leased(
    context: dg.AssetExecutionContext, listener: Listener, loaded: LoadedRecipe, wait_in_seconds: float
) -> Iterator[None]:
    """Hold the lease on the recipe's folder; wait for another run of the same recipe, and say so.

    Errors of ours end the step by their message alone, without another attempt.
    """
    folder = loaded.layout.folder
    try:
        with ExitStack() as leases:
            try:
                leases.enter_context(storage.hold_lease(folder))
            except LeaseError as error:
                context.log.info(f"waiting up to {wait_in_seconds:.0f} s: {error}")
                leases.enter_context(storage.hold_lease(folder, wait_in_seconds=wait_in_seconds))
            yield
    except MixleError as error:
        listener.step_failed(error)
        raise dg.Failure(str(error), allow_retries=False) from error
