import json
from pathlib import Path
from typing import Any

import pytest

from mixle_assets.mixing.mixer import MixFile, MixTask, mix_shard
from mixle_assets.recipe.models import Tolerate
from mixle_assets.recipe.streams import Stream
from mixle_assets.records import Written


class Bench:
    """Document and attribute files in a temporary folder, and mixed shards of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[MixFile] = []

    def write(self, name: str, content: Any) -> str:
        """Write bytes, or a list of JSON values as lines (bytes stand for themselves)."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, bytes):
            content = b"".join(
                (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in content
            )
        path.write_bytes(content)
        return str(path)

    def documents(self, content: Any, name: str = "000.jsonl", **attributes: Any) -> None:
        """Add a document file and its attribute files: a list of ``{key: value}``, or of whole rows."""
        path = self.write(f"documents/{name}", content)
        sets = []
        for attribute_set, rows in attributes.items():
            if isinstance(rows, list):
                rows = [
                    {"id": document["id"], "attributes": row}
                    if isinstance(row, dict) and "attributes" not in row
                    else row
                    for document, row in zip(content + [None] * len(rows), rows, strict=False)
                ]
            location = str(self.folder / f"attributes/{attribute_set}/{name}")
            if rows is not None:
                self.write(f"attributes/{attribute_set}/{name}", rows)
            sets.append((attribute_set, location))
        self.files.append(MixFile(path, name, tuple(sets)))

    def task(self, *, tolerate: dict[str, str] | None = None, codec: str = "", **stream: Any) -> MixTask:
        return MixTask(
            "s/0000",
            Stream(name="s", documents=("*",), **stream),
            tuple(self.files),
            str(self.folder / "mixed.jsonl"),
            tolerate=Tolerate(**(tolerate or {})),
            output_codec=codec,
        )

    def mix(self, **options: Any) -> Written:
        return mix_shard(self.task(**options))

    @property
    def lines(self) -> list[bytes]:
        return (self.folder / "mixed.jsonl").read_bytes().split(b"\n")[:-1]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @property
    def is_written(self) -> bool:
        return (self.folder / "mixed.jsonl").exists()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
