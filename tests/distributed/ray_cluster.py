"""A Ray cluster of two nodes on loopback, each a group of processes of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from object_store import free_port
from sessions import members_of

# A dead node is noticed after two seconds instead of half a minute.
SETTINGS = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",
    "RAY_USAGE_STATS_ENABLED": "0",
}


class Node:
    """One node: the raylet, and on the head what leads the cluster."""

    def __init__(self, folder: Path, ip: str, *options: str) -> None:
        self.log = folder / f"{ip}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "ray.scripts.scripts", "start", "--block",
                    f"--node-ip-address={ip}", "--num-cpus=1", "--object-store-memory=80000000",
                    "--disable-usage-stats", *options,
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | SETTINGS,
                start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """Kill all processes of the node at once, as losing its machine does."""
        for pid in members_of(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


def wait_for(node: Node, address: tuple[str, int], num_nodes: int) -> None:
    """Wait until that many nodes have joined."""
    deadline = time.monotonic() + 200
    count = "import ray,sys; ray.init(address=sys.argv[1], log_to_driver=False, logging_level=40); "
    count += "print(int(ray.cluster_resources().get('CPU', 0)))"
    while True:
        assert node.process.poll() is None, node.log.read_text()
        assert time.monotonic() < deadline, node.log.read_text()
        try:
            socket.create_connection(address, timeout=5).close()
        except OSError:
            time.sleep(0.2)
            continue
        done = subprocess.run(
            [sys.executable, "-c", count, f"{address[0]}:{address[1]}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.stdout.strip() == str(num_nodes):
            return
        time.sleep(0.2)


@contextmanager
def run_cluster(folder: Path) -> Iterator[tuple[str, Node]]:
    """Start head and second node; yield the address, and the second one to be killed.

    The path of a socket has at most 107 characters, so ``folder`` must be short.
    """
    port = free_port()
    head = Node(
        folder,
        "127.0.0.2",
        "--head",
        f"--port={port}",
        "--include-dashboard=false",
        f"--temp-dir={folder}/ray",
    )
    nodes = [head]
    try:
        wait_for(head, ("127.0.0.2", port), 1)
        nodes.append(Node(folder, "127.0.0.3", f"--address=127.0.0.2:{port}"))
        wait_for(nodes[1], ("127.0.0.2", port), 2)
        yield f"127.0.0.2:{port}", nodes[1]
    finally:
        for node in reversed(nodes):
            node.kill()
