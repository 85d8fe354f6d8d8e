"""Build a corpus from the command line in such a way that the UI knows of it.

Runs in this process: the same assets and checks as in the UI, recorded in the same instance, with the
terminal left to whoever calls.
"""

import itertools
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import dagster as dg
from sqlalchemy import event as database_event
from sqlalchemy.engine import Engine as Database

from mixle_assets import storage
from mixle_assets.defs.assets import asset_key
from mixle_assets.defs.catalog import SHARD_PLAN, assets_of
from mixle_assets.defs.event_log import open_instance
from mixle_assets.defs.home import prepare_home
from mixle_assets.defs.location import recipe_definitions
from mixle_assets.defs.partitions import RANGE_END, RANGE_START
from mixle_assets.defs.recorder import Recorder
from mixle_assets.defs.resources import EngineResource, ReportResource
from mixle_assets.errors import ShardError
from mixle_assets.pipeline.build import BuildReport
from mixle_assets.pipeline.inputs import find_unplanned_files
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import OnProgress, StageOutcome, ignore_progress
from mixle_assets.pipeline.stages import STAGES

RECIPE_TAG, LAUNCHED_BY_TAG = "mixle/recipe", "mixle/launched_by"
COMMAND_LINE = "command line"

# Our progress bars have the terminal; what Dagster would log there is in the run's log all the same.
_SILENT = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def build_with_dagster(
    loaded: LoadedRecipe,
    *,
    workers: int | None = None,
    on_progress: OnProgress = ignore_progress,
    wait_in_seconds: float = 0.0,
) -> BuildReport:
    """Bring a corpus up to date as ``pipeline.build`` does, and record it as runs of Dagster.

    The documents and the plan are one run, all stages over shards a second, each epoch one more; each run has
    its checks. A check that fails stops what would follow. A shard that fails stops itself and what needs all
    shards: the others go on, in a run for each unbroken range of them.

    Args:
        loaded: The recipe.
        workers: Worker processes; None as the recipe says.
        on_progress: Called when the number of finished outputs of a stage changes.
        wait_in_seconds: How long to wait for another build of the same recipe.

    Raises:
        MixleError: Nothing could be built, since the plan could not be made.
        LeaseError: Another build holds the recipe's folder.
    """
    launcher = _Launcher(loaded, workers, Recorder(on_progress))
    with storage.hold_lease(loaded.layout.folder, wait_in_seconds=wait_in_seconds), _hurried_records():
        storage.remove_partial_files(loaded.layout.folder)
        with open_instance(str(prepare_home(loaded.layout.root))) as instance:
            _end_abandoned_runs(instance, loaded.recipe.slug)
            launcher.build(instance)
    return launcher.report()


class _Launcher:
    """The runs of one build, one after the other."""

    def __init__(self, loaded: LoadedRecipe, workers: int | None, recorder: Recorder) -> None:
        self.loaded = loaded
        self.workers = workers
        self.recorder = recorder
        self.warnings = list(loaded.warnings)
        self.faults: list[StageOutcome] = []  # steps that ended without telling the recorder why

    def report(self) -> BuildReport:
        """Return what the runs did."""
        outcomes = {outcome.stage: outcome for outcome in self.recorder.outcomes()}
        in_order = [outcomes[name] for name in STAGES if name in outcomes]
        return BuildReport([*in_order, *self.faults], self.warnings, list(self.recorder.checks.values()))

    def build(self, instance: dg.DagsterInstance) -> None:
        """Run everything; stop where nothing further can be right."""
        was_planned = self.loaded.is_planned
        names = assets_of(self.loaded)
        first = [name for name in ("documents", SHARD_PLAN) if name in names]
        # A build leaves a frozen plan as it is; new files are a decision of their own.
        plan_config = {"config": {"extend": not was_planned}}
        if not self._run(
            instance, first, ops={"__".join(asset_key(self.loaded, SHARD_PLAN).path): plan_config}
        ):
            return
        if was_planned and (unplanned := find_unplanned_files(self.loaded)):
            self.warnings.append(
                f"{len(unplanned)} document files are not in the frozen plan, so not in the corpus (first: "
                f"{unplanned[0]}); `mixle-assets plan` adds them"
            )
        self.loaded = replace(self.loaded)  # a fresh one, that reads the plan as it is now
        epochs = [name for name in names if name in STAGES and STAGES[name].partitions == "epoch"]
        shards = [name for name in names if name not in (*first, *epochs)]
        if self._build_shards(instance, shards, self.loaded.plan.keys):
            for name in epochs:
                for epoch in STAGES[name].keys(self.loaded):
                    if not self._run(instance, [name], keys=[epoch]):
                        return
        elif not self._is_stopped():
            self._warn_of_waiting(epochs)

    def _build_shards(self, instance: dg.DagsterInstance, names: Sequence[str], keys: Sequence[str]) -> bool:
        """Run stages over shards; where some fail, take the others as far as they can go.

        Returns:
            Whether all passed.
        """
        if not names or self._run(instance, names, keys=keys):
            return True
        outcomes = self.recorder.run_outcomes
        stopped = {key for outcome in outcomes.values() for key in outcome.failed}
        if self._is_stopped() or not stopped <= set(keys):
            return False  # a check is broken, or a step over all shards failed
        # Dagster skips what follows a step that failed, for all of its partitions: the sound ones go on here.
        for stage in [STAGES[name] for name in names if name not in outcomes]:
            if stage.partitions != "shard":
                self._warn_of_waiting([stage.name])
                stopped |= stage.shards_waiting(self.loaded)
                continue
            for part in _unbroken_ranges(keys, stopped):
                if self._is_stopped():
                    return False
                self._run(instance, [stage.name], keys=part)
            stopped |= self.recorder.failed_keys
        return False

    def _warn_of_waiting(self, names: Sequence[str]) -> None:
        failed = ", ".join(sorted(key for key in self.recorder.failed_keys if key))
        self.warnings += [f"{name} needs all shards and waits for {failed}" for name in names if failed]

    def _is_stopped(self) -> bool:
        return bool(self.faults) or self.recorder.is_check_broken

    def _run(
        self,
        instance: dg.DagsterInstance,
        names: Sequence[str],
        *,
        keys: Sequence[str] = (),
        ops: Mapping[str, Any] | None = None,
    ) -> bool:
        """Materialize assets with their checks as one run, and return whether it passed."""
        self.recorder.begin_run()
        tags = {RECIPE_TAG: self.loaded.recipe.slug, LAUNCHED_BY_TAG: COMMAND_LINE}
        if len(keys) > 1:
            tags |= {RANGE_START: keys[0], RANGE_END: keys[-1]}
        result = self._job().execute_in_process(
            instance=instance,
            asset_selection=[asset_key(self.loaded, name) for name in names],
            run_config={**_SILENT, "ops": dict(ops or {})},
            partition_key=keys[0] if len(keys) == 1 else None,
            tags=tags,
            raise_on_error=False,
        )
        failures = [event for event in result.all_events if event.is_step_failure]
        if any(_is_interrupt(event) for event in result.all_events):
            raise KeyboardInterrupt
        if self.recorder.errors:
            raise self.recorder.errors[0]
        if not result.success and not self.recorder.has_failed:
            self.faults += [
                StageOutcome(event.step_key or "run", failed={"": ShardError(_message_of(event))})
                for event in failures
            ]
        return result.success

    def _job(self) -> dg.JobDefinition:
        """Return the job that the UI, too, runs assets in."""
        resources = {
            "engine": EngineResource(workers=self.workers),
            "listener": self.recorder,
            "report": ReportResource(is_written=False),
        }
        common = dg.Definitions(resources=resources, executor=dg.in_process_executor)
        definitions = dg.Definitions.merge(common, recipe_definitions(self.loaded))
        return definitions.resolve_implicit_global_asset_job_def()


@contextmanager
def _hurried_records() -> Iterator[None]:
    """Let SQLite not wait for the disk while a build records itself.

    Each event is a commit of its own: with waiting, 7 shards took 41 s of a busy machine, without 8 s. A
    killed process loses nothing by it; a power failure may cost Dagster's history, never a corpus, whose
    files and manifests are synced each.
    """
    database_event.listen(Database, "connect", _do_not_wait)
    try:
        yield
    finally:
        database_event.remove(Database, "connect", _do_not_wait)


def _do_not_wait(connection: Any, record: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=OFF")


def _unbroken_ranges(keys: Sequence[str], failed: set[str]) -> list[list[str]]:
    """Return the keys that did not fail as ranges: a run is told its first and its last partition only."""
    grouped = itertools.groupby(keys, key=lambda key: key in failed)
    return [list(group) for is_failed, group in grouped if not is_failed]


def _is_interrupt(event: dg.DagsterEvent) -> bool:
    """Return whether a step or, between two steps, the run was ended by an interrupt."""
    if event.is_step_failure:
        error = event.step_failure_data.error
    elif event.event_type == dg.DagsterEventType.RUN_FAILURE:
        error = event.job_failure_data.error
    else:
        return False
    return error is not None and error.cls_name in (
        "DagsterExecutionInterruptedError",
        "KeyboardInterrupt",
    )


def _message_of(event: dg.DagsterEvent) -> str:
    error = event.step_failure_data.error
    return error.to_string() if error is not None else "failed without a message"


def _end_abandoned_runs(instance: dg.DagsterInstance, slug: str) -> None:
    """Mark as failed what a killed command left as running: whoever holds the lease is alone."""
    abandoned = dg.RunsFilter(
        tags={RECIPE_TAG: slug, LAUNCHED_BY_TAG: COMMAND_LINE}, statuses=[dg.DagsterRunStatus.STARTED]
    )
    for run in instance.get_runs(abandoned):
        instance.report_run_failed(run, "The command was killed; what it finished is kept.")
