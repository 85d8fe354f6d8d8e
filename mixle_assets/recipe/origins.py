"""Every value of a recipe with where it comes from: a line of the file, the environment, or the default.

The rendering is YAML that loads to the same recipe, but for secrets: of those the text in the file is shown,
``${oc.env:NAME}``, not the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from mixle_assets.recipe.interpolation import CORES, escape
from mixle_assets.recipe.keys import entries
from mixle_assets.recipe.models import Recipe
from mixle_assets.recipe.yaml_text import core_value

_COMMENT_COLUMN = 60


class ResolvedValue(NamedTuple):
    r"""One value of a recipe.

    Attributes:
        key: Dotted, such as ``packing.block``.
        value: Plain: text, number, boolean, None, or an empty list or mapping; ``\${`` is a literal ``${``.
        origin: ``recipes/x.yaml:12``, ``default``, with ``environment NAME`` where a variable went into it.
    """

    key: str
    value: Any
    origin: str


def resolved(recipe: Recipe) -> list[ResolvedValue]:
    """Return every value of the recipe, in the order of the models, with its origin, secrets hidden."""
    return [
        ResolvedValue(".".join(map(str, key)), value, origin)
        for key, value, origin in _leaves(recipe, as_written(recipe), ())
    ]


def as_written(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe as the mapping that a file of its kind would hold, every default spelled out."""
    written: dict[str, Any] = recipe.model_dump(mode="json")
    if recipe.mode == "recipe":
        for stream in written["streams"]:
            del stream["output"]["path"]
        return written
    written["processes"] = recipe.execution.workers
    written["dryrun"] = recipe.dryrun
    written["work_dir"] = recipe.work_dir.model_dump()
    return {key: _known_part(value, (key,)) for key, value in written.items() if (key,) in entries("dolma")}


def _known_part(value: Any, place: tuple[str, ...]) -> Any:
    """Return a value without the keys that Dolma does not know."""
    if isinstance(value, list):
        return [_known_part(item, (*place, "*")) for item in value]
    if isinstance(value, dict):
        known = entries("dolma")
        return {
            key: _known_part(item, (*place, key)) for key, item in value.items() if (*place, key) in known
        }
    return value


def render_resolved(recipe: Recipe) -> str:
    """Return the resolved recipe as YAML, each value with its origin in a comment beside it."""
    leaves = _leaves(recipe, as_written(recipe), ())
    tree: Any = {}
    for key, value, origin in leaves:
        _put(tree, key, ResolvedValue("", value, origin))
    return "\n".join(_yaml_lines(tree, "", "")) + "\n"


def _put(tree: dict[Any, Any], key: tuple[str | int, ...], leaf: ResolvedValue) -> None:
    for part in key[:-1]:
        tree = tree.setdefault(part, {})
    tree[key[-1]] = leaf


def _yaml_lines(node: Any, indent: str, lead: str) -> Iterator[str]:
    """Yield the lines of a node; ``lead`` stands before the first of them: a key or a dash."""
    if isinstance(node, ResolvedValue):
        text = (
            f"{lead}{scalar_text(node.value)}" if lead.endswith("- ") else f"{lead} {scalar_text(node.value)}"
        )
        yield f"{text:<{_COMMENT_COLUMN}}  # {node.origin}"
        return
    if lead and not lead.endswith("- "):
        yield lead
        lead = ""
    for part, item in node.items():
        start = "- " if isinstance(part, int) else f"{scalar_text(part)}:"
        yield from _yaml_lines(item, indent + "  ", (lead or indent) + start)
        lead = ""


def _leaves(
    recipe: Recipe, value: Any, key: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, str]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves(recipe, item, (*key, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(recipe, item, (*key, index))
    else:
        origin, hidden = _origin(recipe, ".".join(map(str, key)))
        if hidden is not None:
            value = hidden
        elif isinstance(value, str):
            value = escape(value)
        yield key, value, origin


def _origin(recipe: Recipe, key: str) -> tuple[str, str | None]:
    """Return the origin of a value, and the text to show instead of it if it is a secret."""
    above = key
    while above and (origin := recipe.origin_of(above)) is None:
        above = above.rpartition(".")[0]
    if not above and not recipe.stands_in_file(key):
        return ("default: the file's stem" if key == "name" and recipe.path else "default"), None
    place = f"{recipe.path}:{recipe.line_of(key)}"
    if not above or origin is None:
        return place, None
    names = ", ".join(name if name == CORES else f"environment {name}" for name in origin.environment)
    hidden = (origin.written if above == key else "***") if origin.is_secret else None
    return (f"{place}, {names}" if names else place), hidden


# What YAML takes for a line break, or does not take at all, inside quotes.
_NOT_PRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*")


def scalar_text(value: Any) -> str:
    """Return a scalar as YAML, quoted where it would otherwise be another value."""
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and core_value(value) == value and value == value.strip()
        quoted = json.dumps(value, ensure_ascii=False)
        return value if is_plain else _NOT_PRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return json.dumps(value)
