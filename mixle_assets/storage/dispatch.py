"""The public verbs: each looks at the location, then asks ``local`` or ``objects``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from mixle_assets.storage import copies, local, objects
from mixle_assets.storage.locations import FileStat, is_object, take_apart
from mixle_assets.storage.object_stores import was_forked


def local_path(path: str) -> Path:
    """Return a local file with the bytes at ``path``, for memory-mapping and for reading only.

    That of a URL is a copy, made now or earlier, of the object as it is now; see ``copies``.

    Raises:
        InputError: There is no such object.
        StoreError: The store cannot be reached, or the disk is full.
    """
    return copies.local_copy(path) if is_object(path) else local.local_path(path)


def exists(path: str) -> bool:
    """Return whether a file is there."""
    return objects.stat(path) is not None if is_object(path) else local.exists(path)


def stat(path: str) -> FileStat | None:
    """Return size and modification time (of an object: its etag), or None if there is no such file."""
    return objects.stat(path) if is_object(path) else local.stat(path)


def identity(path: str) -> str:
    """Return a name that two ways of writing one file share: absolute, links resolved."""
    return str(take_apart(path)) if is_object(path) else local.identity(path)


def open_read(path: str) -> BinaryIO:
    """Open the stored bytes for reading, as a stream that can seek.

    Raises:
        InputError: There is no such file, it is a folder, or it may not be read.
    """
    if not is_object(path):
        return local.open_read(path)
    # A forked process cannot stream, but it can read what another one fetched.
    return local.open_read(str(copies.local_copy(path))) if was_forked() else objects.open_read(path)


def read_bytes(path: str) -> bytes:
    """Return all stored bytes; for small files such as manifests.

    Raises:
        InputError: There is no such file, or it may not be read.
    """
    return objects.read_bytes(path) if is_object(path) else local.read_bytes(path)


def list_folder(path: str) -> list[str]:
    """Return the sorted names of the files directly in a folder; empty if there is no such folder."""
    return objects.list_folder(path) if is_object(path) else local.list_folder(path)


def remove(path: str) -> None:
    """Remove a file; one that is not there is no error."""
    if is_object(path):
        objects.remove(path)
    else:
        local.remove(path)


def write_whole(path: str) -> AbstractContextManager[BinaryIO]:
    """Write a file whole or not at all; an exception leaves nothing, and an earlier file as it was.

    A local file is written beside its final name, flushed to disk and renamed; an object is one upload.

    Raises:
        StoreError: The disk is full, the store refuses or cannot be reached.
    """
    return objects.write_whole(path) if is_object(path) else local.write_whole(path)


@contextmanager
def scratch_folder(root: str) -> Iterator[Path]:
    """Make a local folder for what is needed only while the block runs.

    Below ``root`` if that is a local folder, since the system's own may be small; what a killed process
    leaves there goes with ``remove_partial_files``.
    """
    parent = None
    if not is_object(root):
        parent = local.local_path(root) / local.SCRATCH_NAME
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        yield Path(folder)


def remove_partial_files(root: str) -> int:
    """Remove what killed writers left below ``root`` and return how many files that were.

    Only for the holder of the root's lease: a partial file of a live writer would go too. In an object store
    nothing is left that could be seen.
    """
    return 0 if is_object(root) else local.remove_partial_files(root)
