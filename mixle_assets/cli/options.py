"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

recipe_argument = click.argument("recipe", type=click.Path())

root_option = click.option(
    "--root",
    type=click.Path(file_okay=False),
    envvar="MIXLE_ROOT",
    show_envvar=True,
    help="Where to build; default: corpora/.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")

workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Worker processes; default: the recipe's execution.workers, else one per core.",
)

wait_option = click.option(
    "--wait",
    "wait_in_seconds",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Seconds to wait for another build of the same recipe; default: say who builds, and stop.",
)


def print_json(value: Any) -> None:
    """Print a value as indented JSON with sorted keys."""
    import orjson

    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
