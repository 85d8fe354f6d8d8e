"""What every engine promises, and how one item ended."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from mixle_assets.errors import MixleError, ShardError

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """How the item at ``index`` ended: with a ``result``, or with an ``error``."""

    index: int
    result: Result | None = None
    error: MixleError | None = None


class Engine(Protocol):
    """Something that runs a function over items; as a context manager it may keep its workers in between."""

    def __enter__(self) -> Engine:
        """Keep what is costly to start until the block ends."""
        ...  # pragma: no cover

    def __exit__(self, *error: object) -> None:
        """Let it go."""
        ...  # pragma: no cover

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Outcome[Result], None, None]:
        """Run ``function`` on every item and yield the outcomes as they come, in any order.

        An item that fails ends as an outcome with its error; the others go on. Closing the iterator, or an
        exception in the consumer, stops what runs and starts nothing more.
        """
        ...  # pragma: no cover


@contextmanager
def without_collector() -> Iterator[None]:
    """Switch Python's garbage collector off while the block runs, and collect afterwards.

    Span lists are millions of tiny containers: with the collector on, parsing attributes is 11 times slower
    (measured, see docs/explanation/performance.md).
    """
    was_enabled = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        # While the rest is still frozen: collecting all of a process that holds Dagster takes 0.3 s an item.
        gc.collect()
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def run_one(function: Callable[[Item], Result], index: int, item: Item) -> Outcome[Result]:
    """Run one item and return how it ended; faults of ours become errors with their traceback."""
    try:
        return Outcome(index, result=function(item))
    except MixleError as error:
        return Outcome(index, error=error)
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        return Outcome(index, error=ShardError(f"unexpected {type(error).__name__}: {error}\n{trace}"))
