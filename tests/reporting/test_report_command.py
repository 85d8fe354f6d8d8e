"""``mixle-assets report``, and the page that a build leaves behind."""

import json
from pathlib import Path

import command_line

FOLDER = "corpora/_script_alert__corpus____script____more"


def run(*arguments: str, cwd: Path) -> str:
    done = command_line.run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_build_leaves_a_page_and_names_it_last_in_the_tree(recipe: Path) -> None:
    folder = recipe.parent
    first = run("build", "small.yaml", "--plain", cwd=folder)
    page = (folder / FOLDER / "report.html").read_bytes()
    second = run("build", "small.yaml", "--plain", cwd=folder)

    tree = [line for line in first.splitlines() if line.startswith(("├", "└"))]
    assert tree[-1] == f"└── report  {folder}/{FOLDER}/report.html"
    assert second.splitlines()[-1].startswith("0 rebuilt, ")
    assert (folder / FOLDER / "report.html").read_bytes() == page
    summary = json.loads(run("build", "small.yaml", "--plain", "--json", cwd=folder))
    assert summary["report"] == f"{folder}/{FOLDER}/report.html"


def test_the_command_writes_where_it_is_told_and_says_where(recipe: Path) -> None:
    folder = recipe.parent
    run("build", "small.yaml", "--plain", cwd=folder)
    printed = run("report", "small.yaml", "--out", "page.html", cwd=folder)

    assert printed == f"{folder}/page.html\n"
    assert (folder / "page.html").read_bytes() == (folder / FOLDER / "report.html").read_bytes()
    assert run("report", "small.yaml", cwd=folder) == f"{folder}/{FOLDER}/report.html\n"
