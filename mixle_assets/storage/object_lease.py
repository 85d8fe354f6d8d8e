"""The lease on a folder in an object store: an object that is made only if it is not there.

``<folder>/.lease`` names its holder, who renews it every 20 seconds by a write that holds only if nobody
wrote in between. A lease that was not renewed for two minutes is taken over by the same kind of write; one of
a process of this machine that ended is taken over at once. Clocks of machines may differ by a minute.
"""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any, NamedTuple

import msgspec
import orjson

from mixle_assets.errors import LeaseError, MixleError, StoreError
from mixle_assets.storage.holder import describe_holder, describe_process, is_dead
from mixle_assets.storage.locations import join
from mixle_assets.storage.object_stores import open_store, translated

LEASE_NAME = ".lease"
RENEWED_EVERY_IN_SECONDS = 20.0
ENDS_AFTER_IN_SECONDS = 120.0
_CLOCKS_DIFFER_IN_SECONDS = 60.0


class _Version(NamedTuple):
    """One version of the lease object, for writes that hold only while it is the last."""

    e_tag: str | None
    version: str | None


class ObjectLease:
    """A held lease, renewed by a thread until it is released."""

    def __init__(self, url: str, holder: dict[str, Any], version: _Version) -> None:
        self._url = url
        self._holder = holder
        self._version = version
        self._renewed = time.monotonic()
        self._lost: str | None = None
        self._trouble = ""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_released, name="lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise a ``LeaseError`` if the lease was lost."""
        late = time.monotonic() - self._renewed
        if self._lost is None and late > ENDS_AFTER_IN_SECONDS:
            self._lost = f"it could not be renewed for {late:.0f} seconds {self._trouble}".rstrip()
        if self._lost is not None:
            raise LeaseError(f"this build lost the lease on its folder: {self._lost}", path=self._url)

    def release(self) -> None:
        """Give the lease back: remove the object if it still is ours."""
        import obstore

        self._end.set()
        self._thread.join()
        current = _read(self._url)
        if current is not None and current[0].get("token") == self._holder["token"]:
            store, name = open_store(self._url)
            with translated(self._url, "written"):
                obstore.delete(store, name.key)

    def _renew_until_released(self) -> None:
        while not self._end.wait(RENEWED_EVERY_IN_SECONDS):
            started = time.monotonic()
            try:
                version = _put(self._url, self._holder, self._version)
            except MixleError as error:
                self._trouble = f"({error})"  # tried again; ``check`` says when it is too late
                continue
            if version is None:
                self._lost = "another build took it over"
                return
            self._version, self._renewed = version, started


def acquire(folder: str, *, give_up: bool) -> ObjectLease | None:
    """Take the lease on ``folder``; return None if another process holds it and ``give_up`` is not set.

    Raises:
        LeaseError: Another process holds it, and ``give_up`` is set.
        StoreError: The store knows no writes with conditions, or refuses.
    """
    url = join(folder, LEASE_NAME)
    mine = {**describe_holder(), "token": uuid.uuid4().hex, "of": describe_process()}
    version = _put(url, mine, None)
    if version is not None:
        return ObjectLease(url, mine, version)
    current = _read(url)
    if current is None:
        return None if not give_up else acquire(folder, give_up=give_up)  # given back in this moment
    holder, seen = current
    if _has_ended(holder):
        version = _put(url, mine, seen)
        if version is not None:
            return ObjectLease(url, mine, version)
    if not give_up:
        return None
    known = {key: holder[key] for key in ("host", "pid", "command", "since") if key in holder}
    left = max(0.0, holder.get("ends", 0.0) - time.time()) + _CLOCKS_DIFFER_IN_SECONDS
    raise LeaseError(
        f"another build holds this folder: {orjson.dumps(known).decode()} (if it is gone, its lease ends "
        f"within {left:.0f} seconds)",
        path=folder,
    )


def _has_ended(holder: dict[str, Any]) -> bool:
    ended = time.time() - holder.get("ends", 0.0)
    return ended > _CLOCKS_DIFFER_IN_SECONDS or is_dead(holder.get("of", {}))


def _read(url: str) -> tuple[dict[str, Any], _Version] | None:
    store, name = open_store(url)
    import obstore

    with translated(url, "read"):
        try:
            found = obstore.get(store, name.key)
            content = found.bytes().to_bytes()
        except FileNotFoundError:
            return None
    try:
        holder = msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise StoreError(f"is no lease; remove it if no build runs: {error}", path=url) from error
    return holder, _Version(found.meta["e_tag"], found.meta["version"])


def _put(url: str, holder: dict[str, Any], last: _Version | None) -> _Version | None:
    """Write the lease, good for two more minutes; return its version, or None if another one was there.

    It is written if ``last`` is the version in the store; None writes it if there is none.
    """
    store, name = open_store(url)
    import obstore
    from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

    content = orjson.dumps({**holder, "ends": time.time() + ENDS_AFTER_IN_SECONDS})
    mode: Any = "create" if last is None else {k: v for k, v in last._asdict().items() if v is not None}
    with translated(url, "written"):
        try:
            done = obstore.put(store, name.key, content, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            # Our own write may have come through, and its answer been lost.
            there = _read(url)
            if there is not None and there[0].get("token") == holder["token"]:
                return there[1]
            return None
        except NotSupportedError as error:
            raise StoreError(
                f"the store knows no writes with conditions, which the lease needs: {error}", path=url
            ) from error
    return _Version(done["e_tag"], done["version"])
