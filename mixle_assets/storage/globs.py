"""Patterns of file names: ``*``, ``?``, ``[abc]``, ``[!abc]`` and ``**`` for any depth, this level included.

``*`` matches names with a leading dot, there are no braces, and a ``[`` is written ``[[]``; a pattern that is
itself the name of a file means that file. Files come in ascending order of their path components. The same
holds in an object store, where a folder is what the slashes in names make of it.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mixle_assets.storage import objects
from mixle_assets.storage.local import local_path
from mixle_assets.storage.locations import is_object, join, take_apart

_MAGIC = re.compile(r"[*?\[]")


def find_files(pattern: str) -> list[str]:
    """Return the files that ``pattern`` names, folders left out, sorted by path components.

    Args:
        pattern: A path, URL or glob; relative ones start at the working directory. A bucket is no glob.
    """
    if is_object(pattern):
        return _find_objects(pattern)
    location = local_path(pattern)
    if location.is_file():
        return [pattern]
    parts = location.parts
    start = _first_magic(parts)
    if start is None:
        return []
    base = Path(*parts[:start]) if start else Path()
    found = {os.fspath(path) for path in _walk(base, parts[start:])}
    return sorted(found, key=lambda path: Path(path).parts)


def _first_magic(parts: Sequence[str]) -> int | None:
    return next((i for i, part in enumerate(parts) if _MAGIC.search(part)), None)


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


def _find_objects(pattern: str) -> list[str]:
    if objects.stat(pattern) is not None:
        return [pattern]
    name = take_apart(pattern)
    parts = name.key.split("/")
    start = _first_magic(parts)
    if start is None:
        return []
    bucket = f"{name.scheme}://{name.bucket}"
    found = set(_walk_objects(join(bucket, *parts[:start]), parts[start:]))
    return sorted(found, key=lambda url: url.split("/"))


def _walk_objects(folder: str, parts: Sequence[str]) -> Iterator[str]:
    head, rest = parts[0], parts[1:]
    if head == "**":
        # One listing of all below costs a request per 1,000 objects; level by level, one per folder.
        for name in objects.list_below(folder):
            if matches(name.split("/"), parts):
                yield join(folder, name)
        return
    if not _MAGIC.search(head):
        child = join(folder, head)
        if rest:
            yield from _walk_objects(child, rest)
        elif objects.stat(child) is not None:
            yield child
        return
    fits = re.compile(fnmatch.translate(head)).match
    for name, is_folder in objects.list_level(folder):
        if fits(name) and is_folder and rest:
            yield from _walk_objects(join(folder, name), rest)
        elif fits(name) and not is_folder and not rest:
            yield join(folder, name)


def matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether the components of a file's path match the components of a pattern."""
    if not parts:
        return not names
    if parts[0] == "**":
        rest = parts[1:] or ["*"]
        return any(matches(names[depth:], rest) for depth in range(len(names)))
    if not names or not re.match(fnmatch.translate(parts[0]), names[0]):
        return False
    return matches(names[1:], parts[1:])
