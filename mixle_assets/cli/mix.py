"""``mixle-assets mix``: a Dolma mixing config as it is."""

from __future__ import annotations

import click

from mixle_assets.cli.options import json_option, wait_option, workers_option
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.cli.results import show_report
from mixle_assets.pipeline.build import engine_of
from mixle_assets.pipeline.dolma import load_config, mix, parse_places
from mixle_assets.recipe import render_resolved


@click.command()
@click.argument("config", type=click.Path())
@click.option(
    "--map",
    "places",
    metavar="URL=DIR",
    multiple=True,
    help="Take DIR wherever the config says URL, such as s3://bucket/prefix=/local/copy; may be repeated.",
)
@click.option("--dryrun", is_flag=True, help="Check the config and show the plan; mix nothing.")
@workers_option
@wait_option
@json_option
def command(
    config: str,
    places: tuple[str, ...],
    dryrun: bool,
    workers: int | None,
    wait_in_seconds: float,
    as_json: bool,
) -> int:
    """Mix the streams of CONFIG, a Dolma mixing config, into the folders it names.

    Relative paths start at the working directory. Beside each output lies a manifest; a second run leaves
    what is current.
    """
    loaded = load_config(config, places=parse_places(places))
    if dryrun or loaded.recipe.dryrun:
        click.echo(render_resolved(loaded.recipe))
        for shard in loaded.plan.shards:
            click.echo(f"{shard.key}: {len(shard.files)} files")
        return 0
    with BuildProgress() as progress:
        report = mix(
            loaded, engine_of(loaded, workers), on_progress=progress, wait_in_seconds=wait_in_seconds
        )
    return show_report(loaded, report, as_json=as_json)
