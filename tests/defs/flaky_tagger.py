"""A user's tagger that is killed twice, as a worker is on a machine that is short of memory for a moment."""

import os
import signal
from pathlib import Path
from typing import Any

from mixle_assets.records import Document


def killed_twice(document: Document, *, marks: str) -> dict[str, Any]:
    if "prose/0002" in document.text:
        path = Path(marks)
        before = path.read_text() if path.exists() else ""
        if len(before) < 2:
            path.write_text(before + "x")
            os.kill(os.getpid(), signal.SIGKILL)
    return {"length": [[0, len(document.text), 1.0]]}
