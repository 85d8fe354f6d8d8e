"""One rule of a filter, compiled: whether a document matches it, and what it reads to know.

The dialects meet here; how each parses and evaluates is their own modules' matter. How rules combine into
a verdict is ``mixing.filters``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.conditions import Reduction
from mixle_assets.expressions.jq_conditions import reduction_of_jq
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.jsonpath_ast import Filter, Path
from mixle_assets.expressions.jsonpath_conditions import reduction_of_jsonpath
from mixle_assets.expressions.jsonpath_nodes import (
    MISSING,
    compile_find,
    compile_test,
    compile_value,
    is_singular,
)
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.jsonpath_reads import reads_of_jsonpath
from mixle_assets.expressions.reads import Reads

Syntax: TypeAlias = Literal["jsonpath", "jq"]
Role: TypeAlias = Literal["include", "exclude"]
Matches: TypeAlias = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Predicate:
    """A compiled rule.

    Attributes:
        expression: The rule as written.
        syntax: Its dialect.
        role: ``include`` or ``exclude``; in jq they take several outputs differently.
        reads: What it reads of a document.
        matches: The rule itself: a document in, the truth out. Raises ``EvaluationError`` naming the rule;
            a JSONPath never does.
        reduction: What it comes down to where attributes hold numbers as taggers write them, or None.
        runs_in_libjq: Whether ``matches`` hands the document to libjq, which several rules better do
            together (``JoinedPrograms``).
    """

    expression: str
    syntax: Syntax
    role: Role
    reads: Reads
    matches: Matches = field(repr=False, compare=False)
    runs_in_libjq: bool = False
    reduction: Reduction | None = None


@lru_cache(maxsize=4096)
def compile_predicate(expression: str, syntax: str = "jsonpath", *, role: Role = "exclude") -> Predicate:
    """Compile one rule.

    Args:
        expression: The rule.
        syntax: ``jsonpath`` (Dolma's dialect) or ``jq``.
        role: Whether it stands under ``include`` or ``exclude``: of a jq rule with several outputs an
            include needs one at least and all true, an exclude any true one. JSONPath knows no difference.

    Returns:
        The rule, ready to be asked.

    Raises:
        ExpressionError: It does not compile, or ``syntax`` is neither.
    """
    if syntax == "jsonpath":
        return _compile_jsonpath(expression, role)
    if syntax == "jq":
        return _compile_jq(expression, role)
    raise ExpressionError(f"syntax must be jsonpath or jq, got {syntax!r}", rule=expression)


def _compile_jsonpath(expression: str, role: Role) -> Predicate:
    path = parse_jsonpath(expression)
    try:
        matches = compile_match(path)
    except ExpressionError as error:
        raise cast(ExpressionError, error.at(rule=expression)) from None
    return Predicate(
        expression,
        "jsonpath",
        role,
        reads_of_jsonpath(path, by_value=False),
        matches,
        reduction=reduction_of_jsonpath(path),
    )


def compile_match(path: Path) -> Matches:
    """Build the test whether a document has a node of ``path``; the node's value does not count."""
    if is_singular(path):
        value = compile_value(path)
        return lambda document: value(document, document) is not MISSING
    last = path.steps[-1]
    if not isinstance(last, Filter) or not is_singular(Path(path.steps[:-1])):
        find = compile_find(path)
        return lambda document: bool(find(document, document))
    value = compile_value(Path(path.steps[:-1]))
    test = compile_test(last.predicate)

    def matches(document: Mapping[str, Any]) -> bool:
        node = value(document, document)
        if type(node) is list:
            return any(test(member, document) for member in node)
        return node is not MISSING and test(node, document)

    return matches


def _compile_jq(expression: str, role: Role) -> Predicate:
    program = JqProgram(expression, by_value=False)
    matches = program.compile_match(all_outputs=role == "include")
    return Predicate(
        expression,
        "jq",
        role,
        program.reads,
        matches,
        program.runs_in_libjq,
        None if program.tree is None or program.runs_in_libjq else reduction_of_jq(program.tree),
    )


def combine_outputs(role: Role) -> Callable[[list[bool]], bool]:
    """How the truths of a jq rule's outputs become one: include needs all of at least one, exclude any."""
    if role == "exclude":
        return any
    return lambda truths: bool(truths) and all(truths)
