"""A frozen plan that no longer fits: what the commands say, what they exit with, what they leave alone."""

import json
from pathlib import Path

import pytest
from command_line import run

RECIPE = """\
name: tiny
streams:
  - name: notes
    documents: [in/documents/*.jsonl]
    taggers: {quality: [char_length_v1]}
    output: {max_size_in_bytes: 1}
execution: {engine: serial}
"""


def write_document(folder: Path, number: int) -> Path:
    path = folder / "in" / "documents" / f"{number}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"id": str(number), "text": f"The text of document {number}."}) + "\n")
    return path


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A folder whose plan has two shards."""
    for number in range(2):
        write_document(tmp_path, number)
    (tmp_path / "tiny.yaml").write_text(RECIPE)
    assert run("plan", "tiny.yaml", cwd=tmp_path).returncode == 0
    return tmp_path


def outputs(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "corpora" / "tiny" / "mixed_shards").glob("*.gz"))


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_a_planned_file_that_is_gone_fails_its_shard_alone(planned: Path, options: list[str]) -> None:
    (planned / "in" / "documents" / "1.jsonl").unlink()
    before = (planned / "corpora" / "tiny" / "plan.json").read_bytes()

    done = run("build", "tiny.yaml", *options, cwd=planned)

    assert done.returncode == 1
    assert "error: attributes notes/0001: in/documents/1.jsonl: " in done.stderr.replace(f"{planned}/", "")
    assert "no such file" in done.stderr.lower()
    assert outputs(planned) == ["notes-0000.jsonl.gz"]
    assert (planned / "corpora" / "tiny" / "plan.json").read_bytes() == before


def test_planning_says_what_to_do_about_it(planned: Path) -> None:
    (planned / "in" / "documents" / "1.jsonl").unlink()

    done = run("plan", "tiny.yaml", cwd=planned)
    assert done.returncode == 1
    assert "1.jsonl: was planned for stream 'notes' but is gone" in done.stderr
    assert "bring it back, or plan anew with --replan" in done.stderr

    assert run("plan", "tiny.yaml", "--replan", cwd=planned).returncode == 0
    assert run("build", "tiny.yaml", "--plain", cwd=planned).returncode == 0
    assert outputs(planned) == ["notes-0000.jsonl.gz"]


def test_new_files_wait_for_a_plan_and_come_after_the_old_ones(planned: Path) -> None:
    write_document(planned, 2)
    first = planned / "in" / "documents" / "00-earlier-name.jsonl"
    write_document(planned, 3).rename(first)

    built = run("build", "tiny.yaml", "--plain", cwd=planned)
    assert built.returncode == 0
    assert "warning: 2 document files are not in the frozen plan" in built.stderr
    assert outputs(planned) == ["notes-0000.jsonl.gz", "notes-0001.jsonl.gz"]

    extended = run("plan", "tiny.yaml", "--extend", "--json", cwd=planned)
    assert json.loads(extended.stdout)["new"] == ["notes/0002", "notes/0003"]
    again = json.loads(run("build", "tiny.yaml", "--plain", "--json", cwd=planned).stdout)
    assert [stage["num_built"] for stage in again["stages"]] == [2, 2]
    assert [stage["num_current"] for stage in again["stages"]] == [2, 2]


@pytest.mark.parametrize("options", [["--plain"], ["--only", "mixed_shards"]], ids=" ".join)
def test_a_shard_of_another_plan_is_the_calls_fault(planned: Path, options: list[str]) -> None:
    done = run("build", "tiny.yaml", "--shard", "notes/0007", *options, cwd=planned)

    assert done.returncode == 2
    assert "no shard 'notes/0007' in the plan; it has notes/0000, notes/0001" in done.stderr
    assert outputs(planned) == []


@pytest.mark.parametrize("content", ["", '{"version": 1, "shards": [', '{"version": 99, "shards": []}'])
def test_a_plan_that_is_none_is_named_and_never_guessed_at(planned: Path, content: str) -> None:
    plan = planned / "corpora" / "tiny" / "plan.json"
    plan.write_text(content)

    for command in (["build", "--plain"], ["build"], ["status"], ["plan"]):
        done = run(command[0], "tiny.yaml", *command[1:], cwd=planned)
        assert done.returncode == 1
        assert "plan.json: is " in done.stderr
        assert "plan anew with --replan" in done.stderr
        assert "Traceback" not in done.stderr

    assert plan.read_text() == content
    assert run("plan", "tiny.yaml", "--replan", cwd=planned).returncode == 0
