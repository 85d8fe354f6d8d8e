"""Takes the pictures of the docs from a real build: ``python tests/e2e/take_pictures.py WORK IMAGES``.

Builds ``recipes/stdlib.yaml`` below ``WORK``, opens the UI on it in a headless chromium, and writes
``graph.png``, ``partitions.png`` and ``plot.png`` into ``IMAGES``. Not a test: it is run when the UI changes.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright import sync_api as playwright
from running_ui import MIXLE_ASSETS, Ui, run_ui, users_environment

RECIPE = Path(__file__).parents[2] / "recipes" / "stdlib.yaml"
PARTITION = "prose/0001"
SIZE: Any = {"width": 1200, "height": 760}
OBSERVATION = """{assetOrError(assetKey: {path: ["stdlib", "mixed_shards"]}) {
    ... on Asset {assetObservations(limit: 1) {timestamp}}
}}"""


def take_pictures(ui: Ui, page: Any, images: Path) -> None:
    """Open each page, wait until it shows what it is about, and take a picture of that part."""
    page.goto(f"{ui.url}/asset-groups/stdlib")
    page.get_by_text("Hide navigation").click()
    page.set_viewport_size({"width": 1500, "height": 600})
    page.get_by_text("packed_epoch").first.wait_for()
    page.wait_for_timeout(5000)  # the layout settles
    page.reload()
    page.get_by_text("packed_epoch").first.wait_for()
    page.wait_for_timeout(5000)
    page.screenshot(path=images / "graph.png")
    page.set_viewport_size(SIZE)

    page.goto(f"{ui.url}/assets/stdlib/mixed_shards?view=partitions&partition={PARTITION}")
    page.get_by_text("Materialized (8)").wait_for()
    page.get_by_text("records in").first.wait_for()
    page.wait_for_timeout(2000)
    page.screenshot(path=images / "partitions.png")

    (observation,) = ui.ask(OBSERVATION)["assetOrError"]["assetObservations"]
    page.goto(f"{ui.url}/assets/stdlib/mixed_shards?view=events&time={observation['timestamp']}")
    page.get_by_text("dropped by reason").first.wait_for()
    page.get_by_text("[Show Markdown]").first.click()
    page.wait_for_timeout(3000)
    page.screenshot(path=images / "plot.png")


def main(work: Path, images: Path) -> None:
    """Build, open, take."""
    work.mkdir(parents=True, exist_ok=True)
    recipe = shutil.copy(RECIPE, work)
    subprocess.run(
        [*MIXLE_ASSETS, "build", recipe, "--root", str(work / "corpora")],
        env=users_environment(work),
        check=True,
    )
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with run_ui(work, Path(recipe)) as ui, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        take_pictures(ui, page, images)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
