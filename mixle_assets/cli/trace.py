"""``mixle-assets trace``: from a row to the documents in it, and from a document to its rows."""

from __future__ import annotations

import json
from typing import Any

import click

from mixle_assets.cli.options import json_option, print_json, recipe_argument, root_option
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.packing.corpus import Corpus, load_corpus
from mixle_assets.packing.trace import TracedSegment, trace_id, trace_row
from mixle_assets.pipeline.load import load


@click.command()
@recipe_argument
@root_option
@click.option("--epoch", type=click.IntRange(min=0), help="Which epoch; with --id: default all.")
@click.option("--rank", type=click.IntRange(min=0), default=0, show_default=True, help="Who reads the row.")
@click.option("--row", type=click.IntRange(min=0), help="Which row of that rank.")
@click.option(
    "--id", "document_id", help="A document's id or provenance; a number in JSON is an id of its own."
)
@json_option
def command(
    recipe: str,
    root: str | None,
    epoch: int | None,
    rank: int,
    row: int | None,
    document_id: str | None,
    as_json: bool,
) -> None:
    """Say where the tokens of a row of RECIPE came from, or in which rows a document stands."""
    if (row is None) == (document_id is None):
        raise RecipeError("say either --row (with --epoch and --rank) or --id")
    loaded = load(recipe, root)
    corpus = load_corpus(loaded.layout.folder)
    paths = {file.name: file.path for shard in loaded.plan.shards for file in shard.files}
    if row is not None:
        _trace_row(corpus, epoch or 0, rank, row, paths, as_json=as_json)
    else:
        epochs = range(loaded.recipe.packing.epochs) if epoch is None else [epoch]
        _trace_document(corpus, list(epochs), str(document_id), paths, as_json=as_json)


def _trace_row(
    corpus: Corpus, epoch: int, rank: int, row: int, paths: dict[str, str], *, as_json: bool
) -> None:
    try:
        segments = trace_row(corpus, epoch, rank, row)
    except IndexError as error:
        raise InputError(str(error)) from error
    if as_json:
        print_json([_as_json(segment, paths) for segment in segments])
        return
    for segment in segments:
        click.echo(f"cells {segment.row_start}-{segment.row_stop}: {_said(segment, paths)}")
    if not segments:
        click.echo("padding only")


def _trace_document(
    corpus: Corpus, epochs: list[int], document_id: str, paths: dict[str, str], *, as_json: bool
) -> None:
    places = [place for epoch in epochs for place in _places(corpus, epoch, document_id)]
    if as_json:
        print_json(
            [
                {
                    "epoch": place.epoch,
                    "rank": place.rank,
                    "row": place.row,
                    "batch": place.batch,
                    "segment": _as_json(place.segment, paths),
                }
                for place in places
            ]
        )
        return
    for place in places:
        reader = "read by no rank" if place.rank is None else f"rank {place.rank}"
        click.echo(
            f"epoch {place.epoch}, {reader}, row {place.row}, cells "
            f"{place.segment.row_start}-{place.segment.row_stop}: {_said(place.segment, paths)}"
        )
    if not places:
        click.echo("in no row: it was not drawn in these epochs")


def _places(corpus: Corpus, epoch: int, document_id: str) -> list[Any]:
    try:
        return trace_id(corpus, epoch, document_id)
    except KeyError:
        try:  # the id may be a number, or any other JSON value
            return trace_id(corpus, epoch, json.loads(document_id))
        except (json.JSONDecodeError, KeyError):
            raise InputError(f"no document has the id or provenance {document_id!r}") from None


def _place_of(segment: TracedSegment, paths: dict[str, str]) -> str:
    """Return the source file and line, as a path that can be opened where the plan still knows it."""
    name, _, line = segment.provenance.rpartition(":")
    return f"{paths.get(name, name)}:{line}"


def _said(segment: TracedSegment, paths: dict[str, str]) -> str:
    boundary = " and its boundary" if segment.has_boundary else ""
    stop = segment.document_stop - segment.has_boundary
    return (
        f"document {segment.id!r} of stream {segment.stream}, tokens {segment.document_start}-{stop}"
        f"{boundary}, from {_place_of(segment, paths)}"
    )


def _as_json(segment: TracedSegment, paths: dict[str, str]) -> dict[str, Any]:
    return {**segment._asdict(), "source": _place_of(segment, paths)}
