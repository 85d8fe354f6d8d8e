"""Files in local folders: read as a stream, written whole or not at all. Objects are in ``objects``."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mixle_assets.errors import InputError, StoreError
from mixle_assets.storage.locations import FileStat

PARTIAL_SUFFIX = ".partial"
SCRATCH_NAME = ".scratch"
"""Folder below a recipe's own for what is needed only while it is built."""

_partial_numbers = itertools.count()


def local_path(path: str) -> Path:
    """Return the file that a path or a ``file://`` URL names."""
    return Path(path.removeprefix("file://"))


def exists(path: str) -> bool:
    """Return whether a file is there."""
    return local_path(path).is_file()


def stat(path: str) -> FileStat | None:
    """Return size and modification time, or None if there is no such file."""
    try:
        status = local_path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileStat(status.st_size, status.st_mtime_ns)


def identity(path: str) -> str:
    """Return a name that two ways of writing one file share: absolute, links resolved."""
    return str(local_path(path).resolve())


def free_bytes(path: str) -> int:
    """Return the bytes free where ``path`` would be written."""
    folder = local_path(path)
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def open_read(path: str) -> BinaryIO:
    """Open the stored bytes for reading.

    Raises:
        InputError: There is no such file, it is a folder, or it may not be read.
    """
    try:
        return local_path(path).open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def read_bytes(path: str) -> bytes:
    """Return all stored bytes; for small files such as manifests.

    Raises:
        InputError: There is no such file, or it may not be read.
    """
    with open_read(path) as file:
        return file.read()


def list_folder(path: str) -> list[str]:
    """Return the sorted names of the files directly in a folder; empty if there is no such folder."""
    folder = local_path(path)
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())


def remove(path: str) -> None:
    """Remove a file; one that is not there is no error."""
    with suppress(FileNotFoundError):
        local_path(path).unlink()


@contextmanager
def write_whole(path: str) -> Iterator[BinaryIO]:
    """Write a file beside its final name, flush it to disk and rename it: whole or not at all.

    Folders are made. On any exception the partial file is removed and an earlier file stays as it was.

    Raises:
        StoreError: The disk is full or refuses; the message says how much was written and is free.
    """
    target = local_path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}-{next(_partial_numbers)}{PARTIAL_SUFFIX}")
    written = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("xb") as file:
            yield file
            file.flush()
            written = file.tell()
            os.fsync(file.fileno())
        partial.rename(target)
        _sync_folder(target.parent)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            written = max(written, _size_of(partial))
            partial.unlink(missing_ok=True)
            raise StoreError(
                f"the disk is full: {written:,} bytes of this file were written and more were needed, "
                f"{free_bytes(path):,} bytes are free without it",
                path=path,
            ) from error
        partial.unlink(missing_ok=True)
        if isinstance(error, PermissionError | IsADirectoryError | NotADirectoryError):
            raise StoreError(f"cannot be written: {error.strerror}", path=path) from error
        raise


def remove_partial_files(root: str) -> int:
    """Remove what killed writers left below ``root``, scratch too; return how many half-written files it was.

    Only for the holder of the root's lease: a partial file of a live writer would go too.
    """
    partial_files = [
        Path(folder) / name
        for folder, _, names in os.walk(local_path(root))
        for name in names
        if name.startswith(".") and name.endswith(PARTIAL_SUFFIX)
    ]
    for path in partial_files:
        path.unlink(missing_ok=True)
    shutil.rmtree(local_path(root) / SCRATCH_NAME, ignore_errors=True)
    return len(partial_files)


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sync_folder(folder: Path) -> None:
    # A rename is durable only when the folder that holds the name is on disk too.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
