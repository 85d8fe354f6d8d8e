"""What a build or a mix did, said at its end, and the exit code that follows from it."""

from __future__ import annotations

import click

from mixle_assets.cli.options import print_json
from mixle_assets.cli.tree import print_tree
from mixle_assets.pipeline.build import BuildReport
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.summary import summarize


def show_report(loaded: LoadedRecipe, report: BuildReport, *, page: str | None = None, as_json: bool) -> int:
    """Print what a build did, and where the page on it lies, and return the exit code."""
    summary = summarize(loaded, report) | ({} if page is None else {"report": page})
    if as_json:
        print_json(summary)
    else:
        print_tree(summary)
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
    for name, error in report.failed.items():
        click.echo(f"error: {name}: {error}", err=True)
    return 1 if report.failed or any(check.failed for check in report.checks) else 0
