"""``mixle-assets recipe``: the recipe as it is understood."""

from __future__ import annotations

import click

from mixle_assets.cli.options import recipe_argument
from mixle_assets.pipeline.load import load
from mixle_assets.recipe import load_recipe, render_resolved


@click.command()
@recipe_argument
@click.option(
    "--resolved", "show_resolved", is_flag=True, help="Show every value, defaults too, with its origin."
)
def command(recipe: str, show_resolved: bool) -> None:
    """Check RECIPE as far as that needs no data; with --resolved show every value and where it comes from.

    Values taken from the environment are masked where their names look like secrets.
    """
    loaded = load(recipe)
    if show_resolved:
        click.echo(render_resolved(load_recipe(recipe)))
        return
    for warning in loaded.warnings:
        click.echo(f"warning: {warning}", err=True)
    streams = ", ".join(stream.name for stream in loaded.recipe.streams)
    click.echo(f"{recipe}: {loaded.recipe.name} is valid; streams: {streams}")
