"""The command line's build through Dagster: the same files as without it, and all of it recorded."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from small_graph import PROSE, RECIPE, SHARDS, write_corpus, write_documents

from mixle_assets.defs.launch import LAUNCHED_BY_TAG, RECIPE_TAG, build_with_dagster
from mixle_assets.engine import SerialEngine
from mixle_assets.errors import RecipeError
from mixle_assets.pipeline.build import BuildReport, build
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.summary import summarize


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


@pytest.fixture(scope="session")
def whole_build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    """A folder with the recipe, its documents, everything built and recorded; and the build's report."""
    folder = tmp_path_factory.mktemp("recorded")
    return folder, build_with_dagster(load(write_corpus(folder), str(folder / "corpora")))


@pytest.fixture
def recorded(whole_build: tuple[Path, BuildReport], tmp_path: Path) -> Path:
    """A copy of that folder."""
    shutil.copytree(whole_build[0], tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def unplanned(recipe_path: Path, root: str) -> LoadedRecipe:
    return load(recipe_path, root)


def digests(loaded: LoadedRecipe, report: BuildReport) -> dict[str, str]:
    return {stage["name"]: stage["digest"] for stage in summarize(loaded, report)["stages"]}


def run_statuses(root: str) -> list[dg.DagsterRunStatus]:
    with dg.DagsterInstance.from_config(f"{root}/.dagster") as instance:
        return [run.status for run in instance.get_runs(dg.RunsFilter(tags={RECIPE_TAG: "small"}))]


def test_a_build_with_dagster_makes_what_one_without_makes(
    whole_build: tuple[Path, BuildReport], tmp_path: Path
):
    folder, report = whole_build
    plain_recipe = load(folder / "small.yaml", str(tmp_path / "plain"))
    plain = build(plain_recipe, SerialEngine())

    assert report.failed == {}
    assert digests(plain_recipe, report) == digests(plain_recipe, plain)
    assert (report.num_built, report.num_current) == (plain.num_built, plain.num_current)
    assert {check.num_violations for check in report.checks} == {0}


def test_everything_is_green_in_the_ui_after_a_build(whole_build: tuple[Path, BuildReport]):
    root = str(whole_build[0] / "corpora")

    assert run_statuses(root) == [dg.DagsterRunStatus.SUCCESS] * 4  # plan, shards, two epochs
    with dg.DagsterInstance.from_config(f"{root}/.dagster") as instance:
        for name in ("attributes", "mixed_shards", "doc_arrays"):
            assert instance.get_materialized_partitions(dg.AssetKey(["small", name])) == set(SHARDS)
        assert instance.get_materialized_partitions(dg.AssetKey(["small", "packed_epoch"])) == {"0", "1"}
        assert instance.get_latest_materialization_event(dg.AssetKey(["small", "shard_plan"])) is not None
    assert "enabled: false" in Path(root, ".dagster", "dagster.yaml").read_text()


def test_a_second_build_rebuilds_nothing_checks_nothing_twice_and_names_new_files(
    whole_build: tuple[Path, BuildReport], recorded: Path
):
    _, first = whole_build
    new_file = recorded / "in" / "documents" / "prose" / "0005.jsonl.gz"
    write_documents(new_file, [{"id": "n", "text": "New."}])
    root = str(recorded / "corpora")
    with dg.DagsterInstance.from_config(f"{root}/.dagster") as instance:
        tags = {RECIPE_TAG: "small", LAUNCHED_BY_TAG: "command line"}
        killed = dg.DagsterRun(job_name="__ASSET_JOB", status=dg.DagsterRunStatus.STARTED, tags=tags)
        instance.add_run(killed)
    loaded = load(recorded / "small.yaml", root)

    second = build_with_dagster(loaded)

    assert (second.num_built, second.num_current) == (0, first.num_built)
    assert digests(loaded, second) == digests(loaded, first)
    assert {len(check.keys) for check in second.checks} == {0}
    (warning,) = second.warnings
    assert "1 document files are not in the frozen plan" in warning
    assert "prose/0005.jsonl.gz" in warning
    # What a killed command left as running is ended by the next one.
    statuses = run_statuses(root)
    assert statuses.count(dg.DagsterRunStatus.FAILURE) == 1
    assert dg.DagsterRunStatus.STARTED not in statuses


def test_a_shard_that_fails_stops_no_other_shard(recipe_path: Path, root: str, tmp_path: Path):
    recipe_path.write_text(
        RECIPE.replace("    dedupe: {documents: {}}\n", "").replace(
            "        - $.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]\n", ""
        )
    )
    bad = tmp_path / "in" / "documents" / "prose" / "0002.jsonl.gz"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:-20])

    report = build_with_dagster(load(recipe_path, root))

    assert list(report.failed) == ["attributes prose/0002"]
    built = {outcome.stage: list(outcome.finished) for outcome in report.outcomes}
    good = [key for key in SHARDS if key != "prose/0002"]
    assert built == {"attributes": good, "mixed_shards": good, "doc_arrays": good}
    assert report.warnings == ["packed_epoch needs all shards and waits for prose/0002"]
    with dg.DagsterInstance.from_config(f"{root}/.dagster") as instance:
        arrays = dg.AssetKey(["small", "doc_arrays"])
        assert instance.get_materialized_partitions(arrays) == set(good)

    bad.write_bytes(whole)
    mended = build_with_dagster(load(recipe_path, root))
    plain_recipe = load(recipe_path, str(tmp_path / "plain"))
    assert mended.failed == {}
    assert digests(plain_recipe, mended) == digests(plain_recipe, build(plain_recipe, SerialEngine()))


def test_streams_that_do_not_dedupe_go_on_where_the_index_has_to_wait(
    unplanned: LoadedRecipe, tmp_path: Path
):
    bad = tmp_path / "in" / "documents" / "prose" / "0002.jsonl.gz"
    bad.write_bytes(bad.read_bytes()[:-20])

    report = build_with_dagster(unplanned)

    built = {outcome.stage: list(outcome.finished) for outcome in report.outcomes}
    assert built["mixed_shards"] == ["notes/0000", "notes/0001"]
    assert set(report.failed) == {"attributes prose/0002", "content_hashes prose/0002"}


def test_a_failing_check_stops_the_build_and_is_in_the_report(recorded: Path):
    root = recorded / "corpora"
    manifest = root / "small" / "mixed_shards" / "prose-0000.jsonl.gz.manifest.json"
    content = json.loads(manifest.read_text())
    content["counts"] |= {"num_in": 9, "num_out": 8}
    content["content_digest"] = "0" * 32  # what has passed in the same content is not looked at again
    manifest.write_text(json.dumps(content))

    report = build_with_dagster(load(recorded / "small.yaml", str(root)))

    broken = {f"{check.stage}.{check.name}" for check in report.checks if check.failed}
    assert broken == {"mixed_shards.counts_balance", "mixed_shards.rebuild_gives_the_same_digest"}
    assert "doc_arrays" not in {outcome.stage for outcome in report.outcomes}
    assert report.failed == {}


def test_a_pattern_without_files_is_the_recipes_fault(recipe_path: Path, root: str):
    recipe_path.write_text(RECIPE.replace("in/documents/notes", "nowhere"))

    with pytest.raises(RecipeError, match=r"'nowhere/\*.jsonl.gz' names no file"):
        build_with_dagster(load(recipe_path, root))


def test_documents_that_are_made_here_are_built_too(tmp_path: Path, root: str):
    path = tmp_path / "made.yaml"
    path.write_text(
        "name: small\n"
        "streams: [{name: prose, source: {python_stdlib: prose, only: [bisect]}}]\n"
        "execution: {engine: serial}\n"
    )

    report = build_with_dagster(load(path, root))

    assert report.failed == {}
    assert [outcome.stage for outcome in report.outcomes] == ["documents", "mixed_shards"]
    assert run_statuses(root) == [dg.DagsterRunStatus.SUCCESS] * 2


SLOW_BUILD = """
import sys
from mixle_assets.defs.launch import build_with_dagster
from mixle_assets.pipeline.load import load
build_with_dagster(load(sys.argv[1], sys.argv[2]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_workers_and_is_recorded(number: signal.Signals, tmp_path: Path, root: str):
    marks = tmp_path / "marks"
    tagger = f"{{tagger: slow_tagger.sleep, marks: '{marks}'}}"
    text = RECIPE.replace("[char_length_v1]", f"[{tagger}]").replace("serial", "processes, workers: 2")
    recipe = write_corpus(tmp_path, text.replace("quality__char_length_v1__length[0][2] < 10", "other == 1"))
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_BUILD, str(recipe), root],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            wait_for(lambda: marks.exists() and len(marks.read_text().split()) == 2, while_runs=command)
            command.send_signal(number)
            _, errors = command.communicate(timeout=60)
        finally:
            command.kill()

    assert command.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    workers = [int(pid) for pid in marks.read_text().split()]
    assert not any(is_running(pid) for pid in workers)
    assert dg.DagsterRunStatus.FAILURE in run_statuses(root)


def wait_for(happens: Callable[[], bool], *, while_runs: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < deadline
        assert while_runs.poll() is None
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_the_dagster_command_line_gives_the_same_digests(
    unplanned: LoadedRecipe, recipe_path: Path, root: str, tmp_path: Path
):
    build(load(recipe_path, str(tmp_path / "plain")), SerialEngine(), only="attributes")
    plan = Path(unplanned.layout.plan)
    plan.parent.mkdir(parents=True)
    plan.write_bytes(Path(tmp_path, "plain", "small", "plan.json").read_bytes())
    environment = os.environ | {
        "MIXLE_RECIPES": str(recipe_path), "MIXLE_ROOT": root, "DAGSTER_HOME": str(tmp_path),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }  # fmt: skip

    subprocess.run(
        [
            sys.executable, "-m", "dagster", "asset", "materialize", "-m", "mixle_assets.definitions",
            "--select", "small/attributes", "--partition-range", f"{PROSE[0]}...{SHARDS[-1]}",
        ],
        env=environment, cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip

    def manifests(folder: str) -> dict[str, str]:
        paths = Path(folder, "small", "attributes").rglob("*.manifest.json")
        return {path.name: json.loads(path.read_text())["content_digest"] for path in paths}

    assert manifests(root) == manifests(str(tmp_path / "plain"))
    assert len(manifests(root)) == 5
