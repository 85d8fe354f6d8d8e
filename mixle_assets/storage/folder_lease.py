"""The lease on a local folder: a lock of the operating system, which a killed process gives back at once."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from mixle_assets.errors import LeaseError
from mixle_assets.storage.holder import describe_holder

LEASE_NAME = ".lease"


class FolderLease:
    """A held lock; it ends with the process, whatever happens to it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def check(self) -> None:
        """A lock of the operating system is never lost."""

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)


def acquire(folder: str, *, give_up: bool) -> FolderLease | None:
    """Lock ``folder``; return None if another process holds it and ``give_up`` is not set.

    Raises:
        LeaseError: Another process holds it, and ``give_up`` is set.
    """
    path = Path(folder) / LEASE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
        os.close(descriptor)
        if not give_up:
            return None
        raise LeaseError(
            f"another build holds this folder: {holder or 'holder unknown'}", path=folder
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(describe_holder()).encode(), 0)
    return FolderLease(descriptor)
