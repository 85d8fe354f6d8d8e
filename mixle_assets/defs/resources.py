"""What a run is given from outside: where work runs, who is told how far it is, where its report goes."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dagster as dg
from dagster._core.events import EngineEventData
from pydantic import PrivateAttr

from mixle_assets.engine import Engine, open_engine
from mixle_assets.errors import MixleError
from mixle_assets.pipeline.asset_check import CheckOutcome
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.report import write_report
from mixle_assets.pipeline.run import OnProgress, StageOutcome

SECONDS_BETWEEN_LOGS = 5.0
REPORT_TAG = "mixle/report"


class EngineResource(dg.ConfigurableResource[None]):
    """Where the work inside a step runs; what is not set here is as the recipe's `execution` says.

    Attributes:
        kind: ``serial``, ``processes`` or ``ray``.
        workers: Number of worker processes.
    """

    kind: str | None = None
    workers: int | None = None
    _opened: dict[tuple[str, int | None], Engine] = PrivateAttr(default_factory=dict)

    def open(self, loaded: LoadedRecipe, workers: int | None = None) -> Engine:
        """Return the engine for a recipe; ``workers`` goes before all other settings.

        All steps and checks of a run share it, so its workers start once and end with the run.
        """
        execution = loaded.recipe.execution
        key = (self.kind or execution.engine, workers or self.workers or execution.workers)
        if key not in self._opened:
            self._opened[key] = open_engine(*key, ray_address=execution.ray_address).__enter__()
        return self._opened[key]

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """End the workers with the run."""
        while self._opened:
            self._opened.popitem()[1].__exit__(None, None, None)


class ReportResource(dg.ConfigurableResource[None]):
    """Writes the page on a corpus at the end of each run that worked on it, whether the run passed or not.

    The run gets its location as the tag ``mixle/report`` and as an event.

    Attributes:
        is_written: Whether to write it here; the command line does so itself, once for all of its runs.
    """

    is_written: bool = True
    _recipes: dict[str, LoadedRecipe] = PrivateAttr(default_factory=dict)

    def expect(self, loaded: LoadedRecipe) -> None:
        """Note that this run works on a recipe."""
        self._recipes[loaded.layout.folder] = loaded

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Write the pages, and say where they are."""
        while self._recipes and self.is_written:
            _, loaded = self._recipes.popitem()
            page = write_report(replace(loaded))  # a fresh one: the plan may be new
            if context.instance is not None and context.run is not None:
                context.instance.add_run_tags(context.run.run_id, {REPORT_TAG: page})
                context.instance.report_engine_event(
                    f"The report on what is built: {page}",
                    context.run,
                    EngineEventData(metadata={"report": dg.MetadataValue.path(page)}),
                )


class Listener:
    """Is told what happens in a run. This one writes progress into the run's log.

    Every line of the log is a row in Dagster's database, so a stage logs at most every few seconds, however
    many documents it reads.
    """

    skip_verified = False
    """Whether checks may pass over partitions that passed before in the same content."""

    def progress(self, log: Callable[[str], Any]) -> OnProgress:
        """Return what a stage calls as it goes on; ``log`` writes a line into the run's log."""
        last = time.monotonic()

        def on_progress(stage: str, done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= SECONDS_BETWEEN_LOGS or done == total:
                last = time.monotonic()
                log(f"{stage}: {done} of {total} outputs are done")

        return on_progress

    def stage_ended(self, outcome: StageOutcome) -> None:
        """Take note of how an attempt at a stage ended."""

    def check_ended(self, outcome: CheckOutcome) -> None:
        """Take note of what a check found."""

    def step_failed(self, error: MixleError) -> None:
        """Take note of an error that ended a step before any partition of it."""
