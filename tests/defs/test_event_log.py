"""What a range records by batches: the same as Dagster records one by one, in the same files."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from small_graph import PROSE, SHARD_ASSETS, SHARDS

from mixle_assets.defs.event_log import HomeInstance, RangeEventLog, open_instance
from mixle_assets.defs.home import prepare_home
from mixle_assets.defs.location import location_definitions
from mixle_assets.defs.partitions import RANGE_END, RANGE_START
from mixle_assets.pipeline.load import LoadedRecipe

RUN_ID = "11111111-1111-4111-8111-111111111111"


def build_range(loaded: LoadedRecipe, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    definitions = location_definitions([loaded.recipe.path or ""], loaded.layout.root)
    job = definitions.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey([loaded.recipe.slug, name]) for name in SHARD_ASSETS],
        tags={RANGE_START: SHARDS[0], RANGE_END: SHARDS[-1]},
        run_id=RUN_ID,
        raise_on_error=False,
    )


@contextmanager
def database(home: Path, name: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(home / "history" / "runs" / f"{name}.db")) as connection:
        yield connection


def records(home: Path) -> dict[str, list[Any]]:
    """Everything that does not tell the time: events in their order, keys, tags, checks."""
    events = "SELECT dagster_event_type, step_key, asset_key, partition FROM event_logs ORDER BY id"
    with database(home, "index") as index, database(home, RUN_ID) as of_run:
        return {
            "of the run": of_run.execute(events).fetchall(),
            "of all runs": index.execute(events).fetchall(),
            "keys": index.execute("SELECT asset_key, last_run_id FROM asset_keys ORDER BY 1").fetchall(),
            "last": index.execute(
                """SELECT asset_keys.asset_key, event_logs.id, event_logs.partition
                FROM asset_keys JOIN event_logs
                ON event_logs.id = json_extract(last_materialization, '$.storage_id') ORDER BY 1"""
            ).fetchall(),
            "tags": index.execute(
                "SELECT event_id, asset_key, key FROM asset_event_tags ORDER BY event_id, key"
            ).fetchall(),
            "checks": index.execute(
                "SELECT asset_key, check_name, execution_status FROM asset_check_executions ORDER BY 1, 2"
            ).fetchall(),
        }


def both_instances(folder: Path) -> Iterator[tuple[str, Path, dg.DagsterInstance]]:
    """Yield our instance and Dagster's own, each open until the next is asked for."""
    for name in ("batches", "one by one"):
        home = folder / name
        home.mkdir()
        opened = open_instance(str(home)) if name == "batches" else dg.DagsterInstance.from_config(str(home))
        with opened as instance:
            yield name, home, instance


def test_a_range_leaves_the_records_that_dagster_leaves_one_by_one(
    loaded: LoadedRecipe, tmp_path: Path
) -> None:
    found = {}
    for name, home, instance in both_instances(tmp_path):
        assert isinstance(instance.event_log_storage, RangeEventLog) == (name == "batches")
        assert build_range(loaded, instance).success
        found[name] = records(home)

    assert found["batches"] == found["one by one"]
    types = [event[0] for event in found["batches"]["of all runs"]]
    assert types.count("ASSET_MATERIALIZATION") == 5 * len(SHARDS) + 1
    assert types.count("ASSET_MATERIALIZATION_PLANNED") == 5 * len(SHARDS) + 1
    assert found["batches"]["last"]
    assert {status for _, _, status in found["batches"]["checks"]} == {"SUCCEEDED"}


def test_a_shard_that_fails_is_recorded_as_dagster_records_it(loaded: LoadedRecipe, tmp_path: Path) -> None:
    bad = tmp_path / "in" / "documents" / "prose" / "0002.jsonl.gz"
    bad.write_bytes(bad.read_bytes()[:-20])
    found = {}
    for name, home, instance in both_instances(tmp_path):
        assert not build_range(loaded, instance).success
        attributes = dg.AssetKey(["small", "attributes"])
        assert instance.get_materialized_partitions(attributes) == {*SHARDS} - {"prose/0002"}
        found[name] = records(home)

    assert found["batches"] == found["one by one"]


def test_a_home_may_move_and_dagster_alone_reads_it(
    loaded: LoadedRecipe, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    home = prepare_home(str(tmp_path / "first"))
    with dg.DagsterInstance.from_config(str(home)) as instance:  # as the UI opens it
        assert isinstance(instance, HomeInstance)
        assert build_range(loaded, instance).success
    moved = tmp_path / "second"
    shutil.move(home, moved)
    with dg.DagsterInstance.from_config(str(moved)) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey(["small", "attributes"])) == {*SHARDS}
    assert not home.exists()
    (moved / "dagster.yaml").unlink()
    with dg.DagsterInstance.from_config(str(moved)) as instance:
        assert type(instance.event_log_storage) is SqliteEventLogStorage
        assert instance.get_materialized_partitions(dg.AssetKey(["small", "doc_arrays"])) == {*SHARDS}
        assert PROSE[0] in instance.get_materialized_partitions(dg.AssetKey(["small", "mixed_shards"]))


def test_a_storage_that_the_user_named_is_taken(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path / 'mine'}}}}}\n")

    with open_instance(str(tmp_path)) as instance:
        assert type(instance.event_log_storage) is SqliteEventLogStorage
        assert (tmp_path / "mine" / "history" / "runs" / "index.db").exists()
        assert not (tmp_path / "history").exists()
