"""Patterns of file names: ``*``, ``?``, ``[abc]``, ``[!abc]`` and ``**`` for any depth, this level included.

``*`` matches names with a leading dot, there are no braces, and a ``[`` is written ``[[]``; a pattern that is
itself the name of a file means that file. Files come in ascending order of their path components.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mixle_assets.storage.local import local_path

_MAGIC = re.compile(r"[*?\[]")


def find_files(pattern: str) -> list[str]:
    """Return the files that ``pattern`` names, folders left out, sorted by path components.

    Args:
        pattern: A path or glob; relative ones start at the working directory.
    """
    location = local_path(pattern)
    if location.is_file():
        return [pattern]
    parts = location.parts
    start = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), None)
    if start is None:
        return []
    base = Path(*parts[:start]) if start else Path()
    found = {os.fspath(path) for path in _walk(base, parts[start:])}
    return sorted(found, key=lambda path: Path(path).parts)


def _walk(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    head, rest = parts[0], parts[1:]
    if head == "**":
        # `a/**` alone means every file below a; `a/**/b` looks for b here and at any depth.
        yield from _walk(folder, rest or ["*"])
        for child in _children(folder):
            if child.is_dir() and not child.is_symlink():  # a link upwards would never end
                yield from _walk(Path(child.path), parts)
        return
    if not _MAGIC.search(head):
        child_path = folder / head
        if rest and child_path.is_dir():
            yield from _walk(child_path, rest)
        elif not rest and child_path.is_file():
            yield child_path
        return
    matches = re.compile(fnmatch.translate(head)).match
    for child in _children(folder):
        if not matches(child.name):
            continue
        if rest and child.is_dir():
            yield from _walk(Path(child.path), rest)
        elif not rest and child.is_file():
            yield Path(child.path)


def _children(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
