"""A pool of worker processes in which a killed worker costs only the item it was at.

The standard library's pools break as a whole when one worker dies, and their spawned workers import the
program that started them (for a Dagster run that is all of Dagster). This one hands each worker one item at
a time over a socket, sees a death as the end of that socket, and starts a fresh worker.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

from mixle_assets.engine.protocol import Outcome
from mixle_assets.errors import ShardError

Item = TypeVar("Item")
Result = TypeVar("Result")

# A worker may be killed for somebody else's memory; twice on one item is the item's fault.
ATTEMPTS_PER_ITEM = 2

# The pool is the parallelism: libraries that start threads of their own would fight over the cores.
ONE_THREAD_EACH = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class ProcessEngine:
    """Runs items on worker processes, one item per worker at a time.

    As a context manager it keeps idle workers from one ``run`` to the next: starting one takes longer than
    many a shard. Outside a ``with`` block each ``run`` ends with no worker left.

    Args:
        workers: Number of processes; None means one per core this process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._keeps_workers = False
        self._idle: list[_Worker] = []

    def __enter__(self) -> ProcessEngine:
        self._keeps_workers = True
        return self

    def __exit__(self, *error: object) -> None:
        self._keeps_workers = False
        self._stop_idle()

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Outcome[Result], None, None]:
        """See ``Engine.run``; ``function`` and the items must pickle, so the function stands in a module."""
        pending = deque((index, 1) for index in range(len(items)))
        busy: dict[Connection, tuple[_Worker, int, int]] = {}
        try:
            while pending or busy:
                while pending and len(busy) < self.workers:
                    index, attempt = pending.popleft()
                    worker = self._idle.pop() if self._idle else _Worker()
                    busy[worker.connection] = (worker, index, attempt)
                    worker.send((function, index, items[index]))
                for ready in wait(list(busy)):
                    worker, index, attempt = busy.pop(cast(Connection, ready))
                    outcome = worker.receive()
                    if outcome is not None:
                        self._idle.append(worker)
                        yield outcome
                    elif attempt < ATTEMPTS_PER_ITEM:
                        worker.stop()
                        pending.appendleft((index, attempt + 1))
                    else:
                        yield Outcome(index, error=worker.death_certificate(attempt))
        finally:
            # Reached on success, on an error and on an interrupt alike: nobody is left at work.
            for worker, _, _ in busy.values():
                worker.stop()
            if not self._keeps_workers:
                self._stop_idle()

    def _stop_idle(self) -> None:
        while self._idle:
            self._idle.pop().stop()


class _Worker:
    """One process and our ends of its socket and lifeline."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        lifeline_theirs, self._lifeline = os.pipe()
        self.connection = Connection(ours.detach())
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "mixle_assets.engine.worker",
                    str(theirs.fileno()),
                    str(lifeline_theirs),
                ],
                pass_fds=(theirs.fileno(), lifeline_theirs),
                env=os.environ | ONE_THREAD_EACH,
                stdin=subprocess.DEVNULL,
            )
        finally:
            theirs.close()
            os.close(lifeline_theirs)
        self.send(sys.path)

    def send(self, message: Any) -> None:
        """Send a message; a worker that is already dead shows at the next receive."""
        try:
            self.connection.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return

    def receive(self) -> Outcome[Any] | None:
        """Return the outcome that is waiting, or None if the worker died instead."""
        try:
            outcome: Outcome[Any] = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return None
        return outcome

    def stop(self) -> None:
        """End the process, now."""
        self.connection.close()
        self._process.kill()
        self._process.wait()
        os.close(self._lifeline)

    def death_certificate(self, attempts: int) -> ShardError:
        """Return how a worker that died ended, and clear it away."""
        code = self._process.wait()
        self.stop()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
        return ShardError(
            f"the worker process {how}, {attempts} times on this piece of work; "
            "killed by SIGKILL usually means out of memory: use fewer workers or smaller shards"
        )
