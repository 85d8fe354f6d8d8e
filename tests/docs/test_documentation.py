"""What the documentation shows is run; what it links to is there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [(language, body) for language, body in FENCE.findall(page.read_text()) if language in languages]


def environment() -> dict[str, str]:
    """The environment of a user who has the commands on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "DAGSTER_DISABLE_TELEMETRY": "1"}


def run_blocks(page: Path, folder: Path) -> str:
    """Run the ``sh`` and ``python`` blocks of a page in order, in one folder; return what they print."""
    printed = ""
    for language, body in blocks(page, "sh", "python"):
        command = (
            ["bash", "-euo", "pipefail", "-c", body] if language == "sh" else [sys.executable, "-c", body]
        )
        done = subprocess.run(
            command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{page.name}:\n{body}\n{done.stdout}\n{done.stderr}"
        printed += done.stdout
    return printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_first_corpus_of_the_tutorial_can_be_built_as_shown(tmp_path: Path) -> None:
    printed = run_blocks(PROJECT / "docs/tutorials/first-corpus.md", tmp_path)

    assert "0 rebuilt, " in printed
    assert "batches in epoch 0 for rank 0 of 2" in printed
    assert "targets to train on" in printed


def test_a_corpus_grows_as_shown(tmp_path: Path) -> None:
    printed = run_blocks(PROJECT / "docs/how-to/grow-a-corpus.md", tmp_path)

    assert "new news/0001" in printed
    assert "    news/0000" in printed


def test_a_dolma_config_runs_as_shown(tmp_path: Path) -> None:
    printed = run_blocks(PROJECT / "docs/how-to/run-a-dolma-config.md", tmp_path)

    assert "web: 2 documents in = 1 out + 1 dropped" in printed
    assert '"provenance":"0.jsonl:1"' in printed


def test_a_report_is_written_and_compared_as_shown(tmp_path: Path) -> None:
    printed = run_blocks(PROJECT / "docs/how-to/read-the-report.md", tmp_path)

    assert f"└── report  {tmp_path}/corpora/notes/report.html" in printed
    assert printed.endswith(f"{tmp_path}/notes.html\n{tmp_path}/again.html\n")


def test_the_readme_ends_in_a_masked_mean_over_a_real_batch(tmp_path: Path) -> None:
    text = (PROJECT / "README.md").read_text()
    recipe = tmp_path / "stdlib.yaml"
    recipe.write_text(
        "streams:\n  - {name: code, source: {python_stdlib: code, only: [json]}}\n"
        "tokenizer: {bytes: true}\npacking: {block: 256, world_size: 2}\n"
    )
    subprocess.run(
        ["mixle-assets", "build", "stdlib.yaml", "--plain"], cwd=tmp_path, env=environment(), check=True
    )
    (program,) = [body for language, body in FENCE.findall(text) if language == "python"]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert float(done.stdout) > 0
    assert len(program.splitlines()) == 8


def test_the_readmes_recipe_is_valid(tmp_path: Path) -> None:
    (recipe,) = [body for _, body in blocks(PROJECT / "README.md", "yaml")]
    (tmp_path / "recipe.yaml").write_text(recipe)
    done = subprocess.run(
        ["mixle-assets", "recipe", "recipe.yaml"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_make_knows_the_two_commands_of_the_readme() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "corpus", "test"], cwd=PROJECT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0
    assert "mixle-assets build recipes/stdlib.yaml" in done.stdout
    assert "pytest" in done.stdout


def test_the_command_line_page_is_what_the_commands_say() -> None:
    """``python -m mixle_assets.cli.reference docs/reference/command-line.md`` makes it anew."""
    from mixle_assets.cli.reference import render

    assert (PROJECT / "docs/reference/command-line.md").read_text() == render()
