"""The UI in a real browser, over everything that runs when a user calls ``mixle-assets ui``."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api as playwright
from running_ui import MIXLE_ASSETS, Ui, run_ui, users_environment, wait_for

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


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """The UI on a recipe that the command line built, and on one whose tagger never ends."""
    folder = tmp_path_factory.mktemp("ui")
    (folder / "tiny.yaml").write_text(RECIPE)
    (folder / "slow.yaml").write_text(SLOW.replace("MARKS", str(folder / "marks")))
    (folder / "sleepy.py").write_text(SLEEPY)
    (folder / "broken.yaml").write_text(
        RECIPE.replace("name: tiny", "name: broken").replace("taggers", "tagers")
    )
    subprocess.run(
        [*MIXLE_ASSETS, "build", str(folder / "tiny.yaml"), "--root", str(folder / "corpora")],
        env=users_environment(folder),
        check=True,
        capture_output=True,
    )
    with run_ui(folder, folder) as ui:
        yield ui


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


def test_a_broken_recipe_says_in_the_browser_what_is_wrong_and_the_others_are_there(ui: Ui, page: Any):
    page.goto(f"{ui.url}/assets/broken/recipe")

    page.get_by_text("This recipe cannot be loaded").first.wait_for()
    page.get_by_text("broken.yaml:5").first.wait_for()
    nodes = ui.ask("{assetNodes {assetKey {path}}}")["assetNodes"]
    recipes = {node["assetKey"]["path"][0] for node in nodes}
    assert recipes == {"broken", "slow", "tiny"}
    assert "warning: " in (ui.folder / "log").read_text()  # said at the start, too


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
