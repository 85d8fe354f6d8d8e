"""Everything that runs when a user calls ``mixle-assets ui``, asked through its GraphQL."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIXLE_ASSETS = (sys.executable, "-m", "mixle_assets")


@dataclass
class Ui:
    """A running UI.

    Attributes:
        url: Where it answers.
        folder: Where recipes, root and marks lie.
    """

    url: str
    folder: Path

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a GraphQL answer."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            data: dict[str, Any] = json.load(answer)["data"]
        return data

    def is_loaded(self) -> bool:
        try:
            data = self.ask("{workspaceOrError{... on Workspace{locationEntries{loadStatus}}}}")
        except OSError:
            return False
        entries = data["workspaceOrError"]["locationEntries"]
        return [entry["loadStatus"] for entry in entries] == ["LOADED"]

    def run_statuses(self) -> list[str]:
        runs = self.ask("{runsOrError{... on Runs{results{status}}}}")["runsOrError"]["results"]
        return [run["status"] for run in runs]


def wait_for(happens: Callable[[], bool], *, within_seconds: float = 180) -> None:
    deadline = time.monotonic() + within_seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def users_environment(folder: Path) -> dict[str, str]:
    """The environment of a user whose own modules lie in ``folder``."""
    environment = {key: value for key, value in os.environ.items() if key != "DAGSTER_HOME"}
    own = [str(folder), *filter(None, [environment.get("PYTHONPATH")])]
    return environment | {"PYTHONPATH": os.pathsep.join(own)}


@contextmanager
def run_ui(folder: Path, *recipes: Path) -> Iterator[Ui]:
    """Run the UI on recipes with the root ``folder/corpora``; it must end by a SIGTERM and leave nothing."""
    port = free_port()
    command = [*MIXLE_ASSETS, "ui", *map(str, recipes), "--root", str(folder / "corpora"), "--plan"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port)], env=users_environment(folder), stdout=log, stderr=log
        )
        ui = Ui(f"http://127.0.0.1:{port}", folder)
        try:
            wait_for(lambda: server.poll() is None and ui.is_loaded())
            yield ui
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
            assert not is_listening(port)
        finally:
            if server.poll() is None:  # after a failure: a kill would leave what the server started
                server.send_signal(signal.SIGTERM)
                server.wait(timeout=60)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
