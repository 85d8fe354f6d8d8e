"""Attribute files that another tool wrote: found in Dolma's layout, beside the documents."""

from __future__ import annotations

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.pipeline.beside import ATTRIBUTES, path_beside
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Recipe, Stream


def find_foreign_attributes(recipe: Recipe, stream: Stream, file: PlannedFile) -> list[tuple[str, str]]:
    """Return name and location of each foreign attribute file of a document file, in the recipe's order.

    Every ``/documents/`` of the path becomes ``/attributes/<set>/``, as in Dolma; in Dolma mode a set may be
    a glob that names several.

    Raises:
        RecipeError: The documents do not lie below a ``documents`` folder, so no attributes can be found.
        InputError: An attribute file is missing, and the recipe does not tolerate that; where it does, the
            file is returned all the same, to be counted as missing.
    """
    if not stream.attributes:
        return []
    found: list[tuple[str, str]] = []
    for name in stream.attributes:
        path = path_beside(file.path, name, recipe=recipe)
        is_there = storage.exists(path)
        matches = storage.find_files(path) if recipe.mode == "dolma" and not is_there else [path] * is_there
        if not matches:
            if recipe.tolerate.missing_attributes == "error":
                raise InputError(
                    f"there is no attribute file of the set {name!r} for {file.path}; make it, or tolerate "
                    "it with `tolerate: {missing_attributes: skip}`",
                    path=path,
                )
            matches = [path]  # the mixer counts what is missing
        found += [(name if match == path else _set_name(match, path, name), match) for match in matches]
    return found


def _set_name(match: str, pattern: str, name: str) -> str:
    """Return the part of ``match`` where ``pattern`` has the glob of the set."""
    before, _, after = pattern.partition(f"{ATTRIBUTES}{name.rstrip('/')}/")
    return match[len(before) + len(ATTRIBUTES) : len(match) - len(after) - 1]
