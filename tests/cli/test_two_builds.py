"""Two builds of one recipe at once, such as one of the UI's and one of the command line's."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

RECIPE = """\
name: tiny
streams: [{name: notes, documents: [documents/*.jsonl]}]
execution: {engine: serial}
"""
HOLD = """
import sys
from mixle_assets.storage import hold_lease
with hold_lease(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "0.jsonl").write_text(json.dumps({"id": "a", "text": "A text."}) + "\n")
    (tmp_path / "tiny.yaml").write_text(RECIPE)
    return tmp_path


@pytest.fixture
def other_build(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the recipe's folder, as each run of its assets does, until it is told to end."""
    place = str(folder / "corpora" / "tiny")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.kill()


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mixle_assets", "build", "tiny.yaml", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_the_second_one_says_who_builds_and_touches_nothing(
    folder: Path, other_build: subprocess.Popen[str], options: list[str]
) -> None:
    second = start(folder, *options)
    _, errors = second.communicate(timeout=60)

    assert second.returncode == 1
    assert "another build holds this folder" in errors
    assert f'"pid": {other_build.pid}' in errors
    assert sorted(path.name for path in (folder / "corpora" / "tiny").iterdir()) == [".lease"]


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_the_second_one_waits_as_long_as_it_is_told_to(
    folder: Path, other_build: subprocess.Popen[str], options: list[str]
) -> None:
    second = start(folder, "--wait", "60", *options)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(timeout=4)
    assert not (folder / "corpora" / "tiny" / "plan.json").exists()

    assert other_build.stdin is not None
    other_build.stdin.write("end\n")
    other_build.stdin.flush()
    _, errors = second.communicate(timeout=60)

    assert second.returncode == 0, errors
    assert (folder / "corpora" / "tiny" / "mixed_shards" / "notes-0000.jsonl.gz").exists()
