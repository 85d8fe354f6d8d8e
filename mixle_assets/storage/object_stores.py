"""Object stores as connections: opened once per bucket, with retries, and what their errors mean.

What is read and written through them stands in ``objects``. Credentials come from the environment, and go
nowhere else: no message here shows more of a store's answer than its code and sentence.
"""

from __future__ import annotations

import functools
import os
import re
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from mixle_assets.errors import InputError, StoreError
from mixle_assets.storage.locations import ObjectName, take_apart

if TYPE_CHECKING:
    from obstore.store import ObjectStore

# A store that is overloaded answers 5xx for a while: ten tries, whose pauses are 55 seconds together. After
# 45 no try begins any more, so that one which cannot be reached at all is given up within a minute.
_RETRIES: dict[str, Any] = {
    "max_retries": 10,
    "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=15), "base": 2},
    "retry_timeout": timedelta(seconds=45),
}
_SECONDS_TO_CONNECT = 10
_CLIENT: dict[str, Any] = {
    "timeout": timedelta(minutes=2),
    "connect_timeout": timedelta(seconds=_SECONDS_TO_CONNECT),
}

_runtime_process: int | None = None  # the process whose threads do obstore's work


def was_forked() -> bool:
    """Return whether this process was forked from one that had a store open: a request would hang."""
    return _runtime_process not in (None, os.getpid())


def open_store(url: str) -> tuple[ObjectStore, ObjectName]:
    """Return the connection to the bucket of ``url``, and the URL taken apart.

    Raises:
        StoreError: ``obstore`` is not installed, or the environment does not say how to reach the store.
    """
    global _runtime_process
    name = take_apart(url)
    try:
        import obstore  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"{name.scheme}:// needs the package obstore: pip install 'mixle_assets[s3]'", path=url
        ) from error
    _runtime_process = _runtime_process or os.getpid()
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return _open(name.scheme, name.bucket, endpoint if name.scheme == "s3" else None), name


@functools.lru_cache(maxsize=64)
def _open(scheme: str, bucket: str, endpoint: str | None) -> ObjectStore:
    from obstore.exceptions import BaseError
    from obstore.store import AzureStore, GCSStore, S3Store

    options: dict[str, Any] = {"client_options": _CLIENT, "retry_config": _RETRIES}
    if endpoint is not None:
        _knock(endpoint, f"{scheme}://{bucket}")
    try:
        if scheme == "gs":
            return GCSStore(bucket, **options)
        if scheme == "az":
            return AzureStore(bucket, **options)
        if endpoint is not None:
            options["endpoint"] = endpoint
            options["client_options"] = {**_CLIENT, "allow_http": endpoint.startswith("http://")}
        # Deleting one by one needs no other permission and no checksum that some stores do not know.
        return S3Store(bucket, disable_bulk_delete=True, **options)
    except (BaseError, ValueError) as error:
        raise StoreError(f"cannot be opened: {say(error)}", path=f"{scheme}://{bucket}") from error


def _knock(endpoint: str, bucket_url: str) -> None:
    """Refuse at once an endpoint where nobody listens: tries and pauses would hide it for a minute.

    Raises:
        StoreError: Its name is unknown, or nobody answers there; names the endpoint without credentials.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        raise StoreError(f"$AWS_ENDPOINT_URL is no URL: {error}", path=bucket_url) from None
    if not host or urllib.request.getproxies().get(parts.scheme):
        return  # a proxy, and not this machine, has to reach it
    try:
        socket.create_connection((host, port), timeout=_SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise StoreError(
            f"no object store can be reached at {parts.scheme}://{host}:{port}: {error}", path=bucket_url
        ) from None


@contextmanager
def translated(url: str, doing: Literal["read", "written"]) -> Iterator[None]:
    """Turn the errors of ``obstore`` into ours; reading a missing object stays a ``FileNotFoundError``.

    Raises:
        InputError: The object may not be read.
        StoreError: The store refuses, or cannot be reached.
    """
    from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

    try:
        yield
    except (PermissionDeniedError, UnauthenticatedError) as error:
        kind = InputError if doing == "read" else StoreError
        raise kind(f"cannot be {doing}: {say(error)}", path=url) from None
    except FileNotFoundError:
        if doing == "read":
            raise
        bucket = take_apart(url).bucket
        raise StoreError(f"cannot be written: there is no bucket {bucket!r}", path=url) from None
    except (BaseError, ValueError, OSError) as error:
        raise StoreError(f"cannot be {doing}: {say(error)}", path=url) from None


def say(error: Exception) -> str:
    """Return what a store answered: status, code and sentence; no header, no query, no request."""
    text = str(error)
    status = re.search(r"status code: (\d{3}[^:\n]*)", text)
    facts = re.findall(r"<(?:Code|Message)>([^<]{1,300})</", text)
    if status or facts:
        return ": ".join([*([status.group(1).strip()] if status else []), *dict.fromkeys(facts)])
    first = text.split("\n", 1)[0]
    return re.sub(r"\?\S*", "", first)[:300]
