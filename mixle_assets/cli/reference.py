"""The reference page of the command line, made from the commands themselves.

``python -m mixle_assets.cli.reference docs/reference/command-line.md`` writes it; a test holds page and
commands together.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

from mixle_assets.cli import COMMANDS, cli

HEAD = """# The command line

Made from the commands' own help by `python -m mixle_assets.cli.reference`.
`mixle-assets COMMAND --help` says the same.

Exit codes: 0 done, 1 work or a check failed, 2 the recipe or the call is wrong, 130 interrupted.
Results go to standard output, progress, warnings and errors to standard error.
"""


def render() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(_render_command(name) for name in COMMANDS)])


def _render_command(name: str) -> str:
    context = click.Context(cli, info_name="mixle-assets")
    command = cli.get_command(context, name)
    if command is None:
        raise ValueError(f"no command {name!r}")
    own = click.Context(command, info_name=name, parent=context)
    usage = " ".join(["mixle-assets", name, *command.collect_usage_pieces(own)])
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    described = "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
    rows = [
        f"| `{_names(option)}` | {(option.help or '').replace('|', chr(92) + '|')} |"
        for option in command.get_params(own)
        if isinstance(option, click.Option) and "--help" not in option.opts
    ]
    table = ["", "| option | |", "|---|---|", *rows] if rows else []
    return "\n".join([f"## `{usage}`", "", described, *table, ""])


def _names(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return names
    value = option.metavar or option.type.name.upper()
    return f"{names} {value.replace('INTEGER RANGE', 'N').replace('FLOAT RANGE', 'SECONDS')}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
