"""Attribute files that another tool wrote: found in Dolma's layout, beside the documents."""

from __future__ import annotations

from mixle_assets import storage
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Recipe, Stream

_DOCUMENTS, _ATTRIBUTES = "/documents/", "/attributes/"


def find_foreign_attributes(recipe: Recipe, stream: Stream, file: PlannedFile) -> list[tuple[str, str]]:
    """Return name and location of each foreign attribute file of a document file, in the recipe's order.

    Every ``/documents/`` of the path becomes ``/attributes/<set>/``, as in Dolma; in Dolma mode a set may be
    a glob that names several.

    Raises:
        RecipeError: The documents do not lie below a ``documents`` folder, so no attributes can be found.
        InputError: An attribute file is missing, and the recipe does not tolerate that.
    """
    if not stream.attributes:
        return []
    if _DOCUMENTS not in file.path:
        raise RecipeError(
            f"stream {stream.name!r} names foreign attributes, but {file.path} lies below no `documents` "
            "folder; Dolma's layout is <place>/documents/<file> and <place>/attributes/<set>/<file>",
            path=recipe.path,
            key="attributes",
        )
    found: list[tuple[str, str]] = []
    for name in stream.attributes:
        path = file.path.replace(_DOCUMENTS, f"{_ATTRIBUTES}{name.rstrip('/')}/")
        matches = (
            storage.find_files(path) if recipe.mode == "dolma" else [path] if storage.exists(path) else []
        )
        if not matches and recipe.tolerate.missing_attributes == "error":
            raise InputError(
                f"there is no attribute file of the set {name!r} for {file.path}; make it, or tolerate it "
                "with `tolerate: {missing_attributes: skip}`",
                path=path,
            )
        found += [(name if match == path else _set_name(match, path, name), match) for match in matches]
    return found


def _set_name(match: str, pattern: str, name: str) -> str:
    """Return the part of ``match`` where ``pattern`` has the glob of the set."""
    before, _, after = pattern.partition(f"{_ATTRIBUTES}{name.rstrip('/')}/")
    return match[len(before) + len(_ATTRIBUTES) : len(match) - len(after) - 1]
