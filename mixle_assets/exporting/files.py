"""The files of an export: written whole, hashed on the way, told by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mixle_assets import storage
from mixle_assets.formats.hashing_file import HashingFile


class FileSet:
    """Files below one folder.

    Attributes:
        folder: Where they lie.
        files: Name to ``hash`` and ``size_in_bytes`` of each one that is finished.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.files: dict[str, dict[str, Any]] = {}

    @contextmanager
    def write(self, name: str) -> Iterator[HashingFile]:
        """Write one file whole or not at all; ``name`` may hold slashes."""
        with storage.write_whole(storage.join(self.folder, name)) as file:
            hashing = HashingFile(file)
            yield hashing
        self.files[name] = {"hash": hashing.file_hash, "size_in_bytes": hashing.size_in_bytes}

    def remove_others(self, names: Iterable[str]) -> None:
        """Remove those of the named files that are not among the finished ones."""
        for name in names:
            if name not in self.files:
                storage.remove(storage.join(self.folder, name))

    def are_there(self) -> bool:
        """Return whether every file stands in the folder with its size."""
        for name, facts in self.files.items():
            status = storage.stat(storage.join(self.folder, name))
            if status is None or status.size_in_bytes != facts["size_in_bytes"]:
                return False
        return True
