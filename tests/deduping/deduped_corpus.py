"""A corpus of a few documents, deduped in a temporary folder by the three functions one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mixle_assets.deduping import (
    AttributeTask,
    HashedReference,
    HashedShard,
    HashTask,
    IndexTask,
    build_index,
    hash_shard,
    write_duplicate_attributes,
)
from mixle_assets.formats.attributes import read_attribute_rows
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Dedupe
from mixle_assets.records import Written

Shards = Mapping[str, Mapping[str, Iterable[Any]]]
"""Key of a shard, ``prose/0000``, to file name to documents: rows, texts, or raw lines of bytes."""


class Corpus:
    """A deduped corpus: what each stage wrote, and where."""

    def __init__(
        self,
        folder: Path,
        shards: Shards,
        rules: Dedupe | Mapping[str, Dedupe],
        *,
        references: Mapping[str, Mapping[str, Iterable[Any]]] | None = None,
        bucket_in_hashes: int = 1 << 24,
    ) -> None:
        self.folder = folder
        self.files = {key: write_files(folder, files) for key, files in shards.items()}
        self.rules = {
            key: rules if isinstance(rules, Dedupe) else rules[key.partition("/")[0]] for key in shards
        }
        self.references = {role: write_files(folder, files) for role, files in (references or {}).items()}
        self.bucket_in_hashes = bucket_in_hashes
        self.hashed: dict[str, Written] = {}
        self.slices: dict[str, Written] = {}
        self.written: dict[str, Written] = {}

    def path(self, stage: str, key: str) -> str:
        return str(self.folder / stage / f"{key.replace('/', '-')}.arrow")

    def hash(self, key: str, **changes: Any) -> None:
        task = HashTask(key, self.files[key], self.rules[key], self.path("content_hashes", key), **changes)
        self.hashed[key] = hash_shard(task)

    def index(self) -> None:
        shards = tuple(
            HashedShard(
                key,
                key.partition("/")[0],
                self.rules[key],
                self.path("content_hashes", key),
                self.path("duplicate_index", key),
            )
            for key in self.files
        )
        (rules,) = set(self.rules.values()) if self.references else (None,)
        references = []
        for role, files in self.references.items():
            path = self.path("content_hashes", role)
            hash_shard(HashTask(role, files, rules, path))
            references.append(HashedReference(role, rules, path))
        self.slices = build_index(
            IndexTask(shards, references=tuple(references), bucket_in_hashes=self.bucket_in_hashes)
        )

    def attribute_path(self, name: str) -> str:
        return str(self.folder / "attributes" / "duplicates" / name)

    def write(self, key: str) -> None:
        names = tuple(file.name for file in self.files[key])
        task = AttributeTask(
            key,
            self.rules[key],
            self.path("content_hashes", key),
            self.path("duplicate_index", key),
            {name: self.attribute_path(name) for name in names},
            names,
        )
        self.written.update(write_duplicate_attributes(task))

    def run(self) -> Corpus:
        for key in self.files:
            self.hash(key)
        self.index()
        for key in self.files:
            self.write(key)
        return self

    def rows(self, name: str) -> list[tuple[Any, dict[str, Any]]]:
        return [
            (row_id, attributes) for _, row_id, attributes in read_attribute_rows(self.attribute_path(name))
        ]

    def attributes(self, *names: str) -> list[dict[str, Any]]:
        chosen = names or [file.name for files in self.files.values() for file in files]
        return [attributes for name in chosen for _, attributes in self.rows(name)]

    def digests(self) -> dict[str, list[str]]:
        stages = {"hashes": self.hashed, "slices": self.slices, "attributes": self.written}
        return {
            f"{stage} {key}": [written.rows_digest, written.file_hash]
            for stage, outputs in stages.items()
            for key, written in outputs.items()
        }


def write_files(folder: Path, files: Mapping[str, Iterable[Any]]) -> tuple[PlannedFile, ...]:
    planned = []
    for name, documents in files.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for number, document in enumerate(documents, 1):
            if isinstance(document, str):
                document = {"id": f"{name}:{number}", "text": document}
            line = (
                document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
            )
            lines.append(line + b"\n")
        path.write_bytes(b"".join(lines))
        planned.append(PlannedFile(str(path), name, name, path.stat().st_size, path.stat().st_mtime_ns))
    return tuple(planned)


@pytest.fixture
def dedupe(tmp_path: Path) -> Callable[..., Corpus]:
    """``dedupe(shards, rules)`` runs all three stages; every call in a folder of its own."""
    made = iter(range(1_000_000))

    def run(shards: Shards, rules: Dedupe | Mapping[str, Dedupe], **changes: Any) -> Corpus:
        return Corpus(tmp_path / str(next(made)), shards, rules, **changes).run()

    return run
