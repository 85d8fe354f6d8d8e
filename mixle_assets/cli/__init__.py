"""The command line: each command is a module of its own, imported when it is called.

Exit codes: 0 done, 1 work failed or a check did, 2 the recipe or the call is wrong.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from mixle_assets.errors import MixleError

COMMANDS = {
    "plan": "Freeze which document files make which shard.",
    "build": "Build the whole corpus, or a part; what is current is left as it is.",
    "status": "Show what is built, stale and missing.",
    "check": "Run all asset checks on what is built; exit 1 if one fails.",
    "verify": "Hash everything at rest again; exit 1 if a file is damaged.",
    "trace": "From a row to its documents, and from a document to its rows.",
    "report": "Write what is built as one HTML page: counts, rules, distributions, shares.",
    "export": "Write the tokens in the format of another trainer's loader.",
    "import": "Take token files of other tools in as doc arrays.",
    "lint": "Find rules that may not mean what they say.",
    "recipe": "Show the recipe as it is understood, each value with its origin.",
    "mix": "Run a Dolma mixing config as it is.",
    "ui": "Open the Dagster UI on recipes.",
}

_MODULES = {"import": "importing"}  # a module cannot bear the name of a keyword


class _LazyGroup(click.Group):
    """Knows the commands by name; imports only the one that is called, so that --help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # What is imported stays: looking through it for garbage, again and again, is a tenth of the start.
        gc.disable()
        module = importlib.import_module(f"mixle_assets.cli.{_MODULES.get(cmd_name, cmd_name)}")
        gc.freeze()
        gc.enable()
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mixle_assets", prog_name="mixle-assets")
def cli() -> None:
    """From documents to language-model training batches, by one recipe.

    A build writes below --root (default: $MIXLE_ROOT, else corpora/), in a folder of the recipe's name.
    """


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        result = cli.main(standalone_mode=False)
    except MixleError as error:
        click.echo(f"error: {_shorten(str(error))}", err=True)
        for note in getattr(error, "__notes__", ()):
            click.echo(f"  {note}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; what was finished is kept, build again to go on", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output left; what Python flushes at exit has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    sys.exit(result if isinstance(result, int) else 0)


def _shorten(text: str) -> str:
    """Show paths below the working directory as the user typed them."""
    return text.replace(f"{Path.cwd()}{os.sep}", "")
