"""``mixle-assets lint``: what in a recipe is allowed, but doubtful."""

from __future__ import annotations

from dataclasses import asdict

import click

from mixle_assets.cli.options import json_option, print_json, recipe_argument
from mixle_assets.pipeline.lint import find_doubts
from mixle_assets.pipeline.load import load


@click.command()
@recipe_argument
@json_option
def command(recipe: str, as_json: bool) -> int:
    """Look for rules of RECIPE that may not mean what they say: constant, mistyped, traps of their dialect.

    What is wrong beyond doubt is an error (exit 2); what is doubtful is printed with its reason (exit 1).
    """
    loaded = load(recipe)
    findings = find_doubts(loaded)
    if as_json:
        print_json({"warnings": loaded.warnings, "findings": [asdict(finding) for finding in findings]})
    else:
        for warning in loaded.warnings:
            click.echo(warning)
        for finding in findings:
            click.echo(str(finding))
        click.echo(f"{len(findings) + len(loaded.warnings)} doubtful places")
    return 1 if findings or loaded.warnings else 0
