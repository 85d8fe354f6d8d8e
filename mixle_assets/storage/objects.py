"""Objects in S3, Google Cloud Storage and Azure: the same verbs as ``local``, by URL.

Objects have no folders and no renaming. What makes a write whole is the store itself: a PUT, or the end of a
multipart upload, shows the object at once or never. ``obstore`` is imported where a store was opened, which
says what to install if it is missing.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, ParamSpec, TypeVar, cast

from mixle_assets.errors import InputError, StoreError
from mixle_assets.storage import after_fork
from mixle_assets.storage.locations import FileStat
from mixle_assets.storage.object_files import PART_IN_BYTES, PARTS_AT_ONCE, ObjectReader, ObjectWriter
from mixle_assets.storage.object_stores import open_store, translated, was_forked

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_BUFFER_IN_BYTES = 256 * 1024


def survives_fork(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function of this package work in a forked process too: there it runs in a fresh interpreter."""

    @functools.wraps(function)
    def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        if was_forked():
            result: Result = after_fork.call(function.__module__, function.__name__, arguments, keywords)
            return result
        return function(*arguments, **keywords)

    return call


@survives_fork
def stat(url: str) -> FileStat | None:
    """Return size and etag, or None if there is no such object."""
    store, name = open_store(url)
    import obstore

    if not name.key:
        return None
    with translated(url, "read"):
        try:
            return stat_of(obstore.head(store, name.key))
        except FileNotFoundError:
            return None


def stat_of(found: Any) -> FileStat:
    """Return what a listing or a request says of an object."""
    # A store without etags still says when the object was written.
    return FileStat(found["size"], found["e_tag"] or found["last_modified"].isoformat())


def open_read(url: str) -> BinaryIO:
    """Open an object for reading; see ``ObjectReader``.

    Raises:
        InputError: There is no such object, or it may not be read.
    """
    found = stat(url)
    if found is None:
        raise InputError("cannot be read: there is no such object", path=url)
    store, name = open_store(url)
    reader = ObjectReader(store, name.key, url, found)
    return cast(BinaryIO, io.BufferedReader(reader, _BUFFER_IN_BYTES))


@survives_fork
def read_bytes(url: str) -> bytes:
    """Return all bytes of an object, by one request.

    Raises:
        InputError: There is no such object, or it may not be read.
    """
    store, name = open_store(url)
    import obstore

    with translated(url, "read"):
        try:
            return obstore.get(store, name.key).bytes().to_bytes()
        except FileNotFoundError:
            raise InputError("cannot be read: there is no such object", path=url) from None


@survives_fork
def list_folder(url: str) -> list[str]:
    """Return the sorted names of the objects directly below ``url``."""
    return sorted(name for name, is_folder in list_level(url) if not is_folder)


@survives_fork
def list_level(url: str) -> list[tuple[str, bool]]:
    """Return what is directly below ``url``: each name, and whether it is a folder."""
    store, name = open_store(url)
    import obstore

    with translated(url, "read"):
        try:
            found = obstore.list_with_delimiter(store, name.key or None)
        except FileNotFoundError:
            return []
    folders = {prefix.strip("/").rpartition("/")[2] for prefix in found["common_prefixes"]}
    # Some tools put an empty object where a folder begins; that is no file.
    markers = {one["path"] for one in found["objects"] if not one["size"]} & {
        name.key,
        *(f"{name.key}/{folder}" if name.key else folder for folder in folders),
    }
    files = {one["path"].rpartition("/")[2] for one in found["objects"] if one["path"] not in markers}
    return [(each, True) for each in sorted(folders)] + [(each, False) for each in sorted(files)]


@survives_fork
def list_below(url: str) -> list[str]:
    """Return the names of all objects below ``url`` at any depth, as seen from there, in no special order."""
    store, name = open_store(url)
    import obstore

    above = f"{name.key}/" if name.key else ""
    found: dict[str, int] = {}
    folders: set[str] = set()
    with translated(url, "read"):
        try:
            for some in obstore.list(store, name.key or None, chunk_size=1000):
                for one in some:
                    found[one["path"]] = one["size"]
                    folders.add(one["path"].rpartition("/")[0])
        except FileNotFoundError:
            return []
    return [
        path.removeprefix(above)
        for path, size in found.items()
        if path.startswith(above) and (size or path not in folders)
    ]


@survives_fork
def remove(url: str) -> None:
    """Remove an object; one that is not there is no error."""
    store, name = open_store(url)
    import obstore

    with translated(url, "written"):
        try:
            obstore.delete(store, name.key)
        except FileNotFoundError:
            return


@contextmanager
def write_whole(url: str) -> Iterator[BinaryIO]:
    """Write an object, whole or not at all: one PUT, or a multipart upload where it is large.

    On any exception the upload is given up and an earlier object stays as it was. A killed process leaves at
    most parts that no reader sees; a lifecycle rule of the bucket clears them away.

    Raises:
        StoreError: The store refuses or cannot be reached.
    """
    if was_forked():
        raise StoreError("a forked process cannot write to an object store: start it by spawn", path=url)
    store, name = open_store(url)
    import obstore

    with translated(url, "written"):
        upload = obstore.open_writer(
            store, name.key, buffer_size=PART_IN_BYTES, max_concurrency=PARTS_AT_ONCE
        )
    try:
        yield cast(BinaryIO, ObjectWriter(upload, url))
    except BaseException as error:
        try:
            with translated(url, "written"):
                upload.__exit__(type(error), error, error.__traceback__)  # gives the upload up
        except StoreError as refused:
            error.add_note(f"and the upload could not be given up: {refused}")
        raise
    with translated(url, "written"):
        upload.close()
