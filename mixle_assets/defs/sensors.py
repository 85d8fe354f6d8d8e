"""What may start work by itself. Everything here is off until somebody turns it on in the UI.

A corpus build is deliberate: new files change what a model is trained on.
"""

from dataclasses import replace

import dagster as dg

from mixle_assets.defs.catalog import SHARD_PLAN
from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.inputs import find_unplanned_files
from mixle_assets.pipeline.load import LoadedRecipe

SECONDS_BETWEEN_LOOKS = 60

# Eager, but not past a check that failed: within a run a blocking check stops what follows, across runs
# only a condition does.
AUTOMATION = dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed()


def recipe_sensors(loaded: LoadedRecipe) -> list[dg.SensorDefinition]:
    """Return the sensors of a recipe, all stopped: one plans new files, one builds what is stale."""
    return [new_files_sensor(loaded), automation_sensor(loaded)]


def new_files_sensor(loaded: LoadedRecipe) -> dg.SensorDefinition:
    """Return the sensor that extends the plan when the recipe's patterns match files that it does not have.

    Their shards are partitions once the code location is reloaded.
    """

    @dg.sensor(
        name=f"{loaded.recipe.slug}_new_files",
        target=dg.AssetSelection.assets([loaded.recipe.slug, SHARD_PLAN]),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description="Plans new document files at the end. Reload the code location to see their shards.",
    )
    def new_files(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        del context
        planned = replace(loaded)
        if not planned.is_planned:
            return dg.SkipReason("There is no plan yet: materialize shard_plan.")
        unplanned = find_unplanned_files(planned)
        if not unplanned:
            return dg.SkipReason("Every document file is in the plan.")
        # The key makes one run of one set of files, however often it is seen until the run has planned it.
        return dg.RunRequest(run_key=digest_of(unplanned))

    return new_files


def automation_sensor(loaded: LoadedRecipe) -> dg.AutomationConditionSensorDefinition:
    """Return the sensor under which the assets of a recipe follow their inputs."""
    return dg.AutomationConditionSensorDefinition(
        f"{loaded.recipe.slug}_automation",
        target=dg.AssetSelection.groups(loaded.recipe.slug),
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Builds a shard when its inputs changed, and an epoch when all shards are there.",
    )
