"""``mixle-assets build``: the whole chain, resumable, with its checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from mixle_assets.cli.options import (
    json_option,
    recipe_argument,
    root_option,
    wait_option,
    workers_option,
)
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.cli.results import show_report
from mixle_assets.defs.home import prepare_home
from mixle_assets.manifest import hash_bytes
from mixle_assets.pipeline.build import build, engine_of
from mixle_assets.pipeline.check import run_checks
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.report import write_report
from mixle_assets.pipeline.status import find_state


@click.command()
@recipe_argument
@root_option
@workers_option
@click.option("--only", metavar="STAGE", help="Run this stage alone.")
@click.option("--shard", "shards", metavar="KEY", multiple=True, help="Only these shards; may be repeated.")
@click.option("--plain", is_flag=True, help="Do not record in Dagster; the same files are written.")
@wait_option
@json_option
def command(
    recipe: str,
    root: str | None,
    workers: int | None,
    only: str | None,
    shards: tuple[str, ...],
    plain: bool,
    wait_in_seconds: float,
    as_json: bool,
) -> int:
    """Build the corpus of RECIPE: what is current is left, the rest is built, then everything is checked.

    A page with all numbers is written beside the corpus, as `mixle-assets report` does.

    Runs are recorded in the Dagster instance of $DAGSTER_HOME (default: ROOT/.dagster), so what is built here
    is green in the UI.
    """
    loaded = load(recipe, root)
    with BuildProgress() as progress:
        # A part of a corpus is not recorded: the UI does that better. Nor is what the UI knows already: a
        # build with nothing to do takes a second, not the seconds of empty runs.
        if plain or only or shards or is_recorded(loaded):
            with engine_of(loaded, workers) as engine:
                report = build(
                    loaded,
                    engine,
                    only=only,
                    shards=shards,
                    on_progress=progress,
                    wait_in_seconds=wait_in_seconds,
                )
                if not report.failed:
                    report.checks = run_checks(
                        loaded, engine=engine, skip_verified=True, on_progress=progress
                    )
        else:
            from mixle_assets.defs.launch import build_with_dagster

            report = build_with_dagster(
                loaded, workers=workers, on_progress=progress, wait_in_seconds=wait_in_seconds
            )
            if not report.failed and not any(check.failed for check in report.checks):
                note_recorded(load(recipe, root))
    page = write_report(replace(loaded))  # a fresh one: the plan may be new
    return show_report(loaded, report, page=page, as_json=as_json)


def is_recorded(loaded: LoadedRecipe) -> bool:
    """Return whether all is built, and the Dagster instance has been told of just this."""
    note = _note_of(loaded)
    return note.exists() and note.read_text(encoding="ascii") == find_state(loaded)


def note_recorded(loaded: LoadedRecipe) -> None:
    """Note beside the Dagster instance what it has been told of."""
    state = find_state(loaded)
    if state is not None:
        note = _note_of(loaded)
        note.parent.mkdir(exist_ok=True)
        note.write_text(state, encoding="ascii")


def _note_of(loaded: LoadedRecipe) -> Path:
    folder = hash_bytes(loaded.layout.folder.encode())
    return prepare_home(loaded.layout.root) / "mixle_recorded" / f"{loaded.recipe.slug}-{folder}"
