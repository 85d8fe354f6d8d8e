"""``mixle-assets import``: what it writes, what it says, what it refuses before it writes."""

import json

import pytest
from click.testing import CliRunner
from make_arrays import make_arrays

from mixle_assets.cli import cli
from mixle_assets.exporting import ExportTask, export_documents
from mixle_assets.formats.doc_arrays import DocArrays

DOCUMENTS = [[5, 6, 7], [], [9]]


@pytest.fixture
def exported(tmp_path, monkeypatch):
    """Two shards in Megatron's format and in OLMo's, as ``megatron/a-0.bin`` and ``olmo/a-0.npy``."""
    monkeypatch.chdir(tmp_path)
    first = make_arrays(tmp_path / "first.arrow", DOCUMENTS)
    second = make_arrays(tmp_path / "second.arrow", [[8]])
    for to in ("megatron", "olmo"):
        export_documents([ExportTask("a/0", first, "d", to, to), ExportTask("a/1", second, "e", to, to)])
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, ["import", *arguments])


def contents(path):
    arrays = DocArrays.open(path)
    return [tokens.tolist() for tokens in arrays], list(arrays.ids()), list(arrays.provenances())


@pytest.mark.parametrize("pattern", ["megatron/*.bin", "megatron/*.idx", "megatron/*.[bi]*"])
def test_megatrons_pairs_become_doc_arrays_without_their_boundary(exported, pattern):
    done = run(pattern, "in", "--boundary-id", "2", "--vocabulary-size", "65536")

    assert done.exit_code == 0, done.output
    assert [line.partition(", digest")[0] for line in done.stdout.splitlines()] == [
        "in/a-0.arrow: 3 documents, 4 tokens",
        "in/a-1.arrow: 1 documents, 1 tokens",
    ]
    assert contents("in/a-0.arrow") == (DOCUMENTS, ["a-0:1", "a-0:2", "a-0:3"], ["a-0:1", "a-0:2", "a-0:3"])
    assert DocArrays.open("in/a-1.arrow").metadata["boundary_id"] == 2


def test_olmos_files_keep_ids_and_provenance_and_are_told_as_json(exported):
    done = run("olmo/a-0.npy", "in", "--boundary-id", "2", "--vocabulary-size", "65536", "--json")

    told = json.loads(done.stdout)["in/a-0.arrow"]
    assert (told["num_documents"], told["num_tokens"]) == (3, 4)
    provenances = [f"prose/0000.jsonl.gz:{line}" for line in (1, 2, 3)]
    assert contents("in/a-0.arrow") == (DOCUMENTS, ["d0", "d1", "d2"], provenances)


def test_without_a_boundary_every_token_stays(exported):
    assert run("megatron/a-1.bin", "in", "--vocabulary-size", "65536").exit_code == 0

    assert contents("in/a-1.arrow")[0] == [[8, 2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["megatron/*.bin", "olmo/a-0.npy"],
            "megatron/a-0.bin and olmo/a-0.npy would both become in/a-0.arrow",
        ),
        (["megatron/a-0.bin", "none/*.bin"], "no file matches none/*.bin"),
        (["megatron/a-0.bin", "first.arrow"], "first.arrow: token files end in .bin, .idx, .npy"),
        (
            ["megatron/a-0.bin", "--boundary-id", "9", "--vocabulary-size", "9"],
            "the boundary 9 is not below the",
        ),
    ],
)
def test_a_call_that_cannot_be_done_whole_writes_nothing(exported, arguments, message):
    files = [each for each in arguments[:2] if not each.startswith("--")]
    options = arguments[len(files) :] or ["--vocabulary-size", "65536"]

    done = run(*files, "in", *options)

    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (exported / "in").exists()


def test_an_id_beyond_the_vocabulary_is_an_error_and_leaves_no_file(exported):
    done = run("megatron/a-0.bin", "in", "--boundary-id", "2", "--vocabulary-size", "9")

    assert done.exit_code == 1
    assert "9" in str(done.exception)
    assert list((exported / "in").glob("*.arrow")) == []
