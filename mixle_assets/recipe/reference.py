"""The tables of ``docs/reference/recipe.md``, read off the models so that page and code cannot part.

``python -m mixle_assets.recipe.reference docs/reference/recipe.md`` writes the tables anew; the words around
them are kept.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic_core import PydanticUndefined

from mixle_assets.recipe.keys import Entry, Place, entries
from mixle_assets.recipe.origins import scalar_text
from mixle_assets.recipe.scalars import Section

_BLOCK = re.compile(r"<!-- keys of (?P<name>.*?) -->\n.*?<!-- end -->", re.DOTALL)


def sections() -> dict[str, list[Entry]]:
    """Return the keys of our own recipes by the section they stand in, named as messages name it."""
    found: dict[str, list[Entry]] = {}
    for place, entry in entries("recipe").items():
        found.setdefault(_name_of(place[:-1]), []).append(entry)
    return found


def key_table(name: str) -> str:
    """Return the Markdown table of one section: key, default, meaning.

    Raises:
        KeyError: There is no such section.
    """
    lines = ["| key | default | meaning |", "| --- | --- | --- |"]
    for entry in sections()[name]:
        meaning = " ".join(filter(None, [entry.field.description if entry.field else None, _words_of(entry)]))
        lines.append(
            f"| `{entry.place[-1]}` | {_default_of(entry)} | {meaning.replace('|', chr(92) + '|')} |"
        )
    return "\n".join(lines)


def fill_page(page: str) -> str:
    """Return the page with every table between ``<!-- keys of ... -->`` and ``<!-- end -->`` made anew."""
    return _BLOCK.sub(
        lambda block: f"<!-- keys of {block['name']} -->\n{key_table(block['name'])}\n<!-- end -->", page
    )


def sections_of_page(page: str) -> list[str]:
    """Return the names of the sections whose tables the page holds, in its order."""
    return [block["name"] for block in _BLOCK.finditer(page)]


def _name_of(place: Place) -> str:
    return ".".join(place).replace(".*", "[]") or "the top"


def _default_of(entry: Entry) -> str:
    if entry.field is None or entry.field.is_required():
        return "required"
    if entry.place == ("name",):
        return "the file's stem"
    default = entry.field.get_default(call_default_factory=True)
    if isinstance(default, Section):
        return f"see [{entry.place[-1]}](#{_anchor(_name_of(entry.place))})"
    if default in ((), {}) and default is not None:
        return "`[]`" if default == () else "`{}`"
    return f"`{scalar_text(default)}`"


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9_ -]", "", name.lower()).replace(" ", "-")


def _words_of(entry: Entry) -> str:
    """Return the values a key takes, where they are few."""
    words = _literals(entry.field.annotation) if entry.field else []
    return f"One of {', '.join(f'`{scalar_text(word)}`' for word in words)}." if len(words) > 1 else ""


def _literals(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [
        word for part in get_args(annotation) if part is not PydanticUndefined for word in _literals(part)
    ]


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill_page(path.read_text("utf-8")), "utf-8")
