"""The commands as a user types them: output, exit codes, what is left behind."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from command_line import run

RECIPE = """\
name: tiny
streams:
  - name: notes
    documents: [in/documents/*.jsonl]
    taggers: {quality: [char_length_v1]}
    filter: {exclude: ["$.attributes[?(@.quality__char_length_v1__length[0][2] < 5)]"]}
tokenizer: {bytes: true}
packing: {block: 8, batch_size: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "in" / "documents"
    documents.mkdir(parents=True)
    rows = [
        {"id": "a", "text": "a long enough text"},
        {"id": "b", "text": "no"},
        {"id": "c", "text": "also long"},
    ]
    (documents / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "tiny.yaml").write_text(RECIPE)
    return tmp_path


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from mixle_assets.cli import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        "heavy = {'dagster', 'numba', 'pyarrow', 'numpy', 'pydantic', 'rich'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    for name in ("plan", "build", "status", "check", "recipe", "mix", "ui"):
        assert f"\n  {name} " in done.stdout


def test_plan_build_status_and_check_tell_what_is_there(folder: Path) -> None:
    planned = run("plan", "tiny.yaml", cwd=folder)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.splitlines()[0].startswith("new notes/0000  1 files, ")

    before = json.loads(run("status", "tiny.yaml", "--json", cwd=folder).stdout)
    assert before["mixed_shards"] == {
        "current": [],
        "stale": {},
        "missing": {"notes/0000": "an input is not built"},
    }

    done = run("build", "tiny.yaml", "--plain", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "notes: 3 documents in = 2 out + 1 dropped" in done.stdout
    assert "4 rebuilt, 0 current" in done.stdout
    assert "0 rebuilt, 4 current" in run("build", "tiny.yaml", "--plain", cwd=folder).stdout

    after = json.loads(run("status", "tiny.yaml", "--json", cwd=folder).stdout)
    assert {stage: states["current"] for stage, states in after.items()} == {
        "attributes": ["notes/0000"],
        "mixed_shards": ["notes/0000"],
        "doc_arrays": ["notes/0000"],
        "packed_epoch": ["0"],
    }

    checked = run("check", "tiny.yaml", "--junit", "out.xml", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    suite = ElementTree.parse(folder / "out.xml").getroot()
    assert suite.get("failures") == "0"
    assert {case.get("name") for case in suite} >= {
        "ids_align",
        "counts_balance",
        "rows_match_streaming_corpus",
    }


def test_a_broken_output_fails_the_check_with_exit_code_1(folder: Path) -> None:
    run("build", "tiny.yaml", "--plain", cwd=folder)
    path = folder / "corpora/tiny/attributes/quality/notes/0.jsonl"
    path.write_text(path.read_text().replace('"id":"b"', '"id":"x"'))
    done = run("check", "tiny.yaml", "--junit", "out.xml", cwd=folder)

    assert done.returncode == 1
    assert "check attributes.ids_align on 1 partitions: failed: 1 violations" in done.stdout
    assert "expected id 'b'" in done.stdout
    assert ElementTree.parse(folder / "out.xml").getroot().get("failures") != "0"


def test_verify_names_the_file_with_a_flipped_bit(folder: Path) -> None:
    run("build", "tiny.yaml", "--plain", cwd=folder)
    assert "0 damaged" in run("verify", "tiny.yaml", cwd=folder).stdout
    damaged = sorted(folder.glob("corpora/tiny/packed_epoch/0000/rank-*.npy"))[0]
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    done = run("verify", "tiny.yaml", cwd=folder)

    assert done.returncode == 1
    assert str(damaged) in done.stdout
    assert "1 damaged" in done.stdout


def test_a_row_is_traced_to_its_line_and_a_document_to_its_rows(folder: Path) -> None:
    run("build", "tiny.yaml", "--plain", cwd=folder)
    (segment, *_) = json.loads(
        run("trace", "tiny.yaml", "--epoch", "0", "--row", "0", "--json", cwd=folder).stdout
    )
    number = {"a": 1, "c": 3}[segment["id"]]
    assert segment["source"] == f"{folder}/in/documents/0.jsonl:{number}"
    assert (segment["row_start"], segment["document_start"]) == (0, 0)

    said = run("trace", "tiny.yaml", "--id", segment["id"], cwd=folder).stdout
    assert f"epoch 0, rank 0, row 0, cells 0-{segment['row_stop']}: document {segment['id']!r}" in said
    gone = run("trace", "tiny.yaml", "--id", "nobody", cwd=folder)
    assert gone.returncode == 1
    assert "'nobody'" in gone.stderr


def test_an_export_is_read_back_and_not_made_twice(folder: Path) -> None:
    run("build", "tiny.yaml", "--plain", cwd=folder)
    done = run("export", "tiny.yaml", "out", "--to", "olmo", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "out: 2 documents, " in done.stdout
    tokens = np.fromfile(folder / "out" / "notes-0000.npy", np.uint16)
    assert bytes(tokens[:18].astype(np.uint8)) == b"a long enough text"
    assert (folder / "out.manifest.json").exists()

    before = (folder / "out" / "notes-0000.npy").stat().st_mtime_ns
    assert run("export", "tiny.yaml", "out", "--to", "olmo", cwd=folder).returncode == 0
    assert (folder / "out" / "notes-0000.npy").stat().st_mtime_ns == before
    assert run("export", "tiny.yaml", "out", "--to", "tfrecord", cwd=folder).returncode == 2


def test_lint_says_why_a_rule_is_doubtful(folder: Path) -> None:
    assert run("lint", "tiny.yaml", cwd=folder).returncode == 0
    (folder / "tiny.yaml").write_text(RECIPE.replace('exclude: ["', 'exclude: ["$", "'))
    done = run("lint", "tiny.yaml", cwd=folder)

    assert done.returncode == 1
    assert "tiny.yaml:6: streams.0.filter.exclude.0: the rule matches every document" in done.stdout


def test_the_resolved_recipe_shows_each_value_with_its_origin(folder: Path) -> None:
    shown = run("recipe", "tiny.yaml", "--resolved", cwd=folder).stdout

    assert "block: 8" in shown
    assert "tiny.yaml:8" in shown
    assert "default" in shown


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("filter: {exclude", "filter: {exlude", ["tiny.yaml:6", "exlude", "did you mean", "exclude"]),
        ("[0][2] < 5)]", "[0][2] < 5)", ["tiny.yaml:6", "streams.0.filter.exclude.0", "column"]),
        ("[char_length_v1]", "[char_lenght_v1]", ["tiny.yaml:5", "char_lenght_v1", "char_length_v1"]),
        (
            "char_length_v1__length",
            "char_length_v1__size",
            ["tiny.yaml:6", "no tagger of this stream writes"],
        ),
        ("*.jsonl]", "*.json]", ["tiny.yaml:4", "in/documents/*.json"]),
        ("{bytes: true}", "{file: gone.json}", ["tiny.yaml:7", "tokenizer", "gone.json"]),
        ("block: 8", "block: 0", ["tiny.yaml:8", "packing.block", "got 0"]),
    ],
)
def test_a_wrong_recipe_ends_with_exit_code_2_and_leaves_nothing(
    folder: Path, old: str, new: str, said: list[str]
) -> None:
    (folder / "tiny.yaml").write_text(RECIPE.replace(old, new))
    done = run("build", "tiny.yaml", "--plain", cwd=folder)

    assert done.returncode == 2, done.stderr
    for words in said:
        assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("corpora/**/*.jsonl*"))


def test_a_wrong_call_ends_with_exit_code_2(folder: Path) -> None:
    assert run("build", cwd=folder).returncode == 2
    assert run("build", "gone.yaml", cwd=folder).returncode == 2
    assert run("buidl", "tiny.yaml", cwd=folder).returncode == 2
    assert "workers" in run("build", "tiny.yaml", "--workers", "0", cwd=folder).stderr


def test_a_broken_document_ends_with_exit_code_1_and_its_line(folder: Path) -> None:
    path = folder / "in/documents/0.jsonl"
    path.write_text(path.read_text() + '{"id": "d", "text": \n')
    done = run("build", "tiny.yaml", "--plain", cwd=folder)

    assert done.returncode == 1
    assert "in/documents/0.jsonl:4" in done.stderr
    assert not list(folder.glob("corpora/**/*.jsonl*"))


def test_a_dolma_config_is_mixed_where_it_says(folder: Path) -> None:
    (folder / "mix.yaml").write_text(
        "streams:\n"
        "  - name: notes\n"
        "    documents: [s3://bucket/data/documents/*.jsonl]\n"
        "    output: {path: out, max_size_in_bytes: 1_000_000}\n"
        "    filter: {include: ['$.id']}\n"
        "processes: 1\n"
    )
    mapped = f"s3://bucket/data={folder}/in"
    assert "mix.yaml" in run("mix", "mix.yaml", "--map", mapped, "--dryrun", cwd=folder).stdout
    done = run("mix", "mix.yaml", "--map", mapped, cwd=folder)

    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (folder / "out").iterdir() if not path.name.startswith(".")) == [
        "notes-0000.jsonl.gz",
        "notes-0000.jsonl.gz.manifest.json",
    ]
    assert "0 rebuilt, 1 current" in run("mix", "mix.yaml", "--map", mapped, cwd=folder).stdout
