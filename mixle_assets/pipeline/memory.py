"""Whether what every worker keeps in memory, such as models, fits into this machine: asked before any work.

Each worker process has a copy of its own, so with many workers a machine stops without any error that says
why. What one worker keeps is the taggers' to say; how the work is done is the engine's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mixle_assets.engine import Engine, ProcessEngine, SerialEngine
from mixle_assets.errors import RecipeError
from mixle_assets.pipeline.work import Work

_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def require_memory(pending: Iterable[Work], engine: Engine, *, available_in_bytes: int | None = None) -> None:
    """Refuse work whose taggers do not fit into the free memory, once for each worker.

    Args:
        pending: The work that is to be done.
        engine: Where it is to be done; one on other machines is not looked into.
        available_in_bytes: Free memory; None asks this machine. A machine that does not say is not refused.

    Raises:
        RecipeError: It does not fit; says how many workers would.
    """
    kept: dict[str, int] = {}
    num_items = 0
    for work in pending:
        kept.update(work.kept_in_bytes)
        num_items += 1
    if isinstance(engine, ProcessEngine):
        num_workers = min(engine.workers, num_items)
    elif isinstance(engine, SerialEngine):
        num_workers = 1
    else:
        return
    in_each = sum(kept.values())
    if not in_each:
        return
    available = available_memory() if available_in_bytes is None else available_in_bytes
    if available is None or in_each * num_workers <= available:
        return
    largest = max(kept, key=lambda name: kept[name])
    fitting = available // in_each
    advice = (
        f"take {fitting} workers or fewer" if fitting else "not even one worker fits: take a smaller model"
    )
    raise RecipeError(
        f"the taggers keep {_shown(in_each)} in each of {num_workers} workers (most of it {largest}), "
        f"{_shown(in_each * num_workers)} together, and {_shown(available)} of memory are free; {advice}",
        key="execution.workers",
    )


def available_memory() -> int | None:
    """Return the bytes this process may still take: of the machine or, if that is less, of its control group.

    Memory that only holds cached files counts as free. None where the system does not say.
    """
    found = [one for one in (_free_in_machine(_MEMORY), _free_in_group(_GROUP)) if one is not None]
    return min(found, default=None)


def _free_in_machine(path: Path) -> int | None:
    if not path.exists():
        return None
    fields = _fields(path.read_text("ascii"))
    return fields["MemAvailable:"] * 1024 if "MemAvailable:" in fields else None


def _free_in_group(folder: Path) -> int | None:
    """Return what is left below the limit of a control group, version 2 or 1."""
    for limit_file, used_file, stat_file, cached in (
        ("memory.max", "memory.current", "memory.stat", ("active_file", "inactive_file")),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
            ("total_active_file", "total_inactive_file"),
        ),
    ):
        if not all((folder / name).exists() for name in (limit_file, used_file, stat_file)):
            continue
        limit = (folder / limit_file).read_text("ascii").strip()
        if limit == "max":
            return None
        fields = _fields((folder / stat_file).read_text("ascii"))
        used = int((folder / used_file).read_text("ascii")) - sum(fields.get(name, 0) for name in cached)
        return max(int(limit) - used, 0)
    return None


def _fields(text: str) -> dict[str, int]:
    """Return name to number of lines such as ``MemAvailable:  123 kB``."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}


def _shown(size_in_bytes: int) -> str:
    if size_in_bytes < 1e9:
        return f"{size_in_bytes / 1e6:,.1f} MB"
    return f"{size_in_bytes / 1e9:,.1f} GB"
