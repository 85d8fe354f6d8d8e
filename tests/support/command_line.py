"""The command line as a user calls it: a process of its own, what it says, and its exit code."""

import subprocess
import sys
from pathlib import Path


def run(
    *arguments: str, cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``mixle-assets`` to its end, whatever its exit code; ``environment`` None is this process's."""
    return subprocess.run(
        [sys.executable, "-m", "mixle_assets", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
