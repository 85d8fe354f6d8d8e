"""The whole chain with its root, or its documents, in an object store: the same digests as on disk."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import object_store
import pytest

from mixle_assets import StreamingCorpus, load_corpus, storage

SLICE = """\
name: slice
streams:
  - name: prose
    source: {python_stdlib: prose, only: [json]}
    taggers: {quality: [gopher_v1, random_number_v1]}
    dedupe: {documents: {}, paragraphs: {}, min_words: 4}
    filter:
      exclude:
        - $.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]
        - $.attributes[?(@.quality__gopher_v1__word_count[0][2] < 8)]
    span_replacement:
      - {span: $.attributes.bff_duplicate_paragraph_spans, min_score: 0.5}
    output: {max_size_in_bytes: 1}
  - name: code
    source: {python_stdlib: code, only: [json]}
    weight: 1.5
tokenizer: {train: {vocab_size: 400}}
packing: {block: 64, batch_size: 4, seed: 1, world_size: 2}
"""

GIVEN = """\
name: given
streams:
  - name: prose
    documents: ["<place>/documents/prose/**/*.jsonl.gz"]
    taggers: {quality: [gopher_v1]}
    filter:
      exclude: ["$.attributes[?(@.quality__gopher_v1__word_count[0][2] < 8)]"]
    output: {max_size_in_bytes: 1}
tokenizer: {bytes: true}
packing: {block: 64, batch_size: 4, seed: 1}
"""


def command(recipe: Path, root: str) -> list[str]:
    return [sys.executable, "-m", "mixle_assets", "build", str(recipe), "--root", root, "--plain", "--json"]


def build(recipe: Path, root: str, environment: dict[str, str]) -> dict[str, tuple[str, int]]:
    """Build in a process of its own and return stage to its digest and how many outputs were built."""
    done = subprocess.run(
        command(recipe, root), capture_output=True, text=True, env=environment, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
    assert object_store.SECRET not in done.stdout + done.stderr
    stages = json.loads(done.stdout)["stages"]
    return {stage["name"]: (stage["digest"], stage["num_built"]) for stage in stages}


def digests(stages: dict[str, tuple[str, int]]) -> dict[str, str]:
    return {name: digest for name, (digest, _) in stages.items()}


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "slice.yaml"
    path.write_text(SLICE)
    return path


@pytest.fixture(scope="module")
def on_disk(recipe: Path) -> dict[str, str]:
    """The digests of a build in a local folder, which lies beside the recipe."""
    return digests(build(recipe, str(recipe.parent / "root"), dict(os.environ)))


def test_a_root_in_a_store_gives_the_digests_of_one_on_disk_and_feeds_the_same_batches(
    bucket: str, recipe: Path, on_disk: dict[str, str], tmp_path: Path
) -> None:
    first = build(recipe, bucket, dict(os.environ))
    again = build(recipe, bucket, dict(os.environ))

    assert digests(first) == on_disk
    assert digests(again) == on_disk
    assert sum(num_built for _, num_built in again.values()) == 0

    local = StreamingCorpus(load_corpus(str(recipe.parent / "root" / "slice")), rank=1)
    stored = StreamingCorpus(load_corpus(f"{bucket}/slice"), rank=1)
    for ours, theirs in zip(local.epoch_batches(0), stored.epoch_batches(0), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(one, other)
    copied = sorted(path.name for path in (tmp_path / "cache").glob("??/*/rank-*"))
    assert "rank-00001-of-00002.npy" in copied


def test_a_server_that_fails_on_every_fifth_request_changes_nothing(
    bucket: str, s3: str, recipe: Path, on_disk: dict[str, str]
) -> None:
    with object_store.failing_proxy(s3, every=5) as proxy:
        built = build(recipe, bucket, {**os.environ, "AWS_ENDPOINT_URL": proxy.endpoint})

        assert digests(built) == on_disk
        assert proxy.num_failed > 50


def test_documents_in_a_store_give_the_digests_of_those_on_disk(
    bucket: str, recipe: Path, on_disk: dict[str, str], tmp_path: Path
) -> None:
    from mixle_assets import storage

    found = {}
    source = recipe.parent / "root" / "slice" / "documents" / "prose"
    for path in sorted(source.glob("*.jsonl.gz")):
        with storage.write_whole(f"{bucket}/documents/prose/{path.name}") as file:
            file.write(path.read_bytes())
    for place in (bucket, str(source.parent.parent)):
        given = tmp_path / f"{len(found)}.yaml"
        given.write_text(GIVEN.replace("<place>", place))
        found[place] = digests(build(given, str(tmp_path / f"root-{len(found)}"), dict(os.environ)))

    one, other = found.values()
    assert "packed_epoch" in one
    assert one == other


def test_a_killed_build_in_a_store_goes_on_where_it_was(
    bucket: str, recipe: Path, on_disk: dict[str, str]
) -> None:
    process = subprocess.Popen(
        [*command(recipe, bucket)[:-1]], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("attributes"):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()

    built = build(recipe, bucket, dict(os.environ))
    assert digests(built) == on_disk
    assert built["documents"][1] == 0


def test_columns_of_attributes_in_a_store_give_the_same_digests(bucket: str, tmp_path: Path) -> None:
    recipe = tmp_path / "slice.yaml"
    discarding = SLICE.replace("in_bytes: 1}", "in_bytes: 1, discard_fields: [attributes]}")
    recipe.write_text(discarding)
    on_disk = digests(build(recipe, str(tmp_path / "root"), dict(os.environ)))
    recipe.write_text(discarding + "execution: {attributes_format: parquet}\n")

    first = build(recipe, bucket, dict(os.environ))
    again = build(recipe, bucket, dict(os.environ))

    assert digests(first) == on_disk
    assert sum(num_built for _, num_built in again.values()) == 0
    names = storage.list_folder(f"{bucket}/slice/attributes/quality/prose")
    assert [name for name in names if name.endswith(".parquet")] != []
