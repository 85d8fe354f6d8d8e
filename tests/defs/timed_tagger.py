"""A user's tagger that says when it was at work."""

import time
from pathlib import Path
from typing import Any

from mixle_assets.records import Document


def work(document: Document, *, marks: str) -> dict[str, Any]:
    for what in ("begins", "ends"):
        with Path(marks).open("a") as file:
            file.write(f"{what} ")
        time.sleep(3 if what == "begins" else 0)
    return {"length": [[0, len(document.text), 1.0]]}
