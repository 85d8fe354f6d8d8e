"""Starting and ending the UI: what the command sets up, refuses and takes down with it."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from small_graph import RECIPE, write_corpus

from mixle_assets.cli.ui import command, plan_recipes
from mixle_assets.defs.home import prepare_home
from mixle_assets.defs.recipe_files import find_recipe_files
from mixle_assets.errors import RecipeError
from mixle_assets.pipeline.load import load


def test_the_home_lies_below_the_root_and_stays_as_its_user_changed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)

    home = prepare_home(str(tmp_path / "corpora"))
    assert home == tmp_path / "corpora" / ".dagster"
    settings = home / "dagster.yaml"
    assert "telemetry" in settings.read_text()

    settings.write_text("# mine\n")
    assert prepare_home(str(tmp_path / "corpora")) == home
    assert settings.read_text() == "# mine\n"


def test_a_home_that_is_given_is_taken_and_nothing_is_written_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "given"))

    assert prepare_home(str(tmp_path / "corpora")) == tmp_path / "given"
    assert list((tmp_path / "given").iterdir()) == []


def test_recipes_are_files_and_folders_each_once(tmp_path: Path):
    for name in ("b.yaml", "a.yml", "notes.txt"):
        (tmp_path / name).touch()

    found = find_recipe_files([str(tmp_path / "b.yaml"), str(tmp_path)])

    assert [Path(path).name for path in found] == ["b.yaml", "a.yml"]


def test_planning_first_plans_each_sound_recipe_and_leaves_the_broken_to_the_ui(
    tmp_path: Path, root: str, capsys: pytest.CaptureFixture[str]
):
    path = write_corpus(tmp_path)
    (tmp_path / "broken.yaml").write_text("streams: 7\n")
    (tmp_path / "gone.yaml").write_text(
        RECIPE.replace("name: small", "name: gone").replace("in/documents/notes", "nowhere")
    )

    plan_recipes((str(tmp_path),), root)

    assert load(path, root).is_planned
    warnings = capsys.readouterr().err
    assert "broken.yaml:1" in warnings
    assert "names no file" in warnings


def test_a_port_in_use_is_said_before_anything_starts(recipe_path: Path, root: str):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(RecipeError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            command.main([str(recipe_path), "--root", root, "--port", str(port)], standalone_mode=False)


STUBBORN = """
import os, signal, subprocess, sys, time
from pathlib import Path
# A child that hears nothing, as a server's worker may be.
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(2, 1); time.sleep(600)"])
Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
try:
    time.sleep(600)
except KeyboardInterrupt:
    sys.exit(0)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_program_and_all_it_started(number: signal.Signals, tmp_path: Path):
    marks = tmp_path / "marks"
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    code = textwrap.dedent(f"""
        import os, sys
        from pathlib import Path
        from mixle_assets.cli.ui import run_until_ended
        program = [sys.executable, {str(tmp_path / "stubborn.py")!r}, {str(marks)!r}]
        sys.exit(run_until_ended(program, dict(os.environ), Path({str(tmp_path)!r})))
    """)
    with subprocess.Popen([sys.executable, "-c", code]) as runner:
        try:
            deadline = time.monotonic() + 60
            while not marks.exists() or len(marks.read_text().split()) < 2:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(0.3)  # until the handlers are set
            runner.send_signal(number)
            assert runner.wait(timeout=60) == 0
        finally:
            runner.kill()

    deadline = time.monotonic() + 10
    while any(is_running(int(pid)) for pid in marks.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_program_that_ends_by_itself_gives_its_exit_code(tmp_path: Path):
    from mixle_assets.cli.ui import run_until_ended

    assert run_until_ended([sys.executable, "-c", "raise SystemExit(7)"], dict(os.environ), tmp_path) == 7
