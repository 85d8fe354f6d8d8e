"""Dolma's layout: attribute files stand beside their documents, under the same name."""

from __future__ import annotations

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import Recipe

DOCUMENTS, ATTRIBUTES = "/documents/", "/attributes/"


def path_beside(path: str, attribute_set: str, *, recipe: Recipe) -> str:
    """Return the attribute file of a document file: every ``/documents/`` becomes ``/attributes/<set>/``.

    Raises:
        RecipeError: The documents lie below no folder ``documents``.
    """
    if DOCUMENTS not in path:
        raise RecipeError(
            f"attributes of the set {attribute_set!r} should lie beside {path}, but that is below no "
            "`documents` folder; Dolma has <place>/documents/<file> and <place>/attributes/<set>/<file>",
            path=recipe.path,
            key="attributes",
        )
    return path.replace(DOCUMENTS, f"{ATTRIBUTES}{attribute_set.rstrip('/')}/")
