"""The page docs/how-to/export.md: what it shows is run."""

import os
import re
import subprocess
import sys
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

    for language, example in re.findall(r"```(python|sh)\n(.*?)```", PAGE, re.S):
        if language == "python":
            exec(compile(example, "export.md", "exec"), {})  # noqa: S102
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            subprocess.run(["bash", "-euc", example], env={**os.environ, "PATH": path}, check=True)

    assert capsys.readouterr().out.splitlines() == [
        "3 documents, 4 tokens",
        "[ 72 105 256  33 256]",
        "[8 2 0 0]",
        "[False  True False False]",
        "[ 72 105]",
    ]
    assert [tokens.tolist() for tokens in DocArrays.open("imported/prose-0001.arrow")] == [[7]]
    assert [tokens.tolist() for tokens in DocArrays.open("imported/prose-0000.arrow")] == [[72, 105], [33]]
    assert datasets.load_from_disk("exported_rows")["loss_mask"][1] == [True, False, False]


def test_the_formats_are_those_of_the_code():
    rows = [line.split("|")[1].strip(" `") for line in PAGE.splitlines() if line.startswith("| `")]

    assert rows[1:] == list(FORMATS)
