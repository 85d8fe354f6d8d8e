"""Progress of a build: bars with rate and remaining time on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SECONDS_BETWEEN_LINES = 5.0


class BuildProgress:
    """Shows how far each stage is; a context manager, called as ``run_stage``'s ``on_progress``.

    Everything goes to standard error: standard output is for results.
    """

    def __init__(self) -> None:
        self._bars: Progress | None = _bars() if sys.stderr.isatty() else None
        self._tasks: dict[str, TaskID] = {}
        self._started: dict[str, tuple[float, int]] = {}
        self._last_line = 0.0

    def __enter__(self) -> BuildProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` outputs of a stage are there."""
        now = time.monotonic()
        is_new = stage not in self._started
        started, at_start = self._started.setdefault(stage, (now, done))
        rate = (done - at_start) / (now - started) if now > started else 0.0
        if self._bars is not None:
            if is_new:
                self._tasks[stage] = self._bars.add_task(stage, total=total, rate="")
            self._bars.update(
                self._tasks[stage], completed=done, total=total, rate=f"{rate:.1f}/s" if rate else ""
            )
        elif is_new or done == total or now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            speed = f", {rate:.1f}/s, {(total - done) / rate:.0f} s to go" if rate and done < total else ""
            click.echo(f"{stage}: {done}/{total}{speed}", err=True)


def _bars() -> Progress:
    # Not above: nobody looks at bars in a batch job, and drawing them takes a while to import.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
