"""What may start work by itself: off until turned on, and then exactly what is due."""

from pathlib import Path

import dagster as dg
from small_graph import SHARD_ASSETS, SHARDS, Run, write_documents

from mixle_assets.defs.location import location_definitions, recipe_definitions
from mixle_assets.defs.sensors import new_files_sensor
from mixle_assets.pipeline.load import LoadedRecipe, load

GROUP = dg.AssetSelection.groups("small")


def test_everything_is_off_until_somebody_turns_it_on(loaded: LoadedRecipe, root: str):
    sensors = recipe_definitions(loaded).sensors or []

    assert sorted(sensor.name for sensor in sensors) == ["small_automation", "small_new_files"]
    assert {sensor.default_status for sensor in sensors} == {dg.DefaultSensorStatus.STOPPED}


def test_new_files_are_planned_once(loaded: LoadedRecipe, instance: dg.DagsterInstance, tmp_path: Path):
    sensor = new_files_sensor(loaded)
    context = dg.build_sensor_context(instance=instance)

    nothing = sensor(context)
    assert isinstance(nothing, dg.SkipReason)
    assert nothing.skip_message == "Every document file is in the plan."

    write_documents(tmp_path / "in" / "documents" / "prose" / "0005.jsonl.gz", [{"id": "n", "text": "New."}])
    first, again = sensor(context), sensor(context)
    assert isinstance(first, dg.RunRequest)
    assert isinstance(again, dg.RunRequest)
    assert first.run_key == again.run_key


def test_a_recipe_without_a_plan_is_left_to_its_user(
    recipe_path: Path, root: str, instance: dg.DagsterInstance
):
    skipped = new_files_sensor(load(recipe_path, root))(dg.build_sensor_context(instance=instance))

    assert isinstance(skipped, dg.SkipReason)
    assert "materialize shard_plan" in (skipped.skip_message or "")


def test_a_shard_that_was_built_anew_asks_for_what_is_made_from_it_alone(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance, root: str
):
    definitions = location_definitions([loaded.recipe.path or ""], root)
    assert run(loaded, SHARD_ASSETS, keys=SHARDS).success
    before = dg.evaluate_automation_conditions(definitions, instance, GROUP)
    assert before.get_requested_partitions(dg.AssetKey(["small", "doc_arrays"])) == set()

    assert run(loaded, ["mixed_shards"], keys=SHARDS[1:2]).success
    after = dg.evaluate_automation_conditions(definitions, instance, GROUP, cursor=before.cursor)

    assert after.get_requested_partitions(dg.AssetKey(["small", "doc_arrays"])) == {"prose/0001"}
    assert after.get_requested_partitions(dg.AssetKey(["small", "attributes"])) == set()
