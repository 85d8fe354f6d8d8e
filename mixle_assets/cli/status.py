"""``mixle-assets status``: what is built, stale and missing, without building anything."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option
from mixle_assets.pipeline.load import load
from mixle_assets.pipeline.status import find_status


@click.command()
@recipe_argument
@root_option
@json_option
def command(recipe: str, root: str | None, as_json: bool) -> None:
    """Show what of RECIPE is current, stale (with the reason) and missing."""
    loaded = load(recipe, root)
    statuses = find_status(loaded)
    if as_json:
        print_json({status.stage: status.as_json() for status in statuses})
        return
    table = Table(box=None, pad_edge=False)
    for column in ("stage", "current", "stale", "missing", "reasons"):
        table.add_column(column, justify="left" if column in ("stage", "reasons") else "right")
    for status in statuses:
        table.add_row(
            status.stage,
            str(len(status.current)),
            str(len(status.stale)),
            str(len(status.missing)),
            "; ".join(f"{number}x {reason}" for reason, number in status.reasons.items()),
        )
    Console().print(table)
    if not loaded.is_planned:
        click.echo("no shard plan yet: `mixle-assets plan` or `mixle-assets build` makes one")
