"""The page docs/how-to/export.md: what it shows is run."""

import re
from pathlib import Path

import datasets
from make_arrays import make_arrays

from mixle_assets.exporting import FORMATS
from mixle_assets.formats.doc_arrays import DocArrays

PAGE = (Path(__file__).parents[2] / "docs/how-to/export.md").read_text("utf-8")


def test_every_example_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number, documents in enumerate(([[72, 105], [33]], [[7]])):
        make_arrays(
            tmp_path / "doc_arrays" / f"prose-{number:04}.arrow",
            documents,
            boundary_id=256,
            vocabulary_size=257,
        )

    for example in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(example, "export.md", "exec"), {})  # noqa: S102

    assert capsys.readouterr().out == "3 documents, 4 tokens\n[ 72 105 256  33 256]\n"
    assert [tokens.tolist() for tokens in DocArrays.open("imported/prose-0000.arrow")] == [[72, 105], [33]]
    assert datasets.load_from_disk("exported_rows")["loss_mask"][1] == [True, False, False]


def test_the_formats_are_those_of_the_code():
    rows = [line.split("|")[1].strip(" `") for line in PAGE.splitlines() if line.startswith("| `")]

    assert rows[1:] == list(FORMATS)
