"""The one job of a recipe: all its checks on all that is built, for CI.

There is no job that builds: one job cannot hold both shard and epoch partitions, and a backfill of a
partitioned job makes a run of every partition. Building all is ``mixle-assets build``, or *Materialize all*.
"""

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from mixle_assets.pipeline.load import LoadedRecipe


def checks_job(
    loaded: LoadedRecipe, checks: Sequence[dg.AssetChecksDefinition]
) -> UnresolvedAssetJobDefinition:
    """Return the job ``<slug>_checks``; a run with a partition's tag looks at that partition alone."""
    return dg.define_asset_job(
        f"{loaded.recipe.slug}_checks",
        selection=dg.AssetSelection.checks(*(key for check in checks for key in check.check_keys)),
        description="All checks of this recipe on all that is built.",
    )
