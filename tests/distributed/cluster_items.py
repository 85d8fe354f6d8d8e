"""Functions that run on nodes of the cluster: they stand in a module, so that they pickle by name."""

import os
import signal
import sys
from pathlib import Path

from mixle_assets.errors import InputError


def square_on(number: int) -> tuple[int, str]:
    """Return the square, and the variable that keeps libraries to one thread."""
    if number == 3:
        raise InputError("bad row", path="a.jsonl", line=7)
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number, os.environ["RAYON_NUM_THREADS"]


def die_once(path: str) -> str:
    """Kill the worker at the first try."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def main() -> None:
    """Run them on the cluster at ``argv[1]`` and print how they ended."""
    from mixle_assets.engine import open_engine

    with open_engine("ray", ray_address=sys.argv[1]) as engine:
        for outcome in sorted(engine.run(square_on, range(6)), key=lambda each: each.index):
            print(outcome.index, outcome.result, type(outcome.error).__name__, str(outcome.error)[:60])
        (tried_again,) = engine.run(die_once, [sys.argv[2]])
        print(tried_again.result)


if __name__ == "__main__":
    main()
