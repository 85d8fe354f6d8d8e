"""Items made ahead by a thread, so that the next batch is ready when the training step is done."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()


def prefetched(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield the same items in the same order, up to ``depth`` of them made ahead.

    An exception in the making is raised where its item would have come. Leaving early ends the thread.
    Copying rows releases the interpreter's lock, so the thread works while the trainer does.

    Args:
        items: What to make; read by the thread alone.
        depth: How many finished items may wait.

    Raises:
        ValueError: ``depth`` is not positive.
    """
    if depth < 1:
        raise ValueError(f"depth must be positive, got {depth}")
    waiting: queue.Queue[Any] = queue.Queue(depth)
    left = threading.Event()

    def put(item: Any) -> bool:
        while not left.is_set():
            try:
                waiting.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def make() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
        except BaseException as error:
            put((None, error))
        else:
            put(_END)

    thread = threading.Thread(target=make, name="prefetch", daemon=True)
    thread.start()
    try:
        while (received := waiting.get()) is not _END:
            item, error = received
            if error is not None:
                raise error
            yield item
    finally:
        left.set()
        thread.join()
