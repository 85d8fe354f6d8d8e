"""Local copies of objects, for what must be mapped into memory: downloaded once, whole, and used again.

A copy's name follows from the object's URL, etag and size, so a changed object gets another copy. They lie
below ``$MIXLE_CACHE``, or in the user's cache folder; ``$MIXLE_CACHE_IN_BYTES`` bounds them. What was not
used for longest goes first, but never what was used within the last hour: that may be about to be opened.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixle_assets.errors import InputError, StoreError
from mixle_assets.manifest import digest_of
from mixle_assets.storage import local
from mixle_assets.storage.objects import open_read, stat, survives_fork

CACHE_VARIABLE = "MIXLE_CACHE"
LIMIT_VARIABLE = "MIXLE_CACHE_IN_BYTES"
_KEPT_IN_SECONDS = 3600.0
_CHUNK_IN_BYTES = 2**20


def cache_folder() -> Path:
    """Return the folder of the copies."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mixle_assets"


@survives_fork
def local_copy(url: str) -> Path:
    """Return a local file with the bytes of an object as it is now.

    Raises:
        InputError: There is no such object, or it may not be read.
        StoreError: The store cannot be reached, or the disk is full.
    """
    found = stat(url)
    if found is None:
        raise InputError("cannot be read: there is no such object", path=url)
    digest = digest_of([os.environ.get("AWS_ENDPOINT_URL", ""), url, *found])
    path = cache_folder() / digest[:2] / digest[2:] / url.rpartition("/")[2]
    if not _touch(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent / ".lock"):  # ranks on one machine ask for one file at one time
            if not _touch(path):
                _make_room(found.size_in_bytes)
                with open_read(url) as stored, local.write_whole(str(path)) as copy:
                    shutil.copyfileobj(stored, copy, _CHUNK_IN_BYTES)
    return path


def _touch(path: Path) -> bool:
    """Note that a copy is used, and return whether it is there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make_room(size_in_bytes: int) -> None:
    """Remove copies that were not used for longest until one more has room."""
    folder = cache_folder()
    limit = os.environ.get(LIMIT_VARIABLE)
    if limit is not None and not limit.isdigit():
        raise StoreError(f"${LIMIT_VARIABLE} must be a number of bytes, got {limit!r}")
    copies = sorted(_copies(folder))
    total = sum(size for _, size, _ in copies)
    for used, size, path in copies:
        fits = limit is None or total + size_in_bytes <= int(limit)
        if (fits and size_in_bytes < local.free_bytes(str(folder))) or time.time() - used < _KEPT_IN_SECONDS:
            break
        path.unlink(missing_ok=True)  # whoever has it mapped keeps it until he is done
        total -= size


def _copies(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in folder.glob("??/*/*"):
        if path.name.startswith("."):
            continue
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        yield status.st_mtime, status.st_size, path
