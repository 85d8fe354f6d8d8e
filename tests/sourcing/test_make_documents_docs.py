"""The page docs/how-to/make-documents.md: what it shows is run."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/how-to/make-documents.md").read_text("utf-8")


def made(folder: Path, name: str) -> list[tuple[str, str, dict]]:
    lines = gzip.decompress(
        (folder / f"corpora/{name}/documents/{name}/0000.jsonl.gz").read_bytes()
    ).splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["id"], row["text"], row["metadata"]) for row in rows]


def test_every_recipe_makes_the_documents_that_the_page_tells_of(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "DAGSTER_DISABLE_TELEMETRY": "1"}
    for language, example in re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.S | re.M):
        program = [sys.executable, "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
        done = subprocess.run(
            [*program, example], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{example}\n{done.stdout}\n{done.stderr}"

    assert made(tmp_path, "manual") == [
        ("de/index.html", "Ein Werkstück.", {"path": "de/index.html"}),
        ("en/index.html", "Widgets\nHow to turn one.", {"path": "en/index.html"}),
        ("CHANGES.txt.gz", "Version 2: turns faster.\n", {"path": "CHANGES.txt.gz"}),
    ]
    [(identifier, text, metadata)] = made(tmp_path, "crawl")
    assert (identifier, text) == ("0f0f0f0f-0000-4000-8000-000000000001", "Text of a page")
    assert metadata["url"] == "https://example.org/"
    [(identifier, text, _)] = made(tmp_path, "site")
    assert identifier == "lamp.html"
    assert "ships see it from nineteen miles away" in text
    assert not {"Shop", "Copyright", "Privacy"} & set(text.split())
    assert made(tmp_path, "books") == [
        ("1-2", "Call me Ishmael.", {"path": "books.parquet", "row": 0, "year": 1851})
    ]
    assert [each[:2] for each in made(tmp_path, "saved")] == [
        ("saved/train/data-00000-of-00001.arrow:0", "The first row."),
        ("saved/train/data-00000-of-00001.arrow:1", "The second row."),
    ]
    assert (tmp_path / "corpora/saved/plan.json").exists()
