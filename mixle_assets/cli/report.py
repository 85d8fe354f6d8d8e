"""``mixle-assets report``: what is built, as one HTML page."""

from __future__ import annotations

import click

from mixle_assets.cli.options import recipe_argument, root_option
from mixle_assets.pipeline.load import load
from mixle_assets.pipeline.report import write_report
from mixle_assets.storage import absolute


@click.command()
@recipe_argument
@root_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where to write it; default: report.html beside the corpus.",
)
@click.option(
    "--no-times",
    is_flag=True,
    help="Leave out which documents took longest: equal corpora then have equal pages.",
)
def command(recipe: str, root: str | None, out: str | None, no_times: bool) -> None:
    """Write what is known of the corpus of RECIPE as one HTML page, from its manifests alone.

    The page needs no other file and no network. What is not built yet is not on it.
    """
    loaded = load(recipe, root)
    click.echo(write_report(loaded, absolute(out) if out else None, times=not no_times))
