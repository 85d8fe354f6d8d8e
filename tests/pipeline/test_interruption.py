"""Killed at any instant, then built again: the same digests, and nothing left lying about."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from sessions import members_of

SLICE = """\
name: slice
streams:
  - name: prose
    source: {python_stdlib: prose, only: [json, email, http]}
    taggers: {quality: [gopher_v1, random_number_v1], pii: [pii_regex_with_counts_fast_v2]}
    dedupe: {documents: {}, paragraphs: {}, min_words: 4}
    filter:
      exclude:
        - $.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]
        - $.attributes[?(@.quality__gopher_v1__word_count[0][2] < 8)]
    span_replacement:
      - {span: $.attributes.bff_duplicate_paragraph_spans, min_score: 0.5}
    output: {max_size_in_bytes: 1}
  - name: code
    source: {python_stdlib: code, only: [json, email]}
    weight: 1.5
tokenizer: {train: {vocab_size: 400}}
packing: {block: 64, batch_size: 4, seed: 1, epochs: 2, world_size: 2}
"""


def command(recipe: Path, root: Path, *options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "mixle_assets",
        "build",
        str(recipe),
        "--root",
        str(root),
        "--plain",
        *options,
    ]


def build(recipe: Path, root: Path, *options: str, hash_seed: str = "0") -> dict[str, str]:
    """Build in a process of its own and return stage to digest."""
    done = subprocess.run(
        command(recipe, root, "--json", *options),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {stage["name"]: stage["digest"] for stage in json.loads(done.stdout)["stages"]}


def kill_after(seconds: float, recipe: Path, root: Path) -> bool:
    """Start a build, kill it with SIGKILL, and return whether it was still at work."""
    process = subprocess.Popen(command(recipe, root), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def leftovers(root: Path) -> list[str]:
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.name.endswith(".partial") or path.parent.name == ".scratch"
    ]


def test_digests_depend_on_no_folder_no_worker_count_and_no_hash_seed(tmp_path: Path) -> None:
    recipe = tmp_path / "slice.yaml"
    recipe.write_text(SLICE)
    one = build(recipe, tmp_path / "one", "--workers", "1", hash_seed="1")
    two = build(recipe, tmp_path / "somewhere" / "else", "--workers", "2", hash_seed="2")

    assert list(one) == [
        "documents", "attributes", "content_hashes", "duplicate_index", "duplicate_attributes",
        "mixed_shards", "tokenizer", "doc_arrays", "packed_epoch",
    ]  # fmt: skip
    assert one == two


def test_a_build_killed_at_any_moment_ends_the_same_when_it_is_run_again(tmp_path: Path) -> None:
    recipe = tmp_path / "slice.yaml"
    recipe.write_text(SLICE)
    started = time.monotonic()
    whole = build(recipe, tmp_path / "whole", "--workers", "2")
    duration = time.monotonic() - started
    moments = random.Random(4)
    root = tmp_path / "killed"
    num_killed = sum(kill_after(moments.uniform(0.1, 0.7) * duration, recipe, root) for _ in range(10))

    assert num_killed >= 1
    assert build(recipe, root, "--workers", "2") == whole
    assert leftovers(root) == []


def test_an_interrupt_stops_the_workers_and_says_how_to_go_on(tmp_path: Path) -> None:
    recipe = tmp_path / "slice.yaml"
    recipe.write_text(SLICE)
    process = subprocess.Popen(
        command(recipe, tmp_path / "root"), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("attributes"):
            break
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "build again to go on" in said
    deadline = time.monotonic() + 10
    while members_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert members_of(process.pid) == []
