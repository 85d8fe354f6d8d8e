"""``mixle-assets check``: every asset check on what is built, for people and for CI."""

from __future__ import annotations

from pathlib import Path

import click

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option, workers_option
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.cli.tree import print_checks
from mixle_assets.pipeline.asset_check import CheckOutcome
from mixle_assets.pipeline.build import engine_of
from mixle_assets.pipeline.check import run_checks
from mixle_assets.pipeline.load import load


@click.command()
@recipe_argument
@root_option
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), help="Also write a JUnit XML report."
)
@workers_option
@json_option
def command(recipe: str, root: str | None, workers: int | None, junit: Path | None, as_json: bool) -> int:
    """Run all asset checks of RECIPE on what is built; exit 1 if one fails."""
    loaded = load(recipe, root)
    with BuildProgress() as progress, engine_of(loaded, workers) as engine:
        checks = run_checks(loaded, engine=engine, on_progress=progress)
    if junit is not None:
        junit.write_bytes(_as_junit(loaded.recipe.name, checks))
    if as_json:
        print_json([check.as_json() for check in checks])
    else:
        print_checks(checks)
    return 1 if any(check.failed for check in checks) else 0


def _as_junit(name: str, checks: list[CheckOutcome]) -> bytes:
    """Return the outcomes as the XML that CI servers read: a test case for each check."""
    from xml.etree import ElementTree

    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(checks)),
        failures=str(sum(check.failed for check in checks)),
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"{name}.{check.stage}", name=check.name)
        if check.failed:
            failure = ElementTree.SubElement(case, "failure", message=f"{check.num_violations} violations")
            failure.text = "\n".join(
                f"{violation.where}: expected {violation.expected}, found {violation.found}"
                for violation in check.violations
            )
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
