"""``mixle-assets export``: the tokens in the format of another trainer's loader."""

from __future__ import annotations

import click
import msgspec

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option, workers_option
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.pipeline.build import engine_of
from mixle_assets.pipeline.export import export_corpus
from mixle_assets.pipeline.load import load


@click.command()
@recipe_argument
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--to", required=True, metavar="FORMAT", help="megatron, olmo, mds, datasets or litdata.")
@click.option("--no-boundary", is_flag=True, help="Leave out the boundary that follows each document.")
@root_option
@workers_option
@json_option
def command(
    recipe: str,
    folder: str,
    to: str,
    no_boundary: bool,
    root: str | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Write the documents of RECIPE as token ids into FOLDER, in a format that other trainers read.

    The corpus must be built. A manifest stands beside FOLDER; what is there already is not written again.
    """
    loaded = load(recipe, root)
    with BuildProgress() as progress, engine_of(loaded, workers) as engine:
        manifest = export_corpus(
            loaded,
            engine,
            to=to,
            folder=folder.rstrip("/"),
            append_boundary=not no_boundary,
            on_progress=progress,
        )
    if as_json:
        print_json(msgspec.to_builtins(manifest))
        return
    click.echo(
        f"{folder}: {manifest.counts.num_out:,} documents, {manifest.details['num_tokens']:,} tokens, "
        f"{manifest.size_in_bytes:,} bytes, digest {manifest.content_digest}"
    )
