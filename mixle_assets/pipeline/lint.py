"""What in a recipe is allowed, but probably does not mean what it says; found without any data."""

from __future__ import annotations

from dataclasses import dataclass

from mixle_assets.expressions import find_filter_traps
from mixle_assets.pipeline.load import LoadedRecipe


@dataclass(frozen=True)
class Finding:
    """One doubtful place of a recipe.

    Attributes:
        path: The recipe file.
        line: Line of the key.
        key: Dotted key.
        kind: Kind of trap, such as ``unquoted_key``; ``warning`` for what loading found.
        message: Why it is doubtful.
    """

    path: str
    line: int | None
    key: str
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.key}: {self.message} ({self.kind})"


def find_doubts(loaded: LoadedRecipe) -> list[Finding]:
    """Return what is doubtful in the rules of a recipe, in the order of the file."""
    recipe = loaded.recipe
    findings = []
    for index, stream in enumerate(recipe.streams):
        if stream.filter is None:
            continue
        rules = stream.filter
        keys = {rule: f"streams.{index}.filter.include.{number}" for number, rule in enumerate(rules.include)}
        keys |= {
            rule: f"streams.{index}.filter.exclude.{number}" for number, rule in enumerate(rules.exclude)
        }
        for rule, trap in find_filter_traps(rules.include, rules.exclude, rules.syntax):
            column = f", column {trap.column} of the expression" if trap.column else ""
            message = f"{trap.message}{column}"
            findings.append(
                Finding(recipe.path or "", recipe.line_of(keys[rule]), keys[rule], trap.kind, message)
            )
    return sorted(findings, key=lambda finding: finding.line or 0)
