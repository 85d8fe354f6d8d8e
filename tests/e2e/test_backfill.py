"""Backfills as a user of the UI starts them: queued, run by the daemon, recorded partition by partition."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running_ui import Ui, run_ui, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

RECIPE = """\
name: fill
streams:
  - name: prose
    documents: [documents/*.jsonl.gz]
    taggers: {quality: [char_length_v1]}
    output: {max_size_in_bytes: 1}
tokenizer: {bytes: true}
packing: {block: 16, batch_size: 2, seed: 1, epochs: 2}
execution: {engine: serial}
"""
SHARDS = [f"prose/{number:04d}" for number in range(4)]
GOOD = [SHARDS[0], SHARDS[1], SHARDS[3]]
BY_SHARD = ["attributes", "mixed_shards", "doc_arrays"]

LAUNCH = """mutation($params: LaunchBackfillParams!) {
    launchPartitionBackfill(backfillParams: $params) {
        __typename ... on LaunchBackfillSuccess {backfillId} ... on PythonError {message}
    }
}"""
STATUS = """query($id: String!) {
    partitionBackfillOrError(backfillId: $id) {... on PartitionBackfill {status}}
}"""
PARTITIONS = """query($key: AssetKeyInput!) {
    assetNodeOrError(assetKey: $key) {
        ... on AssetNode {assetPartitionStatuses {
            ... on DefaultPartitionStatuses {materializedPartitions failedPartitions}
        }}
    }
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backfill")
    (folder / "documents").mkdir()
    for key in SHARDS:
        rows = [{"id": f"{key}-{n}", "text": f"Document {n} of {key} says hello."} for n in range(3)]
        content = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode(), mtime=0)
        if key not in GOOD:
            content = content[:-20]
        document_file(folder, key).write_bytes(content)
    (folder / "fill.yaml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def ui(folder: Path) -> Iterator[Ui]:
    with run_ui(folder, folder / "fill.yaml") as ui:
        yield ui


def document_file(folder: Path, key: str) -> Path:
    return folder / "documents" / f"{key[-4:]}.jsonl.gz"


def backfill(ui: Ui, assets: list[str], **partitions: Any) -> str:
    """Launch a backfill, wait until the daemon has completed it, and return how it ended."""
    selection = [{"path": ["fill", name]} for name in assets]
    launched = ui.ask(LAUNCH, params={"assetSelection": selection, **partitions})["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def status() -> str:
        found: str = ui.ask(STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]
        return found

    wait_for(lambda: status() not in ("REQUESTED", "FAILING"), within_seconds=400)
    return status()


def partitions(ui: Ui, asset: str) -> tuple[list[str], list[str]]:
    """Return the partitions that the UI shows as materialized, and as failed."""
    statuses = ui.ask(PARTITIONS, key={"path": ["fill", asset]})["assetNodeOrError"]["assetPartitionStatuses"]
    return sorted(statuses["materializedPartitions"]), sorted(statuses["failedPartitions"])


def test_a_backfill_shows_its_good_shards_and_the_next_one_over_the_whole_group_builds_the_rest(
    ui: Ui, folder: Path
) -> None:
    corpus = folder / "corpora" / "fill"

    assert backfill(ui, BY_SHARD, partitionNames=SHARDS) == "COMPLETED_FAILED"
    assert partitions(ui, "attributes") == (GOOD, [SHARDS[2]])
    assert (
        partitions(ui, "mixed_shards")[0] == []
    )  # Dagster skips what follows in the run of a step that failed
    tagged = sorted(path.name for path in corpus.glob("attributes/quality/prose/*.jsonl.gz"))
    assert tagged == ["0000.jsonl.gz", "0001.jsonl.gz", "0003.jsonl.gz"]
    kept = {path: path.stat().st_mtime_ns for path in corpus.glob("attributes/**/*.jsonl.gz")}

    document_file(folder, SHARDS[2]).write_bytes(document_file(folder, SHARDS[1]).read_bytes())
    everything = ["shard_plan", *BY_SHARD, "packed_epoch"]  # what *Materialize all* selects
    assert backfill(ui, everything, allPartitions=True) == "COMPLETED_SUCCESS"
    for asset in BY_SHARD:
        assert partitions(ui, asset) == (SHARDS, [])
    assert partitions(ui, "packed_epoch") == (["0", "1"], [])
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert len(list(corpus.glob("doc_arrays/*.arrow"))) == 4
    assert (corpus / "packed_epoch" / "0001.manifest.json").exists()
