"""``python -m benchmarks STAGE ...``: the driver of all; each stage is a module with a ``main``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

NOT_STAGES = {"__init__", "__main__", "dolma_tokenizer", "measure", "pack_child", "peers", "recipes"}


def main(arguments: list[str]) -> None:
    """Hand the rest of the command line to the stage that is named first."""
    stages = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_STAGES)
    if not arguments or arguments[0] not in stages:
        raise SystemExit(f"usage: python -m benchmarks {{{','.join(stages)}}} ...")
    importlib.import_module(f"benchmarks.{arguments[0]}").main(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
