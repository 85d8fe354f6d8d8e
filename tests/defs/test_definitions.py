"""The code location: which recipes it shows, how, and what a broken one does to the others."""

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from small_graph import RECIPE, SHARDS, write_corpus

from mixle_assets.defs.location import definitions_from_environment, location_definitions
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe, load


def assets_of(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}


def test_a_planned_recipe_shows_its_chain(loaded: LoadedRecipe, root: str):
    definitions = location_definitions([loaded.recipe.path or ""], root)

    dg.Definitions.validate_loadable(definitions)
    specs = assets_of(definitions)
    assert {name: [dep.asset_key.path[-1] for dep in spec.deps] for name, spec in specs.items()} == {
        "small/shard_plan": [],
        "small/attributes": ["shard_plan"],
        "small/content_hashes": ["shard_plan"],
        "small/duplicate_index": ["content_hashes"],
        "small/duplicate_attributes": ["content_hashes", "duplicate_index"],
        "small/mixed_shards": ["attributes", "duplicate_attributes"],
        "small/doc_arrays": ["mixed_shards"],
        "small/packed_epoch": ["doc_arrays"],
    }
    assert {spec.group_name for spec in specs.values()} == {"small"}
    assert specs["small/mixed_shards"].partitions_def is not None
    assert specs["small/mixed_shards"].partitions_def.get_partition_keys() == list(SHARDS)
    assert specs["small/packed_epoch"].partitions_def is not None
    assert specs["small/packed_epoch"].partitions_def.get_partition_keys() == ["0", "1"]
    assert all(spec.description for spec in specs.values())
    assert [job.name for job in definitions.resolve_all_job_defs() if not job.name.startswith("__")] == [
        "small_checks"
    ]


def test_a_recipe_without_a_plan_shows_its_assets_without_partitions(recipe_path: Path, root: str):
    definitions = location_definitions([str(recipe_path)], root)

    dg.Definitions.validate_loadable(definitions)
    partitions = assets_of(definitions)["small/mixed_shards"].partitions_def
    assert partitions is not None
    assert partitions.get_partition_keys() == []


def test_a_broken_recipe_shows_its_error_and_takes_no_other_down(
    recipe_path: Path, root: str, tmp_path: Path
):
    (tmp_path / "broken.yaml").write_text(RECIPE.replace("taggers:", "tagers:"))

    specs = assets_of(location_definitions([str(tmp_path)], root))

    assert "small/mixed_shards" in specs
    assert "tagers" in (specs["broken/recipe"].description or "")
    assert "taggers" in (specs["broken/recipe"].description or "")
    assert "broken.yaml:5" in (specs["broken/recipe"].description or "")


def test_a_broken_recipe_fails_when_it_is_run(tmp_path: Path, root: str, instance: dg.DagsterInstance):
    (tmp_path / "broken.yaml").write_text("streams: 7\n")
    definitions = location_definitions([str(tmp_path)], root)

    job = definitions.resolve_implicit_global_asset_job_def()
    assert not job.execute_in_process(instance=instance, raise_on_error=False).success


def test_a_tagger_that_cannot_be_imported_breaks_its_own_recipe_alone(
    recipe_path: Path, root: str, tmp_path: Path
):
    (tmp_path / "other.yaml").write_text(RECIPE.replace("char_length_v1]", "raises_on_import.tagger]"))
    (tmp_path / "raises_on_import.py").write_text("1 / 0\n")
    sys.path.insert(0, str(tmp_path))
    try:
        specs = assets_of(location_definitions([str(tmp_path)], root))
    finally:
        sys.path.remove(str(tmp_path))

    assert "small/mixed_shards" in specs
    assert "raises_on_import" in (specs["other/recipe"].description or "")


def test_two_recipes_of_one_name_are_shown_as_a_fault_of_both(recipe_path: Path, root: str, tmp_path: Path):
    (tmp_path / "again.yaml").write_text(RECIPE)
    (tmp_path / "third.yaml").write_text(RECIPE.replace("name: small", "name: third"))

    specs = assets_of(location_definitions([str(tmp_path)], root))

    assert sorted(name for name in specs if name.startswith("small/")) == ["small/recipe"]
    assert "again.yaml" in (specs["small/recipe"].description or "")
    assert "small.yaml" in (specs["small/recipe"].description or "")
    assert "third/mixed_shards" in specs


def test_names_that_dagster_does_not_take_become_slugs(recipe_path: Path, root: str, tmp_path: Path):
    recipe_path.write_text(RECIPE.replace("name: small", "name: cc-head 2.5 ü"))
    (tmp_path / "1st-try.yaml").write_text("streams: []\n")

    definitions = location_definitions([str(tmp_path)], root)

    dg.Definitions.validate_loadable(definitions)
    assert {"cc_head_2_5__/mixed_shards", "1st_try/recipe"} <= set(assets_of(definitions))


def test_a_file_named_twice_counts_once(recipe_path: Path, root: str, tmp_path: Path):
    specs = assets_of(location_definitions([str(recipe_path), str(tmp_path), str(recipe_path)], root))

    assert "small/mixed_shards" in specs


def test_a_recipe_that_is_not_there_is_shown_as_broken(root: str, tmp_path: Path):
    specs = assets_of(location_definitions([str(tmp_path / "gone.yaml")], root))

    assert "gone.yaml" in (specs["gone/recipe"].description or "")


def test_a_damaged_plan_breaks_its_own_recipe_alone(loaded: LoadedRecipe, root: str, tmp_path: Path):
    Path(loaded.layout.plan).write_text("{")
    (tmp_path / "third.yaml").write_text(RECIPE.replace("name: small", "name: third"))

    specs = assets_of(location_definitions([str(tmp_path)], root))

    assert "plan.json" in (specs["small/recipe"].description or "")
    assert "third/mixed_shards" in specs


def test_the_environment_names_recipes_and_root(
    recipe_path: Path, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = tmp_path / "other"
    other.mkdir()
    (other / "third.yaml").write_text(RECIPE.replace("name: small", "name: third"))
    monkeypatch.setenv("MIXLE_RECIPES", f"{recipe_path}{os.pathsep}{other}")
    monkeypatch.setenv("MIXLE_ROOT", root)

    specs = assets_of(definitions_from_environment())

    assert {name.split("/")[0] for name in specs} == {"small", "third"}
    assert specs["small/mixed_shards"].metadata["folder"].value == f"{root}/small"


def test_a_new_threshold_changes_the_code_version_of_mixing_alone(
    loaded: LoadedRecipe, recipe_path: Path, root: str
):
    def versions() -> dict[str, str | None]:
        specs = assets_of(location_definitions([str(recipe_path)], root))
        return {name.split("/")[1]: spec.code_version for name, spec in specs.items()}

    before = versions()
    recipe_path.write_text(RECIPE.replace("< 10", "< 11") + "# a comment\n")
    after = versions()

    assert [name for name in before if before[name] != after[name]] == ["mixed_shards"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("char_length_v1]", "char_length_v1, gopher_v1]", ["attributes"]),
        ("dedupe: {documents: {}}", "dedupe: {documents: {}, min_length: 3}",
         ["content_hashes", "duplicate_index", "duplicate_attributes"]),
        ("block: 16", "block: 32", ["packed_epoch"]),
        ("tokenizer: {bytes: true}", "tokenizer: {bytes: true, boundary: null}", ["doc_arrays"]),
        ("engine: serial", "engine: processes", []),
    ],
)  # fmt: skip
def test_an_edit_makes_stale_what_it_decides(
    recipe_path: Path, root: str, old: str, new: str, changed: list[str]
):
    before = {n: s.code_version for n, s in assets_of(location_definitions([str(recipe_path)], root)).items()}
    text = recipe_path.read_text()
    assert old in text
    recipe_path.write_text(text.replace(old, new))
    after = {n: s.code_version for n, s in assets_of(location_definitions([str(recipe_path)], root)).items()}

    assert {name.split("/")[1] for name in before if before[name] != after[name]} == set(changed)


def test_dagster_finds_nothing_wrong_with_the_location(loaded: LoadedRecipe, root: str, tmp_path: Path):
    (tmp_path / "broken.yaml").write_text("streams: 7\n")
    environment = os.environ | {
        "MIXLE_RECIPES": str(tmp_path), "MIXLE_ROOT": root, "DAGSTER_DISABLE_TELEMETRY": "1",
    }  # fmt: skip
    validated = subprocess.run(
        [sys.executable, "-m", "dagster", "definitions", "validate", "-m", "mixle_assets.definitions"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert validated.returncode == 0, validated.stderr
    assert "BetaWarning" not in validated.stderr
    freeze_plan(load(loaded.recipe.path or "", root))


def test_a_location_of_ten_thousand_shards_is_small_work(tmp_path: Path, root: str):
    import time

    import msgspec

    from mixle_assets.planning import PlannedFile, Shard, ShardPlan, write_plan

    loaded = load(write_corpus(tmp_path), root)
    file = PlannedFile(str(tmp_path / "x.jsonl.gz"), "x", "x", 1, 1)
    shards = tuple(
        Shard(f"prose/{n:04d}", "prose", (msgspec.structs.replace(file, name=f"{n}"),)) for n in range(10_000)
    )
    write_plan(loaded.layout, ShardPlan(shards), recipe_folder=loaded.folder)

    started = time.process_time()
    location_definitions([loaded.recipe.path or ""], root).resolve_implicit_global_asset_job_def()

    assert time.process_time() - started < 3
