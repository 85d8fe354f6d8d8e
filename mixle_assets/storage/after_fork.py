"""Requests to an object store from a forked process, where the threads that would make them do not exist.

Data loaders fork their workers, and a worker may open a file that its parent had not. So the request is made
by a fresh interpreter, which hands back the result.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from mixle_assets.errors import StoreError


def call(module: str, function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return what a function of this package returns when it is called in a fresh process.

    Raises:
        MixleError: As the function raises it.
        StoreError: The process did not get that far.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import main; main()"],
        input=pickle.dumps((sys.path, module, function, arguments, keywords)),
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        raise StoreError(f"the process that asks the object store ended with code {done.returncode}")
    result, error = pickle.loads(done.stdout)  # noqa: S301 - from our own process, through a pipe
    if error is not None:
        raise error
    return result


def main() -> None:
    """Answer one call."""
    sys.path[:], module, function, arguments, keywords = pickle.load(sys.stdin.buffer)  # noqa: S301 - as above
    result = error = None
    try:
        result = getattr(import_module(module), function)(*arguments, **keywords)
    except Exception as raised:
        error = raised
    sys.stdout.buffer.write(pickle.dumps((result, error)))
