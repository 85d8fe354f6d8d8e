"""The other end of ``processes``: a process that takes items from a socket until it is closed.

Started as ``python -m mixle_assets.engine.worker SOCKET LIFELINE`` with two inherited descriptors, so that it
imports nothing of the program that started it. Protocol: first the parent's ``sys.path``, then pairs
``(function, index, item)`` in and outcomes out, pickled.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from multiprocessing.connection import Connection

from mixle_assets.engine.protocol import run_one, without_collector


def serve(connection: Connection) -> None:
    """Run items until the parent closes its end."""
    while True:
        try:
            function, index, item = connection.recv()
        except EOFError:
            return
        with without_collector():
            outcome = run_one(function, index, item)
        connection.send(outcome)


def _exit_with_parent(lifeline: int) -> None:
    # The parent never writes: the read returns when its end is closed, that is, when it is gone.
    os.read(lifeline, 1)
    os._exit(1)


def main() -> None:
    """Set the process up and serve."""
    socket_descriptor, lifeline = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is the parent's to handle
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()
    with Connection(socket_descriptor) as connection:
        sys.path[:] = connection.recv()
        serve(connection)


if __name__ == "__main__":
    main()
