"""What the runs of one build report, put together: attempts, ranges, checks."""

from dataclasses import replace
from typing import Any

from mixle_assets.defs.resources import Listener
from mixle_assets.errors import MixleError
from mixle_assets.pipeline.asset_check import SHOWN_VIOLATIONS, CheckOutcome
from mixle_assets.pipeline.run import OnProgress, StageOutcome


class Recorder(Listener):
    """Keeps what the steps report, and passes progress on to the caller instead of the run's log.

    Args:
        on_progress: Called when the number of finished outputs of a stage changes.
    """

    skip_verified = True

    def __init__(self, on_progress: OnProgress) -> None:
        self.checks: dict[tuple[str, str], CheckOutcome] = {}
        self.errors: list[MixleError] = []
        self.run_outcomes: dict[str, StageOutcome] = {}
        self.is_check_broken = False
        self._on_progress = on_progress
        self._earlier: list[StageOutcome] = []

    def begin_run(self) -> None:
        """Start to listen to another run."""
        self._earlier += self.run_outcomes.values()
        self.run_outcomes = {}

    @property
    def has_failed(self) -> bool:
        """Whether the run that is listened to said itself what failed."""
        return self.is_check_broken or any(outcome.failed for outcome in self.run_outcomes.values())

    @property
    def failed_keys(self) -> set[str]:
        """Partitions that failed in any run."""
        ended = [*self._earlier, *self.run_outcomes.values()]
        return {key for outcome in ended for key in outcome.failed}

    def outcomes(self) -> list[StageOutcome]:
        """Return how each stage ended over all runs."""
        total: dict[str, StageOutcome] = {}
        for outcome in [*self._earlier, *self.run_outcomes.values()]:
            stage = total.setdefault(outcome.stage, StageOutcome(outcome.stage))
            stage.finished |= outcome.finished
            stage.failed |= outcome.failed
            stage.num_built += outcome.num_built
            stage.num_current += outcome.num_current
        return list(total.values())

    def progress(self, log: Any) -> OnProgress:
        """See ``Listener``."""
        return self._on_progress

    def stage_ended(self, outcome: StageOutcome) -> None:
        """See ``Listener``; of two attempts in a run the second counts, with what the first one built."""
        first = self.run_outcomes.get(outcome.stage)
        if first is not None:
            outcome = replace(
                outcome,
                num_built=first.num_built + outcome.num_built,
                num_current=outcome.num_current - first.num_built,
            )
        self.run_outcomes[outcome.stage] = outcome

    def check_ended(self, outcome: CheckOutcome) -> None:
        """See ``Listener``; what a check found in several runs is added up."""
        self.is_check_broken |= outcome.failed
        earlier = self.checks.get((outcome.stage, outcome.name))
        if earlier is not None:
            outcome = replace(
                outcome,
                keys=earlier.keys + outcome.keys,
                num_verified=earlier.num_verified + outcome.num_verified,
                num_violations=earlier.num_violations + outcome.num_violations,
                violations=(earlier.violations + outcome.violations)[:SHOWN_VIOLATIONS],
            )
        self.checks[outcome.stage, outcome.name] = outcome

    def step_failed(self, error: MixleError) -> None:
        """See ``Listener``."""
        self.errors.append(error)
