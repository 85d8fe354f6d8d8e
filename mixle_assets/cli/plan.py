"""``mixle-assets plan``: make the documents that are made here, and freeze the shard plan."""

from __future__ import annotations

import click

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option, workers_option
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.errors import ShardError
from mixle_assets.pipeline.build import engine_of, make_documents
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import load


@click.command()
@recipe_argument
@root_option
@click.option(
    "--extend", "mode", flag_value="extend", default=True, help="Add new files at the end (default)."
)
@click.option(
    "--replan", "mode", flag_value="replan", help="Plan anew; shards whose files change are rebuilt."
)
@workers_option
@json_option
def command(recipe: str, root: str | None, mode: str, workers: int | None, as_json: bool) -> None:
    """Freeze which document files make which shard of RECIPE.

    Shards that are planned keep their names and files; new files make new shards at the end. Sizes are those
    of the stored documents: mixed shards come out smaller, by what the rules drop.
    """
    loaded = load(recipe, root)
    with BuildProgress() as progress:
        outcome = make_documents(loaded, engine_of(loaded, workers), progress)
    if outcome is not None and outcome.failed:
        raise next(iter(outcome.failed.values()), ShardError("the documents were not made"))
    change = freeze_plan(loaded, replan=mode == "replan")
    if as_json:
        print_json(
            {
                "plan": loaded.layout.plan,
                "new": change.new_keys,
                "warnings": change.warnings,
                "shards": {
                    shard.key: {
                        "files": [file.name for file in shard.files],
                        "size_in_bytes": sum(file.size_in_bytes for file in shard.files),
                    }
                    for shard in change.plan.shards
                },
            }
        )
        return
    for warning in change.warnings:
        click.echo(f"warning: {warning}", err=True)
    for shard in change.plan.shards:
        size = sum(file.size_in_bytes for file in shard.files)
        mark = "new " if shard.key in change.new_keys else "    "
        click.echo(f"{mark}{shard.key}  {len(shard.files)} files, {size:,} bytes stored")
    click.echo(f"{len(change.plan.shards)} shards, {len(change.new_keys)} of them new: {loaded.layout.plan}")
