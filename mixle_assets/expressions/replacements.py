"""What is written in place of removed text: a template with ``{}``, or a jq expression on the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.expressions.reads import NOTHING, Reads
from mixle_assets.expressions.selectors import compile_selector

PLACEHOLDER = "{}"


@dataclass(frozen=True)
class Replacement:
    """A compiled replacement.

    Attributes:
        template: The replacement as written.
        reads: What it reads of a document; nothing unless it starts with ``$``.
        render: ``render(document, removed)`` gives the text to write. Raises ``EvaluationError`` where a
            jq replacement does not give exactly one string.
        constant: The text, where neither the document nor what was removed can change it; else None.
    """

    template: str
    reads: Reads
    render: Callable[[Mapping[str, Any], str], str] = field(repr=False, compare=False)
    constant: str | None = None

    @property
    def attribute_keys(self) -> frozenset[str] | None:
        """Keys under ``$.attributes`` it reads; None if it can be any."""
        return self.reads.attribute_keys

    @property
    def fields(self) -> frozenset[str] | None:
        """Top-level fields it reads; None if it can be any."""
        return self.reads.fields


@lru_cache(maxsize=1024)
def compile_replacement(template: str) -> Replacement:
    r"""Compile the text that stands in for a removed span.

    For the removed text ``ab`` of a document with id ``7``::

        "[{}]"       [ab]        every {} is the removed text; there is no escape for it
        "$.id"       7           a leading $: a jq expression that gives one string
        "$\"<\" + .id + \"> {}\""    <7> ab     {} is filled in after jq
        "\$5"        $5          a leading \$ is a literal dollar

    Args:
        template: The replacement, as it stands in a recipe.

    Returns:
        The replacement, ready to render.

    Raises:
        ExpressionError: What follows a leading ``$`` is no jq expression.
    """
    if template.startswith("$"):
        return _compile_jq(template)
    text = template[1:] if template.startswith("\\$") else template
    if PLACEHOLDER not in text:
        return Replacement(template, NOTHING, lambda document, removed: text, constant=text)
    pieces = text.split(PLACEHOLDER)
    return Replacement(template, NOTHING, lambda document, removed: removed.join(pieces))


def _compile_jq(template: str) -> Replacement:
    try:
        selector = compile_selector(template[1:], "jq")
    except ExpressionError as error:
        column = None if error.column is None else error.column + 1
        raise ExpressionError(
            f"{error.message} (a replacement that starts with $ is a jq expression; for a dollar write \\$)",
            column=column,
            rule=template,
        ) from None

    def render(document: Mapping[str, Any], removed: str) -> str:
        try:
            found = selector.select(document)
        except EvaluationError as error:
            raise EvaluationError(error.message, rule=template) from None
        if len(found) != 1 or type(found[0]) is not str:
            raise EvaluationError(f"a replacement must give exactly one string, got {found!r}", rule=template)
        return found[0].replace(PLACEHOLDER, removed)

    return Replacement(template, selector.reads, render)
