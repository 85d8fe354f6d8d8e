"""Which recipe files a list of files and folders means. Imports no Dagster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

SUFFIXES = (".yaml", ".yml")


def find_recipe_files(recipes: Sequence[str]) -> Iterator[str]:
    """Yield the recipe files of files and folders, each once: a folder's own in order of name, none below."""
    seen: set[Path] = set()
    for name in recipes:
        path = Path(name)
        own = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
        for file in own:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield str(file)
