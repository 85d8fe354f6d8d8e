"""Runs of assets in this process: what is recorded when all goes well, and when some of it does not."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from small_graph import NOTES, PROSE, RECIPE, SHARD_ASSETS, SHARDS, Run, write_corpus, write_documents

from mixle_assets.defs.catalog import upstream_of
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.work import read_manifest


def materializations(instance: dg.DagsterInstance, name: str) -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return partition and metadata of all materialization events of an asset, by partition."""
    records = instance.fetch_materializations(dg.AssetKey(["small", name]), limit=1000).records
    events = [record.asset_materialization for record in records]
    assert None not in events
    found = [(event.partition, event.metadata) for event in events if event is not None]
    return sorted(found, key=lambda event: event[0] or "")


def digest_on_disk(loaded: LoadedRecipe, name: str, key: str) -> str:
    (work,) = STAGES[name].find_work(loaded, key)
    manifest = read_manifest(work.outputs[0].path)
    assert manifest is not None
    return manifest.content_digest


def test_a_range_run_records_each_partition_once_with_its_own_numbers(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance
):
    assert run(loaded, SHARD_ASSETS, keys=SHARDS).success

    for name in ("attributes", "content_hashes", "duplicate_attributes", "mixed_shards", "doc_arrays"):
        assert [key for key, _ in materializations(instance, name)] == sorted(SHARDS)
    assert [key for key, _ in materializations(instance, "duplicate_index")] == [None]
    mixed = dict(materializations(instance, "mixed_shards"))
    # Three documents a shard: one too short, one that stood in the first shard already.
    assert [mixed[key]["dagster/row_count"].value for key in PROSE] == [2, 1, 1, 1, 1]
    assert [mixed[key]["dropped"].value for key in PROSE] == [1, 2, 2, 2, 2]
    assert {key: mixed[key]["content digest"].value for key in SHARDS} == {
        key: digest_on_disk(loaded, "mixed_shards", key) for key in SHARDS
    }


def test_a_run_over_part_of_the_shards_builds_no_other(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance
):
    assert run(loaded, ["attributes"], keys=PROSE[1:4]).success

    assert [key for key, _ in materializations(instance, "attributes")] == list(PROSE[1:4])
    attributes = Path(loaded.layout.folder) / "attributes"
    built = sorted(path.name for path in attributes.rglob("*.jsonl.gz"))
    assert built == ["0001.jsonl.gz", "0002.jsonl.gz", "0003.jsonl.gz"]


def test_a_run_over_one_partition_has_the_content_digest_as_its_data_version(
    built: LoadedRecipe, instance: dg.DagsterInstance
):
    (event,) = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(["small", "packed_epoch"]), asset_partitions=["1"]),
        limit=5,
    ).records

    assert event.asset_materialization is not None
    assert event.asset_materialization.tags is not None
    assert event.asset_materialization.tags["dagster/data_version"] == digest_on_disk(
        built, "packed_epoch", "1"
    )


def test_all_is_built_again_in_no_time(built: LoadedRecipe, run: Run):
    before = {path: path.stat().st_mtime_ns for path in Path(built.layout.folder).rglob("*.manifest.json")}

    assert run(built, SHARD_ASSETS, keys=SHARDS).success

    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_shard_that_fails_leaves_its_neighbours_recorded_and_the_same_range_finishes_it(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance, tmp_path: Path
):
    bad = tmp_path / "in" / "documents" / "prose" / "0002.jsonl.gz"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:-20])

    result = run(loaded, ["attributes"], keys=SHARDS)

    assert not result.success
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    message = str(failure.step_failure_data.error)
    assert "1 of 7 partitions failed; the 6 others are finished and recorded" in message
    assert "prose/0002" in message
    assert "0002.jsonl.gz" in message
    good = [key for key in sorted(SHARDS) if key != "prose/0002"]
    recorded = materializations(instance, "attributes")
    assert [key for key, _ in recorded] == good
    assert all("content digest" in metadata for key, metadata in recorded if key.startswith("prose"))
    # Bad data stays bad: there is no second attempt.
    assert not [event for event in result.all_events if event.event_type_value == "STEP_UP_FOR_RETRY"]

    bad.write_bytes(whole)
    kept = {path: path.stat().st_mtime_ns for path in Path(loaded.layout.folder).rglob("*.jsonl.gz")}
    assert run(loaded, ["attributes"], keys=SHARDS).success
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert {key for key, _ in materializations(instance, "attributes")} == set(SHARDS)


def test_a_fault_of_the_machine_is_tried_once_more_and_recorded_once(
    tmp_path: Path, root: str, run: Run, instance: dg.DagsterInstance
):
    tagger = f"{{tagger: flaky_tagger.killed_twice, marks: '{tmp_path / 'marks'}'}}"
    text = RECIPE.replace("[char_length_v1]", f"[char_length_v1, {tagger}]")
    # The engine gives a killed worker's shard a second chance; here it needs a third.
    recipe = load(write_corpus(tmp_path, text.replace("serial", "processes, workers: 2")), root)
    freeze_plan(recipe)

    result = run(recipe, ["attributes"], keys=SHARDS)

    assert result.success
    assert len([event for event in result.all_events if event.event_type_value == "STEP_UP_FOR_RETRY"]) == 1
    assert [key for key, _ in materializations(instance, "attributes")] == sorted(SHARDS)


def test_a_stage_refuses_to_start_from_what_is_not_built(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance
):
    result = run(loaded, ["doc_arrays"], keys=SHARDS[:1])

    assert not result.success
    assert materializations(instance, "doc_arrays") == []
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "mixed_shards prose/0000 is not built yet" in str(failure.step_failure_data.error)


def test_a_run_waits_for_another_build_of_the_same_recipe(loaded: LoadedRecipe, run: Run):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from mixle_assets.storage import hold_lease\n"
            "with hold_lease(sys.argv[1]): print('held', flush=True); time.sleep(1.5)",
            loaded.layout.folder,
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"

    assert run(loaded, ["attributes"], keys=SHARDS[:1]).success
    assert holder.wait() == 0
    holder.stdout.close()


def test_a_run_that_may_not_wait_says_who_builds(loaded: LoadedRecipe, run: Run):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from mixle_assets.storage import hold_lease\n"
            "with hold_lease(sys.argv[1]): print('held', flush=True); sys.stdin.read()",
            loaded.layout.folder,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"

    config = {"ops": {"small__attributes": {"config": {"wait_in_seconds": 0}}}}
    result = run(loaded, ["attributes"], keys=SHARDS[:1], run_config=config)
    holder.communicate()

    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert f'"pid": {holder.pid}' in str(failure.step_failure_data.error)


def test_the_plan_asset_adds_new_files_at_the_end(
    loaded: LoadedRecipe, run: Run, instance: dg.DagsterInstance, tmp_path: Path
):
    write_documents(tmp_path / "in" / "documents" / "prose" / "0005.jsonl.gz", [{"id": "n", "text": "New."}])

    assert run(loaded, ["shard_plan"]).success

    ((_, metadata),) = materializations(instance, "shard_plan")
    assert metadata["new shards"].value == 1
    assert next(record.data for record in metadata["streams"].records) == {
        "stream": "prose",
        "shards": 6,
        "files": 6,
        "size in bytes": sum(
            path.stat().st_size for path in (tmp_path / "in" / "documents" / "prose").iterdir()
        ),
    }
    assert load(loaded.recipe.path or "", loaded.layout.root).plan.keys == (*SHARDS, "prose/0005")


def test_the_plan_asset_leaves_a_frozen_plan_as_it_is_when_asked(
    loaded: LoadedRecipe, run: Run, tmp_path: Path
):
    write_documents(tmp_path / "in" / "documents" / "prose" / "0005.jsonl.gz", [{"id": "n", "text": "New."}])

    config = {"ops": {"small__shard_plan": {"config": {"extend": False}}}}
    assert run(loaded, ["shard_plan"], run_config=config).success

    assert load(loaded.recipe.path or "", loaded.layout.root).plan.keys == SHARDS


def test_a_partition_that_a_new_plan_does_not_have_is_named(loaded: LoadedRecipe, run: Run, tmp_path: Path):
    assert loaded.plan.keys == SHARDS  # the location was loaded with this plan
    for number in (3, 4):
        (tmp_path / "in" / "documents" / "prose" / f"000{number}.jsonl.gz").unlink()
    freeze_plan(load(loaded.recipe.path or "", loaded.layout.root), replan=True)

    result = run(loaded, ["attributes"], keys=SHARDS)

    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "attributes prose/0003: the plan has no such partition any more" in str(
        failure.step_failure_data.error
    )


def test_a_recipe_has_only_the_assets_it_needs_and_mixing_then_follows_the_plan(tmp_path: Path, root: str):
    plain = load(
        write_corpus(
            tmp_path, "streams: [{name: notes, documents: [in/documents/notes/*.jsonl.gz]}]\nname: small\n"
        ),
        root,
    )

    assert upstream_of(plain, "mixed_shards") == ["shard_plan"]
    assert NOTES == ("notes/0000", "notes/0001")


def last_observation(instance: dg.DagsterInstance, name: str) -> Mapping[str, Any]:
    """Return what the last range run of an asset left as its numbers as a whole."""
    (record,) = instance.fetch_observations(dg.AssetKey(["small", name]), limit=1).records
    assert record.asset_observation is not None
    return record.asset_observation.metadata


def rows_of(value: Any) -> list[dict[str, Any]]:
    return [dict(record.data) for record in value.records]


def test_a_range_of_mixed_shards_tells_which_rules_matched_and_which_overlap(
    built: LoadedRecipe, instance: dg.DagsterInstance
):
    metadata = last_observation(instance, "mixed_shards")

    short, copies = (
        "$.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]",
        "$.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]",
    )
    # "short" stands in each of the five shards of prose, and four times as a copy; so does one more text.
    assert rows_of(metadata["rules"]) == [
        {"rule": copies, "matched": 8, "matched alone": 4},
        {"rule": short, "matched": 5, "matched alone": 1},
    ]
    assert rows_of(metadata["rules that overlap"]) == [{"rule": short, "and": copies, "documents": 4}]
    assert metadata["plot"].value.startswith("![Records kept and dropped]")


def test_a_range_of_doc_arrays_shows_how_long_documents_are(
    built: LoadedRecipe, instance: dg.DagsterInstance
):
    assert last_observation(instance, "doc_arrays")["plot"].value.startswith(
        "![Documents by length in tokens]"
    )


def test_an_epoch_tells_the_shares_of_its_streams_and_how_full_its_rows_are(
    built: LoadedRecipe, instance: dg.DagsterInstance
):
    (_, metadata), _ = materializations(instance, "packed_epoch")

    shares = rows_of(metadata["shares"])
    assert [share["stream"] for share in shares] == ["prose", "notes"]
    assert sum(share["tokens"] for share in shares) > 0
    assert 0.9 < metadata["packing efficiency"].value <= 1
    assert metadata["plot"].value.startswith("![Tokens of each stream]")
