"""Selectors: which nodes of a document a span replacement is about.

What the nodes are good for (spans, scores, positions) is ``mixing.spans``'s matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.jsonpath_ast import Key, Path, Root
from mixle_assets.expressions.jsonpath_nodes import MISSING, compile_find, compile_value, is_singular
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.jsonpath_reads import reads_of_jsonpath
from mixle_assets.expressions.reads import Reads

Select = Callable[[Mapping[str, Any]], list[Any]]


@dataclass(frozen=True)
class Selector:
    """A compiled selector.

    Attributes:
        expression: The selector as written.
        syntax: ``jsonpath`` or ``jq``.
        reads: What it reads of a document.
        select: A document in, the nodes out, in order. Nodes that are null are left out: a missing value in
            jq and an absent key in JSONPath then mean the same. Raises ``EvaluationError`` for a jq
            selector that fails.
    """

    expression: str
    syntax: str
    reads: Reads
    select: Select = field(repr=False, compare=False)

    @property
    def attribute_keys(self) -> frozenset[str] | None:
        """Keys under ``$.attributes`` it reads; None if it can be any."""
        return self.reads.attribute_keys

    @property
    def fields(self) -> frozenset[str] | None:
        """Top-level fields it reads; None if it can be any."""
        return self.reads.fields


@lru_cache(maxsize=1024)
def compile_selector(expression: str, syntax: str = "jsonpath") -> Selector:
    """Compile a selector of nodes.

    Args:
        expression: The selector, such as ``$.attributes.pii__email``.
        syntax: ``jsonpath`` (Dolma's dialect) or ``jq``.

    Returns:
        The selector, ready to be asked.

    Raises:
        ExpressionError: It does not compile, or ``syntax`` is neither.
    """
    if syntax == "jq":
        program = JqProgram(expression, by_value=True)
        return Selector(
            expression,
            syntax,
            program.reads,
            lambda document: [node for node in program.outputs(document) if node is not None],
        )
    if syntax != "jsonpath":
        raise ExpressionError(f"syntax must be jsonpath or jq, got {syntax!r}", rule=expression)
    path = parse_jsonpath(expression)
    try:
        select = _compile_jsonpath(path)
    except ExpressionError as error:
        raise cast(ExpressionError, error.at(rule=expression)) from None
    return Selector(expression, syntax, reads_of_jsonpath(path, by_value=True), select)


def _compile_jsonpath(path: Path) -> Select:
    match path.steps:
        case (Root(), Key("attributes"), Key(name)):

            def select_attribute(document: Mapping[str, Any]) -> list[Any]:
                attributes = document.get("attributes")
                node = attributes.get(name) if type(attributes) is dict else None
                return [] if node is None else [node]

            return select_attribute
    if is_singular(path):
        value = compile_value(path)

        def select_one(document: Mapping[str, Any]) -> list[Any]:
            node = value(document, document)
            return [] if node is MISSING or node is None else [node]

        return select_one
    find = compile_find(path)
    return lambda document: [node for node in find(document, document) if node is not None]
