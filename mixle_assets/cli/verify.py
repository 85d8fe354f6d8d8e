"""``mixle-assets verify``: hash everything at rest again."""

from __future__ import annotations

import click
import msgspec

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option
from mixle_assets.pipeline.load import load
from mixle_assets.pipeline.verify import find_damaged_files


@click.command()
@recipe_argument
@root_option
@json_option
def command(recipe: str, root: str | None, as_json: bool) -> int:
    """Read every file that RECIPE has built and compare its hash with the manifest's; exit 1 if one differs.

    This finds damage on disk. Whether the content is right is what `check` looks at.
    """
    num_files = 0
    damaged = []
    for _, violation in find_damaged_files(load(recipe, root)):
        num_files += 1
        if violation is not None:
            damaged.append(violation)
    if as_json:
        print_json({"num_files": num_files, "damaged": [msgspec.to_builtins(one) for one in damaged]})
    else:
        for violation in damaged:
            click.echo(f"{violation.where}: expected {violation.expected}, found {violation.found}")
        click.echo(f"{num_files} files, {len(damaged)} damaged")
    return 1 if damaged else 0
