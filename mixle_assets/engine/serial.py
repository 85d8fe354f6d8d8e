"""One item after the other, in this process: for small work, and for looking inside with a debugger."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from mixle_assets.engine.protocol import Outcome, run_one, without_collector

Item = TypeVar("Item")
Result = TypeVar("Result")


class SerialEngine:
    """Runs the items in their order."""

    def __enter__(self) -> SerialEngine:
        return self

    def __exit__(self, *error: object) -> None:
        return

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Outcome[Result], None, None]:
        """See ``Engine.run``; outcomes come in the order of the items."""
        for index, item in enumerate(items):
            with without_collector():
                outcome = run_one(function, index, item)
            yield outcome
