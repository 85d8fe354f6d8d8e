"""Asset checks in real runs: what they look at, what they stop, and each one seen to fail."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest
from small_graph import PROSE, RECIPE, SHARDS, Run, write_corpus

from mixle_assets.defs.location import location_definitions
from mixle_assets.engine import SerialEngine
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.check import checks_of
from mixle_assets.pipeline.load import LoadedRecipe, load

SPAN = "{span: $.attributes.quality__char_length_v1__length, min_score: 44, replacement: 'A text of {}'}"
CHECKED = RECIPE.replace(
    "    output: {max_size_in_bytes: 1}\n  - name: notes",
    f"    span_replacement: [{SPAN}]\n    output: {{max_size_in_bytes: 1}}\n  - name: notes",
)
CHECKED = CHECKED.replace("{engine: serial}", "{engine: serial, attributes_format: parquet}").replace(
    "dedupe: {documents: {}}",
    "dedupe: {documents: {}, decontamination: {reference: [in/known.jsonl]}}",
)
KNOWN = "The first document of prose/0000 says hello."


@pytest.fixture(scope="session")
def whole_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recipe, its documents, and everything built."""
    folder = tmp_path_factory.mktemp("whole")
    recipe = write_corpus(folder, CHECKED)
    (folder / "in/known.jsonl").write_text(json.dumps({"id": "known", "text": KNOWN}) + "\n")
    report = build(load(recipe, str(folder / "corpora")), SerialEngine())
    assert report.failed == {}
    return folder


@pytest.fixture
def corpus(whole_corpus: Path, tmp_path: Path) -> LoadedRecipe:
    """The whole corpus, to be damaged."""
    shutil.copytree(whole_corpus, tmp_path / "copy")
    return load(tmp_path / "copy" / "small.yaml", str(tmp_path / "copy" / "corpora"))


def run_checks(loaded: LoadedRecipe, instance: dg.DagsterInstance, **options: Any) -> dict[str, Any]:
    """Run the job of all checks, and return ``<asset>.<check>`` to its evaluation."""
    job = location_definitions([loaded.recipe.path or ""], loaded.layout.root).resolve_job_def("small_checks")
    result = job.execute_in_process(instance=instance, raise_on_error=False, **options)
    return {
        f"{found.asset_key.path[-1]}.{found.check_name}": found
        for found in result.get_asset_check_evaluations()
    }


def looked_at(evaluation: Any) -> int:
    number = evaluation.metadata["partitions looked at"].value
    assert isinstance(number, int)
    return number


def test_the_job_looks_at_everything_that_is_built(corpus: LoadedRecipe, instance: dg.DagsterInstance):
    found = run_checks(corpus, instance)

    assert set(found) == {f"{check.stage}.{check.name}" for check in checks_of(corpus)}
    assert {name for name, evaluation in found.items() if not evaluation.passed} == set()
    assert looked_at(found["mixed_shards.provenance_resolves"]) == 7
    assert looked_at(found["packed_epoch.ranks_share_the_pool"]) == 2


def test_the_job_with_a_partition_looks_at_that_one_alone(corpus: LoadedRecipe, instance: dg.DagsterInstance):
    found = run_checks(corpus, instance, tags={"dagster/partition": "prose/0001"})

    assert looked_at(found["mixed_shards.provenance_resolves"]) == 1
    assert looked_at(found["doc_arrays.ids_in_vocabulary"]) == 1
    # A shard says nothing about epochs: those are looked at as if no partition was named.
    assert looked_at(found["packed_epoch.ranks_share_the_pool"]) == 2


def test_the_job_on_an_empty_root_has_nothing_to_find_fault_with(
    recipe_path: Path, root: str, instance: dg.DagsterInstance
):
    found = run_checks(load(recipe_path, root), instance)

    assert all(evaluation.passed for evaluation in found.values())
    assert looked_at(found["mixed_shards.provenance_resolves"]) == 0


def test_after_a_range_a_check_looks_at_the_range_and_reads_no_other_shard(
    corpus: LoadedRecipe, run: Run, instance: dg.DagsterInstance
):
    cut_last_row(corpus, "attributes/quality/prose/0000.jsonl.gz")

    result = run(corpus, ["attributes"], keys=PROSE[1:4])

    assert result.success
    evaluations = {found.check_name: found for found in result.get_asset_check_evaluations()}
    assert looked_at(evaluations["every_document_has_its_row"]) == 3


def test_a_check_that_fails_stops_what_follows_in_its_run(
    corpus: LoadedRecipe, run: Run, instance: dg.DagsterInstance
):
    edit_first_row(corpus, TAGGED, lambda row: row | {"id": "b"})
    # As if it had been written so: a size that no manifest has is built again before anybody looks.
    change_manifest(corpus, TAGGED, size_in_bytes=path_in(corpus, TAGGED).stat().st_size)

    result = run(corpus, ["attributes", "mixed_shards"], keys=SHARDS)

    assert not result.success
    assert not [
        event
        for event in result.all_events
        if event.step_key == "small__mixed_shards" and event.is_step_success
    ]
    evaluations = {found.check_name: found for found in result.get_asset_check_evaluations()}
    assert not evaluations["ids_align"].passed
    assert evaluations["ids_align"].blocking
    (row,) = evaluations["ids_align"].metadata["first violations"].records
    assert "prose/0000.jsonl.gz" in str(row.data["where"])
    assert "prose/0000-a" in str(row.data["expected"])


# What each check guards, broken by hand.


def path_in(loaded: LoadedRecipe, name: str) -> Path:
    return Path(loaded.layout.folder) / name


def read_rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def edit_first_row(loaded: LoadedRecipe, name: str, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    first, *others = read_rows(path_in(loaded, name))
    write_rows(path_in(loaded, name), [edit(first), *others])


def cut_last_row(loaded: LoadedRecipe, name: str) -> None:
    write_rows(path_in(loaded, name), read_rows(path_in(loaded, name))[:-1])


def change_manifest(loaded: LoadedRecipe, name: str, **values: Any) -> None:
    path = path_in(loaded, f"{name}.manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def forget_digest(loaded: LoadedRecipe, name: str) -> None:
    change_manifest(loaded, name, content_digest="0" * 32)


def change_token(loaded: LoadedRecipe, token: int) -> None:
    path = path_in(loaded, ARRAY)
    arrays = DocArrays.open(str(path))
    place = int(arrays.starts[0]) * arrays.dtype.itemsize
    content = bytearray(path.read_bytes())
    content[place : place + arrays.dtype.itemsize] = np.array([token], arrays.dtype).tobytes()
    path.write_bytes(content)


def change_cell(loaded: LoadedRecipe, name: str, place: tuple[int, int]) -> None:
    rows = np.load(path_in(loaded, f"packed_epoch/0000/{name}"), mmap_mode="r+")
    rows[place] = 255
    rows.flush()


def swap_ranks(loaded: LoadedRecipe) -> None:
    first, second = (path_in(loaded, f"packed_epoch/0000/rank-0000{rank}-of-00002.npy") for rank in (0, 1))
    rows = np.load(first)
    np.save(first, np.resize(np.load(second), rows.shape))


def forget_hits(loaded: LoadedRecipe) -> None:
    for key in PROSE:
        name = f"mixed_shards/{key.replace('/', '-')}.jsonl.gz"
        details = json.loads(path_in(loaded, f"{name}.manifest.json").read_text())["details"]
        for rule in details["rules"]["rules"]:
            rule |= {"hits": 0, "sole_hits": 0}
        change_manifest(loaded, name, details=details)


MIXED, ARRAY, EPOCH = "mixed_shards/prose-0000.jsonl.gz", "doc_arrays/prose-0000.arrow", "packed_epoch/0000"
TAGGED = "attributes/quality/prose/0000.jsonl.gz"
MARKED = "attributes/duplicates/prose/0000.jsonl.gz"
LENGTH = "quality__char_length_v1__length"

DAMAGE: dict[str, Callable[[LoadedRecipe], None]] = {
    "attributes.ids_align": lambda loaded: edit_first_row(loaded, TAGGED, lambda row: row | {"id": "b"}),
    "attributes.every_document_has_its_row": lambda loaded: cut_last_row(loaded, TAGGED),
    "attributes.spans_inside_text": lambda loaded: edit_first_row(
        loaded, TAGGED, lambda row: row | {"attributes": {LENGTH: [[0, 99, 44.0]]}}
    ),
    "attributes.columns_hold_the_rows": lambda loaded: edit_first_row(
        loaded, TAGGED, lambda row: row | {"attributes": {LENGTH: [[0, 1, 44]]}}
    ),
    "duplicate_attributes.every_document_has_its_row": lambda loaded: cut_last_row(loaded, MARKED),
    "duplicate_attributes.exactly_the_repetitions_are_marked": lambda loaded: edit_first_row(
        loaded, MARKED, lambda row: row | {"attributes": {"bff_duplicate_docs": [[0, 40, 1]]}}
    ),
    "duplicate_attributes.exactly_the_contaminated_is_marked": lambda loaded: edit_first_row(
        loaded, MARKED, lambda row: row | {"attributes": {"contaminated_spans": []}}
    ),
    "duplicate_attributes.columns_hold_the_rows": lambda loaded: cut_last_row(loaded, MARKED),
    "mixed_shards.selected_characters_are_gone": lambda loaded: edit_first_row(
        loaded, MIXED, lambda row: row | {"text": "The first document of prose/0000 says hello."}
    ),
    "mixed_shards.provenance_resolves": lambda loaded: edit_first_row(
        loaded, MIXED, lambda row: row | {"metadata": {"provenance": "prose/0000.jsonl.gz:2"}}
    ),
    "mixed_shards.counts_balance": lambda loaded: cut_last_row(loaded, MIXED),
    "mixed_shards.no_dead_rule": forget_hits,
    "mixed_shards.rebuild_gives_the_same_digest": lambda loaded: forget_digest(loaded, MIXED),
    "doc_arrays.ids_in_vocabulary": lambda loaded: change_token(loaded, 60_000),
    "doc_arrays.arrays_match_texts": lambda loaded: change_token(loaded, ord("?")),
    "doc_arrays.rebuild_gives_the_same_digest": lambda loaded: forget_digest(loaded, ARRAY),
    "packed_epoch.loss_mask_marks_exactly_the_padding": lambda loaded: change_cell(
        loaded, "rank-00000-of-00002.npy", (-1, -1)
    ),
    "packed_epoch.ranks_share_the_pool": swap_ranks,
    "packed_epoch.tokens_are_packed_as_declared": lambda loaded: change_cell(
        loaded, "rank-00000-of-00002.npy", (1, 1)
    ),
    "packed_epoch.rows_match_streaming_corpus": lambda loaded: change_cell(
        loaded, "rank-00000-of-00002.npy", (1, 1)
    ),
    "packed_epoch.rebuild_gives_the_same_digest": lambda loaded: forget_digest(loaded, EPOCH),
}  # fmt: skip


def test_there_is_a_way_to_break_every_guarantee(corpus: LoadedRecipe):
    assert set(DAMAGE) == {f"{check.stage}.{check.name}" for check in checks_of(corpus)}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_broken_guarantee_is_found(name: str, corpus: LoadedRecipe, instance: dg.DagsterInstance):
    DAMAGE[name](corpus)

    found = run_checks(corpus, instance)[name]

    assert not found.passed
    assert found.metadata["violations"].value > 0
    expected = dg.AssetCheckSeverity.WARN if name.endswith("no_dead_rule") else dg.AssetCheckSeverity.ERROR
    assert found.severity == expected


def report_of(instance: dg.DagsterInstance) -> Path:
    """Return the page that the last run named, in its tag and in its log alike."""
    (run, *_) = instance.get_runs()
    events = [
        event for event in instance.all_logs(run.run_id) if "The report on what is built" in event.message
    ]
    assert len(events) == 1
    assert run.tags["mixle/report"] in events[0].message
    return Path(run.tags["mixle/report"])


def test_the_job_leaves_the_page_on_what_it_found_and_names_it(
    corpus: LoadedRecipe, instance: dg.DagsterInstance
):
    assert run_checks(corpus, instance)

    page = report_of(instance)
    assert page == Path(corpus.layout.folder) / "report.html"
    assert "provenance_resolves" in page.read_text()


def test_a_run_that_fails_leaves_the_page_too(corpus: LoadedRecipe, run: Run, instance: dg.DagsterInstance):
    edit_first_row(corpus, TAGGED, lambda row: row | {"id": "b"})
    change_manifest(corpus, TAGGED, size_in_bytes=path_in(corpus, TAGGED).stat().st_size)

    assert not run(corpus, ["attributes"], keys=SHARDS).success
    assert report_of(instance).exists()
