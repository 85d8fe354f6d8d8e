"""Where bytes lie: whole writes, streaming reads, listing, and the lease on a root.

A location is a string. What the bytes mean is the business of ``formats``; who may write them when is
decided by the pipeline. Nothing half-written ever bears its final name.
"""

from mixle_assets.storage.globs import find_files
from mixle_assets.storage.lease import hold_lease
from mixle_assets.storage.local import (
    FileStat,
    exists,
    free_bytes,
    identity,
    join,
    list_folder,
    local_path,
    open_read,
    read_bytes,
    remove,
    remove_partial_files,
    stat,
    write_whole,
)

__all__ = [
    "FileStat",
    "exists",
    "find_files",
    "free_bytes",
    "hold_lease",
    "identity",
    "join",
    "list_folder",
    "local_path",
    "open_read",
    "read_bytes",
    "remove",
    "remove_partial_files",
    "stat",
    "write_whole",
]
