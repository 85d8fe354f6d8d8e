"""The UI in a real browser, over everything that runs when a user calls ``mixle-assets ui``."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api as playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    # On a developer's machine the browser may be missing; CI installs it, and there its absence is a failure.
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="there is no chromium (Debian: apt-get install chromium)",
    ),
]

RECIPE = """\
name: tiny
streams:
  - name: prose
    source: {python_stdlib: prose, only: [bisect, heapq]}
    taggers: {quality: [char_length_v1]}
    filter: {exclude: ["$.attributes[?(@.quality__char_length_v1__length[0][2] < 60)]"]}
    output: {max_size_in_bytes: 1}
tokenizer: {bytes: true}
packing: {block: 64, epochs: 2, world_size: 2}
execution: {engine: serial}
"""
SLOW = """\
name: slow
streams:
  - name: prose
    source: {python_stdlib: prose, only: [bisect]}
    taggers: {quality: [{tagger: sleepy.sleep, marks: MARKS}]}
execution: {workers: 2}
"""
SLEEPY = """\
import os, time
from pathlib import Path
from typing import Any

def sleep(document: Any, *, marks: str) -> dict[str, Any]:
    Path(marks).write_text(str(os.getpid()))
    time.sleep(600)
    return {}
"""


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


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """The UI on a recipe that the command line built, and on one whose tagger never ends."""
    folder = tmp_path_factory.mktemp("ui")
    (folder / "tiny.yaml").write_text(RECIPE)
    (folder / "slow.yaml").write_text(SLOW.replace("MARKS", str(folder / "marks")))
    (folder / "sleepy.py").write_text(SLEEPY)
    environment = {key: value for key, value in os.environ.items() if key != "DAGSTER_HOME"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [environment.get("PYTHONPATH")])])
    mixle_assets = [sys.executable, "-m", "mixle_assets"]
    root = ["--root", str(folder / "corpora")]
    subprocess.run(
        [*mixle_assets, "build", str(folder / "tiny.yaml"), *root],
        env=environment,
        check=True,
        capture_output=True,
    )
    port = free_port()
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*mixle_assets, "ui", str(folder), *root, "--port", str(port), "--plan"],
            env=environment,
            stdout=log,
            stderr=log,
        )
        ui = Ui(f"http://127.0.0.1:{port}", folder)
        try:
            wait_for(lambda: server.poll() is None and ui.is_loaded())
            yield ui
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
            assert not is_listening(port)
        finally:
            server.kill()
            server.wait()


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def page(ui: Ui) -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.set_default_timeout(90_000)
        yield page
        browser.close()


def test_what_the_command_line_built_is_green_in_the_browser(ui: Ui, page: Any):
    page.goto(f"{ui.url}/assets/tiny/mixed_shards?view=partitions")

    page.get_by_text("Materialized (1)").wait_for()
    page.get_by_text("Missing (0)").wait_for()
    page.goto(f"{ui.url}/assets/tiny/mixed_shards?view=checks")
    page.get_by_text("provenance_resolves").first.wait_for()


def test_an_epoch_is_materialized_by_clicks_and_its_checks_pass(ui: Ui, page: Any):
    before = ui.run_statuses()
    page.goto(f"{ui.url}/assets/tiny/packed_epoch?view=partitions&partition=1")
    page.get_by_role("button", name="Materialize").first.click()
    page.get_by_role("button", name="Launch 1 run").click()

    wait_for(lambda: ui.run_statuses() == ["SUCCESS", *before])
    executions = ui.ask(
        """{assetCheckExecutions(
            assetKey: {path: ["tiny", "packed_epoch"]}, checkName: "ranks_share_the_pool", limit: 1
        ) {status}}"""
    )
    assert executions == {"assetCheckExecutions": [{"status": "SUCCEEDED"}]}
    page.goto(f"{ui.url}/assets/tiny/packed_epoch?view=checks")
    page.get_by_text("ranks_share_the_pool").first.wait_for()
    page.screenshot(path=str(ui.folder / "checks.png"))


def test_terminate_ends_the_run_and_its_workers(ui: Ui):
    marks = ui.folder / "marks"
    launched = ui.ask(
        """mutation($selector: JobOrPipelineSelector!, $tags: [ExecutionTag!]) {
            launchPipelineExecution(executionParams: {
                selector: $selector, mode: "default", runConfigData: {}, executionMetadata: {tags: $tags}
            }) {__typename ... on LaunchRunSuccess {run {id}} ... on PythonError {message}}
        }""",
        selector={
            "repositoryLocationName": "mixle_assets.definitions",
            "repositoryName": "__repository__",
            "pipelineName": "__ASSET_JOB",
            "assetSelection": [{"path": ["slow", "attributes"]}],
        },
        tags=[{"key": "dagster/partition", "value": "prose/0000"}],
    )["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    wait_for(marks.exists)
    worker = int(marks.read_text())

    ui.ask(
        """mutation($id: String!) {terminateRun(runId: $id) {__typename}}""",
        id=launched["run"]["id"],
    )

    wait_for(lambda: ui.run_statuses()[0] == "CANCELED", within_seconds=90)
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), within_seconds=10)
