"""Runs of whole programs, side by side: CPU time, wall time and peak memory of each, and ratios of pairs."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """What one run cost, its child processes included.

    Attributes:
        cpu: User and system time, in seconds.
        wall: Wall time, in seconds.
        peak: Largest resident memory of one process, in bytes.
    """

    cpu: float
    wall: float
    peak: int


@dataclass(frozen=True)
class Contender:
    """A program to run, and what must be done before, off the clock; ``environment`` goes over ours."""

    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def run(contender: Contender, log: Path) -> Usage:
    """Run a program to its end.

    Args:
        contender: What to run; its output is appended to ``log``.
        log: Where its output goes.

    Raises:
        RuntimeError: It failed; the end of its output is in the message.
    """
    contender.prepare()
    with log.open("ab") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(contender.command),
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=contender.folder,
            env=_environment() | dict(contender.environment),
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        end = log.read_bytes()[-2000:].decode("utf-8", "replace")
        raise RuntimeError(f"{' '.join(contender.command)} ended with {process.returncode}:\n{end}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024)


def _environment() -> dict[str, str]:
    """Return this environment, but with compiled modules kept: as any user has it from the second run on."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def interleave(contenders: Mapping[str, Contender], repetitions: int, log: Path) -> dict[str, list[Usage]]:
    """Run all contenders one after the other, again and again, so that a busy machine is busy for all."""
    usages: dict[str, list[Usage]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            usages[name].append(run(contender, log))
    return usages


def ratio(of: Sequence[Usage], to: Sequence[Usage]) -> str:
    """Return the ratio of CPU times, pair by pair: the median, and the range of all pairs."""
    ratios = [one.cpu / other.cpu for one, other in zip(of, to, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}, n={len(ratios)})"


def table(usages: Mapping[str, Sequence[Usage]]) -> str:
    """Return a Markdown table of medians."""
    rows = ["| run | CPU s | wall s | peak MB |", "|---|---|---|---|"]
    for name, of in usages.items():
        cpu, wall = statistics.median(u.cpu for u in of), statistics.median(u.wall for u in of)
        rows.append(f"| {name} | {cpu:.2f} | {wall:.2f} | {max(u.peak for u in of) / 1e6:.0f} |")
    return "\n".join(rows)
