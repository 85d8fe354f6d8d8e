"""The lease on a folder: one build at a time, and a second one learns who holds it.

The same process may hold the lease several times: a build that runs inside another one's lease does not wait
for itself. How a lease is held is the business of ``folder_lease`` and ``object_lease``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from mixle_assets.storage import folder_lease, object_lease
from mixle_assets.storage.local import local_path
from mixle_assets.storage.locations import is_object

_POLL_IN_SECONDS = 0.2


class Lease(Protocol):
    """A lease that is held."""

    def check(self) -> None:
        """Raise a ``LeaseError`` if it was lost."""
        ...  # pragma: no cover

    def release(self) -> None:
        """Give it back."""
        ...  # pragma: no cover


@dataclass
class _Held:
    lease: Lease
    num_holders: int = 0


_held: dict[str, _Held] = {}
_guard = threading.Lock()


@contextmanager
def hold_lease(folder: str, *, wait_in_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lease on ``folder`` while the block runs.

    Args:
        folder: The folder to lease, local or a URL; a local one is made if need be.
        wait_in_seconds: How long to wait for another holder before giving up; 0 means not at all.

    Raises:
        LeaseError: Another process holds the lease; the message says which, and since when. Or the lease was
            lost in the meantime: this machine did not reach the store for too long.
    """
    place = folder.rstrip("/") if is_object(folder) else str(local_path(folder).resolve())
    with _guard:
        if place not in _held:
            _held[place] = _Held(_acquire(place, wait_in_seconds))
        held = _held[place]
        held.num_holders += 1
    try:
        held.lease.check()
        yield
        held.lease.check()
    finally:
        with _guard:
            held.num_holders -= 1
            if not held.num_holders:
                del _held[place]
                held.lease.release()


def _acquire(place: str, wait_in_seconds: float) -> Lease:
    acquire = object_lease.acquire if is_object(place) else folder_lease.acquire
    deadline = time.monotonic() + wait_in_seconds
    while True:
        lease = acquire(place, give_up=time.monotonic() >= deadline)
        if lease is not None:
            return lease
        time.sleep(_POLL_IN_SECONDS)
