"""``mixle-assets export`` and ``import`` on what is broken, and once killed: exit codes, what is left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import run

from mixle_assets.manifest import decode_manifest

SMALL = Path(__file__).parents[1] / "golden" / "tokens_small_tokenizer.json"
NUM_SHARDS = 40
RECIPE = """\
name: many
streams:
  - {name: notes, documents: [in/*.jsonl], output: {max_size_in_bytes: 1}}
tokenizer: {file: tokenizer.json, engine: tokenizers}
packing: {block: 8}
"""


def build(folder):
    return run("build", "many.yaml", "--plain", "--workers", "1", cwd=folder)


def export(folder, target, to="megatron"):
    return run("export", "many.yaml", target, "--to", to, "--workers", "1", cwd=folder)


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    (folder / "in").mkdir()
    for number in range(NUM_SHARDS):
        rows = [{"id": f"{number}-{row}", "text": f"document {row} of {number}"} for row in range(3)]
        (folder / f"in/{number:04}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "many.yaml").write_text(RECIPE)
    shutil.copy(SMALL, folder / "tokenizer.json")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def built(template, tmp_path):
    """A corpus of forty shards, built."""
    return shutil.copytree(template, tmp_path / "built")


def test_an_export_that_was_killed_is_finished_by_the_next_and_is_the_same(built):
    assert export(built, "whole").returncode == 0
    whole = files_of(built / "whole")
    killed = built / "killed"
    records = killed / ".export"
    for _ in range(5):
        shutil.rmtree(killed, ignore_errors=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "mixle_assets", "export", "many.yaml", "killed", "--to", "megatron"],
            cwd=built, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(list(records.glob("*.json"))) < 3:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not (built / "killed.manifest.json").exists():
            break
    finished = {path.stem: path.stat().st_mtime_ns for path in records.glob("*.json")}
    assert 3 <= len(finished) < NUM_SHARDS
    (killed / ".notes-0039.bin.0.partial").write_bytes(b"left by the killed one")

    done = export(built, "killed")

    assert done.returncode == 0, done.stderr
    found = files_of(killed)
    assert found.pop(".lease")
    assert found == {name: content for name, content in whole.items() if name != ".lease"}
    assert {stem: (records / f"{stem}.json").stat().st_mtime_ns for stem in finished} == finished
    first, second = (
        decode_manifest((built / f"{name}.manifest.json").read_bytes()) for name in ("whole", "killed")
    )
    assert first == second
    assert first.counts.num_out == 3 * NUM_SHARDS


def test_a_cut_doc_array_fails_the_export_before_anything_is_written(built):
    [arrays] = built.glob("corpora/many/doc_arrays/*0007.arrow")
    arrays.write_bytes(arrays.read_bytes()[:-1])

    done = export(built, "out")

    assert done.returncode == 1
    assert "doc_arrays notes/0007 are damaged" in done.stderr
    assert "build them again" in done.stderr
    assert not (built / "out").exists()


def test_a_doc_array_with_other_bytes_fails_its_shard_alone_and_leaves_no_manifest(built):
    assert export(built, "out").returncode == 0
    [arrays] = built.glob("corpora/many/doc_arrays/*0007.arrow")
    content = arrays.read_bytes()
    arrays.write_bytes(bytes(len(content)))
    shutil.rmtree(built / "out")

    done = export(built, "out")

    assert done.returncode == 1
    assert "0007.arrow: not a whole Arrow file" in done.stderr
    names = {path.name for path in (built / "out").glob("notes-*")}
    assert len(names) == 2 * (NUM_SHARDS - 1)
    assert not {name for name in names if "0007" in name}
    assert not (built / "out.manifest.json").exists()  # that of the earlier export is no longer true

    arrays.write_bytes(content)
    assert export(built, "out").returncode == 0
    assert (built / "out.manifest.json").exists()


def test_a_boundary_that_the_tokenizer_lacks_is_refused_before_any_work(built):
    shutil.rmtree(built / "corpora")
    (built / "many.yaml").write_text(RECIPE.replace("engine:", 'boundary: "</s>", engine:'))

    done = build(built)

    assert done.returncode == 2
    assert "tokenizer.boundary: the vocabulary has no token '</s>'" in done.stderr
    assert not list(built.glob("corpora/many/**/*.arrow"))


def test_a_tokenizer_file_that_broke_is_refused_before_any_work(built):
    before = files_of(built / "corpora/many/doc_arrays")
    (built / "tokenizer.json").write_bytes(SMALL.read_bytes()[:1000])

    for done in (build(built), export(built, "out")):
        assert done.returncode == 2
        assert "tokenizer.json: not a tokenizer.json" in done.stderr

    assert files_of(built / "corpora/many/doc_arrays") == before
    assert not (built / "out").exists()


def test_a_tokenizer_file_that_was_altered_makes_doc_arrays_and_export_anew(built):
    assert export(built, "out").returncode == 0
    before = (built / "out/notes-0000.bin").read_bytes()
    parsed = json.loads(SMALL.read_text())
    parsed["model"]["merges"] = []
    (built / "tokenizer.json").write_text(json.dumps(parsed))

    said = run("status", "many.yaml", cwd=built)
    assert "tokenizer changed" in said.stdout
    assert build(built).returncode == 0
    assert export(built, "out").returncode == 0

    after = (built / "out/notes-0000.bin").read_bytes()
    assert len(after) > len(before)


def test_shards_that_are_gone_are_gone_from_the_export(built):
    assert export(built, "out", "olmo").returncode == 0
    for number in range(10, NUM_SHARDS):
        (built / f"in/{number:04}.jsonl").unlink()
    assert run("plan", "many.yaml", "--replan", cwd=built).returncode == 0
    assert build(built).returncode == 0

    assert export(built, "out", "olmo").returncode == 0

    assert len(list((built / "out").glob("*.npy"))) == len(list((built / "out").glob("*.csv.gz"))) == 10


def test_an_import_of_what_is_cut_or_beyond_the_vocabulary_leaves_nothing(tmp_path):
    np.array([5, 6, 2, 70], "<u2").tofile(tmp_path / "a.npy")
    options = ("--boundary-id", "2", "--vocabulary-size")

    missing = run("import", "a.npy", "in", *options, "100", cwd=tmp_path)
    (tmp_path / "a.csv.gz").write_bytes(
        subprocess.run(["gzip", "-c"], input=b"0,3\r\n3,4\r\n", capture_output=True, check=True).stdout
    )
    beyond = run("import", "a.npy", "in", *options, "70", cwd=tmp_path)
    (tmp_path / "b.bin").write_bytes(b"x")
    (tmp_path / "b.idx").write_bytes(b"MMIDIDX\0\0")
    no_index = run("import", "b.bin", "in", *options, "100", cwd=tmp_path)

    assert [missing.returncode, beyond.returncode, no_index.returncode] == [1, 1, 1]
    assert "a.csv.gz: cannot be read" in missing.stderr
    assert "token id 70 at a.npy:2 is not from 0 to 69" in beyond.stderr
    assert "b.idx: not an index of Megatron" in no_index.stderr
    assert [path for path in tmp_path.rglob("in/**/*") if path.is_file()] == []
    good = run("import", "a.npy", "in", *options, "71", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
