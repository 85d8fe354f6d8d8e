"""Traps that show in a jq program's syntax tree: what jq takes otherwise than one reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from mixle_assets.expressions.jq_ast import (
    Array,
    Assign,
    Binary,
    Call,
    Identity,
    Index,
    Literal,
    Node,
    Object,
    Variable,
)
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.trap import Trap, find_regex_traps, is_quoted_number

_ORDER = frozenset({"<", ">", "<=", ">="})
_UNSTABLE = frozenset(
    {"now", "env", "input", "inputs", "input_filename", "input_line_number", "debug", "stderr", "halt",
     "halt_error", "localtime", "mktime", "strflocaltime"}
)  # fmt: skip
_REGEX_FUNCTIONS = frozenset({"test", "match", "capture", "scan", "split", "splits", "sub", "gsub"})


def find_jq_traps(program: JqProgram) -> Iterator[Trap]:
    """Yield the traps of a rule."""
    tree = program.tree
    if program.runs_in_libjq and program.reads.fields is None:
        yield Trap(
            "reads_everything",
            "what the rule reads cannot be told, so each document goes to libjq whole, which is slow; "
            "begin with the fields it needs: .attributes.x | …",
        )
    if tree is None:
        return
    if isinstance(tree, Assign):
        yield Trap(
            "assignment",
            f"{tree.operator} gives the whole document, changed: the rule matches every one"
            + ("; to compare write ==" if tree.operator == "=" else ""),
        )
    if isinstance(tree, Object | Array) and tree not in (Object(()), Array(None)):
        yield Trap("always", "the rule matches every document: an array or object with members is true")
    for node in _nodes(tree):
        yield from _in_node(node)


def _nodes(node: Any) -> Iterator[Node]:
    """Yield a node and all below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part)
    elif isinstance(node, Struct):
        yield cast("Node", node)
        for name in node.__struct_fields__:
            yield from _nodes(getattr(node, name))


def _in_node(node: Node) -> Iterator[Trap]:
    match node:
        case Binary(operator, left, right, column) if operator in _ORDER | {"==", "!="}:
            for side, other in ((left, right), (right, left)):
                if not isinstance(side, Literal) or isinstance(other, Literal):
                    continue
                if is_quoted_number(side.value):
                    yield Trap(
                        "quoted_number",
                        f"{side.value!r} is a string: it equals no number, and every string is above "
                        "every number",
                        column,
                    )
                elif operator in _ORDER and type(side.value) not in (int, float, str):
                    yield Trap(
                        "type_order",
                        f"{operator} orders {side.value!r} by its type: null < false < true < numbers < "
                        "strings < arrays < objects",
                        column,
                    )
        case Call(name, _) if name in _UNSTABLE:
            yield Trap("unstable", f"{name} differs from run to run: the shard cannot be rebuilt the same")
        case Variable("ENV"):
            yield Trap(
                "unstable", "$ENV differs from machine to machine: the shard cannot be rebuilt the same"
            )
        case Call(name, (Literal(str() as expression), *_)) if name in _REGEX_FUNCTIONS:
            if name != "split":
                yield from find_regex_traps(expression, None)
        case Index(Identity(), Literal("documents" | "attribute" | "attrs" as name), _, column):
            yield Trap("field", f"a document has no {name!r}; attributes stand under .attributes", column)
