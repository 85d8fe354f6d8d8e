"""The lease on a folder: one build at a time, and a second one learns who holds it.

A lock of the operating system, so that a killed process gives it back at once. The same process may hold
the lease several times: a build that runs inside another one's lease does not wait for itself.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixle_assets.errors import LeaseError
from mixle_assets.storage.local import local_path

LEASE_NAME = ".lease"
_POLL_IN_SECONDS = 0.2

_held: dict[Path, list[int]] = {}  # folder to [holders in this process, descriptor of the lock]
_guard = threading.Lock()


@contextmanager
def hold_lease(folder: str, *, wait_in_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lease on ``folder`` while the block runs.

    Args:
        folder: The folder to lease; it is made if need be.
        wait_in_seconds: How long to wait for another holder before giving up; 0 means not at all.

    Raises:
        LeaseError: Another process holds the lease; the message says which, and since when.
    """
    path = local_path(folder).resolve() / LEASE_NAME
    with _guard:
        if path not in _held:
            _held[path] = [0, _acquire(path, wait_in_seconds)]
        _held[path][0] += 1
    try:
        yield
    finally:
        with _guard:
            _held[path][0] -= 1
            if not _held[path][0]:
                os.close(_held.pop(path)[1])


def _acquire(path: Path, wait_in_seconds: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + wait_in_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
                os.close(descriptor)
                raise LeaseError(
                    f"another build holds this folder: {holder or 'holder unknown'}", path=str(path.parent)
                ) from None
            time.sleep(_POLL_IN_SECONDS)
    holder_facts = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "command": " ".join(sys.argv),
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder_facts).encode(), 0)
    return descriptor
