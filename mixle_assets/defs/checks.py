"""The asset checks of a recipe, from the pipeline's table: each runs a ``find_`` function and reports.

Checks have no partitions of their own: Dagster shows those that do as skipped after a run over a range. They
look at the partitions of the run instead, and at everything built where there are none.
"""

from dataclasses import replace

import dagster as dg

from mixle_assets.defs.assets import asset_key
from mixle_assets.defs.metadata import check_metadata
from mixle_assets.defs.partitions import keys_to_check
from mixle_assets.defs.resources import EngineResource, Listener, ReportResource
from mixle_assets.pipeline.asset_check import Check
from mixle_assets.pipeline.check import checks_of, run_check
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages import STAGES


def recipe_checks(loaded: LoadedRecipe) -> list[dg.AssetChecksDefinition]:
    """Return the checks of a recipe's assets."""
    return [asset_check(loaded, check) for check in checks_of(loaded)]


def asset_check(loaded: LoadedRecipe, check: Check) -> dg.AssetChecksDefinition:
    """Return one guarantee as an asset check; one that is an error stops what follows in the same run."""

    @dg.asset_check(
        asset=asset_key(loaded, check.stage),
        name=check.name,
        description=check.description,
        blocking=check.severity == "error",
    )
    def look(
        context: dg.AssetCheckExecutionContext,
        engine: EngineResource,
        listener: dg.ResourceParam[Listener],
        report: ReportResource,
    ) -> dg.AssetCheckResult:
        planned = replace(loaded)
        report.expect(planned)
        outcome = run_check(
            planned,
            check,
            keys=keys_to_check(context, planned, STAGES[check.stage]),
            engine=engine.open(planned),
            skip_verified=listener.skip_verified,
        )
        listener.check_ended(outcome)
        return dg.AssetCheckResult(
            passed=outcome.num_violations == 0,
            severity=dg.AssetCheckSeverity.ERROR if check.severity == "error" else dg.AssetCheckSeverity.WARN,
            metadata=check_metadata(outcome),
        )

    return look
