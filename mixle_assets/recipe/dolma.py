"""What Dolma asks of a stream of its mixing configs, beyond what every stream must be.

Our defaults for such a file stand here too; reading it is the same as for our own recipes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mixle_assets.recipe.streams import Stream

if TYPE_CHECKING:
    from mixle_assets.recipe.yaml_text import Key

MISSING = "???"
"""What Dolma's configs write for a value that must be given elsewhere."""

TOLERATE = {"key_collision": "last", "dead_rule": "warn"}
"""As Dolma: of two sets that write one key the later wins, and a rule that nothing feeds never fires."""


def as_recipe(value: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a Dolma config under the names of our models."""
    recipe = {key: item for key, item in value.items() if key not in ("processes", "work_dir")}
    if value.get("work_dir") is not None:
        recipe["work_dir"] = value["work_dir"]
    if isinstance(value.get("tolerate", {}), dict):
        recipe["tolerate"] = {**TOLERATE, **value.get("tolerate", {})}
    recipe["execution"] = {"workers": value.get("processes", 1)}
    return recipe


def find_fault_in_dolma_stream(stream: Stream) -> tuple[str, str] | None:
    """Return key and message of what Dolma refuses in a stream, or None."""
    if stream.output.path is None:
        return "output.path", "is missing; in a Dolma config every stream has one"
    if not stream.documents:
        return "documents", f"the stream {stream.name!r} has no documents"
    if stream.filter is not None and not (stream.filter.include or stream.filter.exclude):
        return "filter", "has neither an include nor an exclude"
    if stream.filter is None and not stream.span_replacement:
        return "", f"the stream {stream.name!r} has neither `filter` nor `span_replacement`"
    for index, rule in enumerate(stream.span_replacement):
        if rule.min_score is None and rule.max_score is None:
            return f"span_replacement.{index}", "needs min_score or max_score"
    return None


def find_missing_values(value: Any, key: Key = ()) -> Iterator[tuple[Key, str]]:
    """Yield every key whose value is ``???``, with what to say of it."""
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_missing_values(item, (*key, name))
    elif value == MISSING:
        yield key, f"has no value: {MISSING} asks for one"
