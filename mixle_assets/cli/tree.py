"""A build's manifests and checks as a tree on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

if TYPE_CHECKING:
    from mixle_assets.pipeline.asset_check import CheckOutcome

_UNITS = {
    "attributes": "rows",
    "tokenizer": "documents",
    "packed_epoch": "documents",
}


_WIDTH_OF_A_FILE = 500
"""Columns where the output is no terminal: nothing is cut, so that a log can be searched."""


def _open_console() -> Console:
    console = Console(highlight=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH_OF_A_FILE)


def print_tree(summary: dict[str, Any]) -> None:
    """Print the tree that ``pipeline.summary.summarize`` describes; ``report``, if there, is a page on it."""
    console = _open_console()
    tree = Tree(f"[bold]{escape(summary['recipe'])}[/bold]  {escape(summary['folder'])}")
    for stage in summary["stages"]:
        failed = f", [red]{stage['num_failed']} failed[/red]" if stage["num_failed"] else ""
        branch = tree.add(
            f"[bold]{stage['name']}[/bold]  {stage['num_partitions']} partitions{failed}, "
            f"{stage['size_in_bytes']:,} bytes  [dim]{stage['digest']}[/dim]"
        )
        for name, counts in stage["groups"].items():
            _add_group(branch, name, counts, _UNITS.get(stage["name"], "documents"))
    if "report" in summary:
        tree.add(f"report  {escape(summary['report'])}")
    console.print(tree)
    print_checks(summary["checks"], console)
    console.print(f"{summary['num_built']} rebuilt, {summary['num_current']} current")


def _add_group(branch: Tree, name: str, counts: dict[str, Any], unit: str) -> None:
    dropped = sum(counts["dropped"].values())
    line = f"{escape(name)}: {counts['num_in']:,} {unit} in = {counts['num_out']:,} out"
    leaf = branch.add(f"{line} + {dropped:,} dropped" if dropped else line)
    for reason, number in counts["dropped"].items():
        leaf.add(f"{number:,} dropped: {escape(reason)}")
    if counts["noted"]:
        notes = (f"{what.replace('_', ' ')} {number:,}" for what, number in counts["noted"].items())
        leaf.add(f"[dim]{escape(', '.join(notes))}[/dim]")


def print_checks(checks: list[CheckOutcome] | list[dict[str, Any]], console: Console | None = None) -> None:
    """Print each check with its result, and the first violations of those that failed."""
    console = console or _open_console()
    for check in checks:
        facts = check if isinstance(check, dict) else check.as_json()
        if not facts["num_violations"]:
            mark = "[green]passed[/green]"
        elif facts["severity"] == "warn":
            mark = f"[yellow]{facts['num_violations']} warnings[/yellow]"
        else:
            mark = f"[red]failed: {facts['num_violations']} violations[/red]"
        console.print(f"check {facts['stage']}.{facts['name']} on {facts['num_keys']} partitions: {mark}")
        for violation in facts["violations"]:
            console.print(
                f"  {escape(violation['where'])}: expected {escape(violation['expected'])}, "
                f"found {escape(violation['found'])}"
            )
