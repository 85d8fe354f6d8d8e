"""What in a recipe is allowed, but probably does not mean what it says; found without any data."""

from __future__ import annotations

from dataclasses import dataclass

from mixle_assets.expressions.traps import find_traps
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
        for role, expressions in (("include", stream.filter.include), ("exclude", stream.filter.exclude)):
            for number, expression in enumerate(expressions):
                key = f"streams.{index}.filter.{role}.{number}"
                findings += [
                    Finding(recipe.path or "", recipe.line_of(key), key, trap.kind, trap.message)
                    for trap in find_traps(
                        expression, stream.filter.syntax, role="include" if role == "include" else "exclude"
                    )
                ]
    return findings
