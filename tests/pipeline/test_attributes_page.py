"""What the page on attribute files shows is so."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from mixle_assets.engine import SerialEngine
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.load import load

PAGE = (Path(__file__).parents[2] / "docs/reference/attributes.md").read_text(encoding="utf-8")


def fence(language: str) -> str:
    (body,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return body


def test_columns_are_read_as_shown(small: Path, edit: Callable[[str, str], None]) -> None:
    edit("packing:", f"{fence('yaml')}packing:")
    assert not build(load(small, str(small.parent / "corpora")), SerialEngine()).failed
    folder = small.parent / "corpora/small/attributes/quality/prose"

    done = subprocess.run(
        [sys.executable, "-c", fence("python")], cwd=folder, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == ["a 48.0", "b 5.0", "c 47.0"]
