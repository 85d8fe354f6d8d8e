"""Who holds a lease: facts for the message, and whether that process is still there."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def describe_holder() -> dict[str, Any]:
    """Return what a second build is told of this process."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "command": " ".join(sys.argv),
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


def describe_process() -> dict[str, Any]:
    """Return what tells this process from all others, restarts included; empty if unknown."""
    try:
        return {**_machine(), "process": os.getpid(), "started": _start_of(os.getpid())}
    except OSError:
        return {}


def is_dead(process: Mapping[str, Any]) -> bool:
    """Return whether a process that ``describe_process`` described is known to have ended.

    Known is that only on the same machine and in the same container; anywhere else the answer is False.
    """
    try:
        machine = _machine()
    except OSError:
        return False
    if not process or any(process.get(key) != value for key, value in machine.items()):
        return False
    try:
        return _start_of(process["process"]) != str(process["started"])
    except (FileNotFoundError, ProcessLookupError):
        return True


def _machine() -> dict[str, str]:
    # Process numbers mean something only within one namespace of one start of the system.
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return {"boot": boot, "namespace": str(Path("/proc/self/ns/pid").readlink())}


def _start_of(pid: int) -> str:
    # Field 22 of /proc/<pid>/stat: a number is given again, but not at the same tick.
    return (
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    )
