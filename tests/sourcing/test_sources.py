import gzip
import itertools
import json

import pytest

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing import SourceTask, make_documents, source_digest


def task(folder, *only, kind="prose", **kwargs):
    return SourceTask("s", Source(python_stdlib=kind, only=only), str(folder), **kwargs)


def rows_of(path):
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def test_files_are_filled_to_the_limit_and_numbered(tmp_path):
    written = make_documents(task(tmp_path, "json", kind="code", file_text_in_bytes=15_000))

    rows = [rows_of(tmp_path / name) for name in written]
    sizes_in_bytes = [[len(row["text"].encode()) for row in each] for each in rows]
    assert list(written) == [f"{number:04d}.jsonl.gz" for number in range(len(written))]
    assert [row["id"] for each in rows for row in each][:4] == [
        "json",
        "json.decoder",
        "json.encoder",
        "json.scanner",
    ]
    assert len(written) > 1
    for sizes, following in itertools.pairwise(sizes_in_bytes):
        assert sum(sizes) <= 15_000 or len(sizes) == 1
        assert sum(sizes) + following[0] > 15_000  # or it would have gone in as well
    for name, sizes in zip(written, sizes_in_bytes, strict=True):
        assert written[name].details == {"text_in_bytes": sum(sizes)}
        assert written[name].counts.num_out == len(sizes)
        assert written[name].counts.num_missing == 0
        assert written[name].size_in_bytes == (tmp_path / name).stat().st_size


def test_the_same_source_gives_the_same_bytes(tmp_path):
    first = make_documents(task(tmp_path / "a", "json", "textwrap"))
    second = make_documents(task(tmp_path / "b", "json", "textwrap"))

    assert first == second
    assert (tmp_path / "a/0000.jsonl.gz").read_bytes() == (tmp_path / "b/0000.jsonl.gz").read_bytes()


def test_files_of_an_earlier_run_that_are_no_longer_due_are_removed(tmp_path):
    make_documents(task(tmp_path, "json", kind="code", file_text_in_bytes=10))
    (tmp_path / "notes.jsonl").write_text("mine")

    make_documents(task(tmp_path, "json", kind="code"))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000.jsonl.gz", "notes.jsonl"]


@pytest.mark.parametrize(
    ("codec", "name"), [("gz", "0000.jsonl.gz"), ("zst", "0000.jsonl.zst"), ("", "0000.jsonl")]
)
def test_the_codec_shows_in_the_name_and_not_in_the_rows(tmp_path, codec, name):
    written = make_documents(task(tmp_path, "textwrap", codec=codec))
    plain = make_documents(task(tmp_path / "plain", "textwrap", codec=""))

    assert list(written) == [name]
    assert written[name].rows_digest == plain["0000.jsonl"].rows_digest


def test_the_digest_tells_another_selection_from_this_one_without_making_anything(tmp_path):
    prose = Source(python_stdlib="prose", only=["json"])

    assert source_digest(prose) == source_digest(Source(python_stdlib="prose", only=["json"]))
    others = [Source(python_stdlib="code", only=["json"]), Source(python_stdlib="prose", only=["json", "re"])]
    assert len({source_digest(source) for source in [prose, *others]}) == 3


def test_a_module_that_is_not_there_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="only: the standard library has no module 'jsn'"):
        make_documents(task(tmp_path / "folder", "json", "jsn"))

    assert not list(tmp_path.rglob("*.gz"))
