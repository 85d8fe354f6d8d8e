"""Rules and selectors over one document: Dolma's JSONPath, jq, and the replacements of spans.

Expressions are compiled before any data is read. Nothing here reads files or knows recipes.
"""

from __future__ import annotations

from mixle_assets.expressions.predicates import Predicate, compile_predicate
from mixle_assets.expressions.replacements import Replacement, compile_replacement
from mixle_assets.expressions.selectors import Selector, compile_selector
from mixle_assets.expressions.trap import Trap
from mixle_assets.expressions.traps import find_filter_traps, find_traps

__all__ = [
    "Predicate",
    "Replacement",
    "Selector",
    "Trap",
    "compile_predicate",
    "compile_replacement",
    "compile_selector",
    "find_filter_traps",
    "find_traps",
]
