"""``mixle-assets ui``: the Dagster UI on recipes, over the same records that ``build`` writes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import FrameType

import click

from mixle_assets.cli.options import root_option
from mixle_assets.cli.progress import BuildProgress
from mixle_assets.defs.home import HOME_VARIABLE, prepare_home
from mixle_assets.errors import MixleError, RecipeError
from mixle_assets.pipeline.load import DEFAULT_ROOT
from mixle_assets.storage import absolute

_SECONDS_TO_END = 20.0


@click.command()
@click.argument("recipes", metavar="RECIPE...", nargs=-1, required=True, type=click.Path(exists=True))
@root_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
@click.option("--plan", "plans", is_flag=True, help="First make documents and freeze plans that are missing.")
def command(recipes: tuple[str, ...], root: str | None, host: str, port: int, plans: bool) -> int:
    """Open the Dagster UI on RECIPE files, or folders of them.

    Without a frozen plan a recipe shows its assets without partitions; materialize `shard_plan` and reload,
    or say --plan. Ctrl-C ends the server and all it started.
    """
    root = absolute(root or DEFAULT_ROOT)
    _refuse_a_port_in_use(host, port)
    if plans:
        plan_recipes(recipes, root)
    home = prepare_home(root)
    environment = os.environ | {
        "MIXLE_RECIPES": os.pathsep.join(str(Path(recipe).absolute()) for recipe in recipes),
        "MIXLE_ROOT": root,
        HOME_VARIABLE: str(home),
        # Every start would say that another command is the future.
        "PYTHONWARNINGS": "ignore:Function `dev_command` is superseded",
    }
    # Dagster puts its working directory on its path and leaves files in it: neither may be the user's.
    state = home / "state"
    state.mkdir(exist_ok=True)
    arguments = ["dev", "--module-name", "mixle_assets.definitions", "--host", host, "--port", str(port)]
    click.echo(f"http://{host}:{port} in a moment; Ctrl-C ends", err=True)
    return run_until_ended([sys.executable, "-m", "dagster", *arguments], environment, state)


def plan_recipes(recipes: tuple[str, ...], root: str) -> None:
    """Make documents and freeze a plan for each recipe without one.

    What is wrong with one recipe is a warning: the others are shown all the same, and so is this.
    """
    from mixle_assets.defs.recipe_files import find_recipe_files
    from mixle_assets.pipeline.build import engine_of, make_documents
    from mixle_assets.pipeline.inputs import freeze_plan
    from mixle_assets.pipeline.load import load

    for path in find_recipe_files(recipes):
        try:
            loaded = load(path, root)
            if loaded.is_planned:
                continue
            with BuildProgress() as progress:
                outcome = make_documents(loaded, engine_of(loaded), progress)
            for error in outcome.failed.values() if outcome is not None else ():
                raise error
            warnings = freeze_plan(loaded).warnings
        except MixleError as error:
            warnings = (str(error),)
        for warning in warnings:
            click.echo(f"warning: {warning}", err=True)


def run_until_ended(command: list[str], environment: dict[str, str], folder: Path) -> int:
    """Run a program with processes of its own; end all of them on an interrupt, and return its exit code.

    A first interrupt lets it end in its own way, a second one, or one that it does not follow in time, kills.
    """
    interrupts = 0

    def pass_on(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        del number, frame
        interrupts += 1
        if interrupts == 1:
            process.send_signal(signal.SIGINT)
            signal.setitimer(signal.ITIMER_REAL, _SECONDS_TO_END)
        else:
            os.killpg(process.pid, signal.SIGKILL)

    # In a session of its own the program gets no Ctrl-C of the terminal beside ours. It starts before our
    # handlers are set, so it has to be given the default ones: a shell's background job ignores interrupts.
    process = subprocess.Popen(
        [sys.executable, "-c", _RESTORE_AND_RUN, *command],
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    before = {
        number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    }
    try:
        code = process.wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        _end_group(process.pid)
    return 0 if interrupts else code


_RESTORE_AND_RUN = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def _end_group(leader: int) -> None:
    """Kill what the program left running."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _refuse_a_port_in_use(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise RecipeError(
                f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
            ) from None
