"""What a location is: a path or a URL, taken apart and put together as text. Nothing is touched here."""

from __future__ import annotations

import os
import posixpath
from typing import NamedTuple

from mixle_assets.errors import StoreError

OBJECT_SCHEMES = ("s3", "gs", "az")


class FileStat(NamedTuple):
    """Size in bytes, and the modification time in nanoseconds or, of an object, its etag."""

    size_in_bytes: int
    modified: int | str


class ObjectName(NamedTuple):
    """An object's URL taken apart: ``s3://bucket/a/b`` is ``s3``, ``bucket``, ``a/b``; nothing is escaped."""

    scheme: str
    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"


def is_object(path: str) -> bool:
    """Return whether a location is in an object store; otherwise it is a local one.

    Raises:
        StoreError: It is a URL of another kind.
    """
    scheme, mark, _ = path.partition("://")
    if not mark or scheme == "file":
        return False
    if scheme not in OBJECT_SCHEMES:
        known = ", ".join(f"{name}://" for name in OBJECT_SCHEMES)
        raise StoreError(f"a URL of no store that is known here: {path!r}; known are {known}", path=path)
    return True


def take_apart(url: str) -> ObjectName:
    """Return the parts of an object's URL; the key of a bucket itself is empty.

    Raises:
        StoreError: There is no bucket, or the key has a part that stores and file systems read differently.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    key = key.strip("/")
    if not bucket:
        raise StoreError(f"names no bucket: {url!r}", path=url)
    if any(part in ("", ".", "..") for part in key.split("/") if key):
        raise StoreError(f"an object's name has no empty part, '.' or '..': {url!r}", path=url)
    return ObjectName(scheme, bucket, key)


def join(root: str, *parts: str) -> str:
    """Return ``root`` and ``parts`` joined by single slashes; the root may be a folder or a URL."""
    base = root.rstrip("/")
    return "/".join([base, *(part.strip("/") for part in parts if part)]) if base or parts else root


def absolute(path: str) -> str:
    """Return a location that means the same from every working directory."""
    return path.rstrip("/") if is_object(path) else os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100


def relative(path: str, folder: str) -> str:
    """Return ``path`` as seen from ``folder``, or as it is if the two are not in one place.

    ``s3://b/x/doc_arrays/a`` is ``../../doc_arrays/a`` from ``s3://b/x/packed_epoch/0000``.
    """
    place, mark, below = path.partition("://")
    folder_place, folder_mark, folder_below = folder.partition("://")
    if not mark and not folder_mark:
        return os.path.relpath(path, folder)
    if not mark or not folder_mark or place != folder_place:
        return path
    bucket, folder_bucket = below.partition("/")[0], folder_below.partition("/")[0]
    return posixpath.relpath("/" + below, "/" + folder_below) if bucket == folder_bucket else path


def resolve(path: str, folder: str) -> str:
    """Return where a path lies that ``relative`` made for ``folder``."""
    if "://" in path or path.startswith("/"):
        return path
    scheme, mark, below = folder.partition("://")
    if not mark:
        return os.path.normpath(join(folder, path))
    return f"{scheme}://{posixpath.normpath(join('/' + below, path)).lstrip('/')}"
