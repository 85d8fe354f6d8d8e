"""From a file to a recipe: read, interpolate, find unknown keys, check values; all before any data is read.

Pure but for the file and the environment: nothing is listed, imported or written. Every fault becomes a
``RecipeError`` with file, line, dotted key and value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mixle_assets.errors import RecipeError
from mixle_assets.recipe.dolma import as_recipe, find_missing_values
from mixle_assets.recipe.interpolation import Resolved, resolve
from mixle_assets.recipe.keys import Mode, default_of, find_unknown_keys, nearest_word
from mixle_assets.recipe.models import Recipe
from mixle_assets.recipe.scalars import shown
from mixle_assets.recipe.streams import DEFAULT_SET
from mixle_assets.recipe.yaml_text import Key, Tree, dotted, read_yaml

_MOST_FAULTS = 10


def load_recipe(
    path: str | os.PathLike[str], *, mode: Mode | None = None, environ: Mapping[str, str] | None = None
) -> Recipe:
    """Return the recipe that a YAML (or JSON) file holds.

    Args:
        path: A local file.
        mode: ``dolma`` takes the file as a Dolma mixing config, ``recipe`` as one of ours; None tells by
            the file: streams with ``output.path`` make it Dolma's.
        environ: Variables for ``${oc.env:NAME}``; None = those of this process.

    Raises:
        RecipeError: The file cannot be read or anything in it is wrong; it names line, key and value. Of
            several faults the first is the error's place, and the message has them all.
    """
    name = os.fspath(path)
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise RecipeError(f"cannot be read: {error.strerror or error}", path=name) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RecipeError(f"not UTF-8: byte 0x{content[error.start]:02x}", path=name, line=line) from None
    return parse_recipe(text, path=name, mode=mode, environ=environ)


def parse_recipe(
    text: str, *, path: str, mode: Mode | None = None, environ: Mapping[str, str] | None = None
) -> Recipe:
    """Return the recipe that a text holds, as if it stood in the file ``path``; see ``load_recipe``."""
    tree = read_yaml(text, path=path)
    if not isinstance(tree.value, dict):
        raise RecipeError(f"a recipe is a mapping with `streams`, got {shown(tree.value)}", path=path, line=1)

    def error_at(message: str, key: Key) -> RecipeError:
        return RecipeError(message, path=path, line=_line_of(tree, key), key=dotted(key) or None)

    resolved = resolve(
        tree.value,
        environ=os.environ if environ is None else environ,
        default_of=default_of,
        error_at=error_at,
    )
    mode = mode or ("dolma" if _has_output_path(resolved.value) else "recipe")
    faults = list(find_unknown_keys(resolved.value, mode))
    if mode == "dolma":
        faults += find_missing_values(resolved.value)
    if faults:
        raise _first_of([error_at(message, key) for key, message in faults])
    values = as_recipe(resolved.value) if mode == "dolma" else resolved.value
    try:
        recipe = Recipe.model_validate({"name": Path(path).stem, **values, "path": path, "mode": mode})
    except ValidationError as error:
        faults = [_place_and_message(each, tree, resolved) for each in error.errors(include_url=False)]
        raise _first_of([error_at(message, key) for key, message in faults]) from None
    recipe.remember(
        {dotted(key): line for key, line in _named_lines(tree).items()},
        {dotted(key): origin for key, origin in resolved.origins.items()},
    )
    return recipe


def _has_output_path(value: dict[str, Any]) -> bool:
    streams = value.get("streams")
    outputs = [
        stream.get("output")
        for stream in (streams if isinstance(streams, list) else [])
        if isinstance(stream, dict)
    ]
    return any(isinstance(output, dict) and "path" in output for output in outputs)


def _first_of(errors: list[RecipeError]) -> RecipeError:
    """Return the error that stands first in the file, with the others in its message."""
    first, *others = sorted(errors, key=lambda error: error.line or 0)
    lines = [f"{other.line}: {other.key}: {other.message}" for other in others[:_MOST_FAULTS]]
    if len(others) > _MOST_FAULTS:
        lines.append(f"... and {len(others) - _MOST_FAULTS} more")
    if lines:
        first.message = "\n  also ".join([first.message, *lines])
    return first


def _line_of(tree: Tree, key: Key) -> int | None:
    while key not in tree.lines and key:
        key = key[:-1]
    return tree.lines.get(key)


def _named_lines(tree: Tree) -> dict[Key, int]:
    """Return the lines, with the taggers of a bare list under the set they belong to."""
    lines = {}
    for key, line in tree.lines.items():
        is_bare = len(key) > 3 and key[0] == "streams" and key[2] == "taggers" and isinstance(key[3], int)
        lines[(*key[:3], DEFAULT_SET, *key[3:]) if is_bare else key] = line
    return lines


_MESSAGES = {
    "missing": "is missing",
    "model_type": "must be a mapping, got {shown}",
    "model_attributes_type": "must be a mapping, got {shown}",
    "dict_type": "must be a mapping, got {shown}",
    "tuple_type": "must be a list, got {shown}",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "greater_than": "must be more than {gt:g}, got {shown}",
    "greater_than_equal": "must be at least {ge:g}, got {shown}",
    "less_than_equal": "must be at most {le:g}, got {shown}",
    "literal_error": "must be one of {expected}, got {shown}",
}


def _place_and_message(fault: ErrorDetails, tree: Tree, resolved: Resolved) -> tuple[Key, str]:
    context = fault.get("ctx", {})
    key: Key = tuple(fault["loc"])
    if fault["type"] == "recipe":
        message = context["message"]
        below = context.get("key")
        key += tuple(int(part) if part.isdigit() else part for part in below.split(".")) if below else ()
    else:
        template = _MESSAGES.get(fault["type"], fault["msg"].replace("{", "{{").replace("}", "}}"))
        context = {**context, "expected": context.get("expected", "").replace("'", "").replace(" or ", ", ")}
        given = _value_at(resolved.value, _as_in_file(key, tree), fault["input"])
        message = template.format(shown=shown(given), **context)
        if fault["type"] == "literal_error" and isinstance(fault["input"], str):
            message += nearest_word(fault["input"], context["expected"].split(", "))
    for secret in resolved.secrets:
        message = message.replace(secret, "***")
    return _as_in_file(key, tree), message


def _value_at(value: Any, key: Key, otherwise: Any) -> Any:
    """Return what stands in the file at a key, or ``otherwise`` where nothing does."""
    try:
        for part in key:
            value = value[part]
    except (KeyError, IndexError, TypeError):
        return otherwise
    return value


def _as_in_file(key: Key, tree: Tree) -> Key:
    """Return a key of the models under the name it has in the file."""
    if key[:2] == ("execution", "workers") and ("processes",) in tree.lines:
        return ("processes",)
    if key[2:4] == ("taggers", DEFAULT_SET) and key[:4] not in tree.lines:
        return (*key[:3], *key[4:])
    return key
