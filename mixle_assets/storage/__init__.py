"""Where bytes lie: whole writes, streaming reads, listing, and the lease on a root.

A location is a string: a path, or a URL of an object store (``s3://``, ``gs://``, ``az://``). What the bytes
mean is the business of ``formats``; who may write them when is decided by the pipeline. Nothing half-written
ever bears its final name.
"""

from mixle_assets.storage.dispatch import (
    exists,
    identity,
    list_folder,
    local_path,
    open_read,
    read_bytes,
    remove,
    remove_partial_files,
    scratch_folder,
    stat,
    write_whole,
)
from mixle_assets.storage.globs import find_files
from mixle_assets.storage.lease import hold_lease
from mixle_assets.storage.locations import FileStat, absolute, is_object, join, relative, resolve

__all__ = [
    "FileStat",
    "absolute",
    "exists",
    "find_files",
    "hold_lease",
    "identity",
    "is_object",
    "join",
    "list_folder",
    "local_path",
    "open_read",
    "read_bytes",
    "relative",
    "remove",
    "remove_partial_files",
    "resolve",
    "scratch_folder",
    "stat",
    "write_whole",
]
