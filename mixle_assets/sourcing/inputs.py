"""The files that a source is made from: found once each, named stably, fingerprinted without being read.

What is in them is read by the module of their kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mixle_assets.errors import InputError
from mixle_assets.manifest import digest_of
from mixle_assets.storage import find_files, identity, stat

_MAGIC = re.compile(r"[*?\[]")


class SourceFile(NamedTuple):
    """One file of a source.

    Attributes:
        path: Where it lies.
        name: Below the folder that its pattern names literally: ``2024/a.warc.gz``; part of ids.
    """

    path: str
    name: str


def find_source_files(patterns: tuple[str, ...]) -> list[SourceFile]:
    """Return the files that the patterns match, in their order; a file that matches twice comes once.

    Raises:
        InputError: A pattern matches nothing, or two files would have one name.
    """
    found: dict[str, SourceFile] = {}
    names: dict[str, str] = {}
    for pattern in patterns:
        paths = find_files(pattern)
        if not paths:
            raise InputError("no file matches this pattern of the source", path=pattern)
        above = _literal_folder(pattern)
        for path in paths:
            if identity(path) in found:
                continue
            name = path.removeprefix(above)
            if name in names:
                raise InputError(
                    f"{names[name]} would have the same name, {name!r}, and so the same ids: use one pattern "
                    "from the folder above both",
                    path=path,
                )
            names[name] = path
            found[identity(path)] = SourceFile(path, name)
    return list(found.values())


def digest_of_files(files: list[SourceFile], *settings: object) -> str:
    """Return a digest of names, sizes and modification times; the contents are not read.

    A touched file makes the documents anew; they come out with the digests they had, and nothing after
    them is rebuilt.
    """
    facts = []
    for file in files:
        found = stat(file.path)
        if found is None:
            raise InputError("is gone", path=file.path)
        facts.append([file.name, found.size_in_bytes, found.modified])
    return digest_of([*settings, facts])


def _literal_folder(pattern: str) -> str:
    """Return what stands before the first wildcard, up to its last slash; a file's own name has none."""
    match = _MAGIC.search(pattern) if stat(pattern) is None else None
    literal = pattern[: match.start()] if match else pattern
    return literal[: literal.rfind("/") + 1]
