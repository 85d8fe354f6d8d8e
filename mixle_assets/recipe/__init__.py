"""The recipe: one YAML file that says how a corpus is made.

Only the names that other packages use are handed out here; what they do stands in the modules. A module is
imported when one of its names is first asked for: a worker that tags needs no YAML parser.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixle_assets.recipe.dedupe import (
        ByNgram,
        Decontamination,
        Dedupe,
        DedupeDocuments,
        DedupeParagraphs,
        NearDocuments,
        Prefer,
    )
    from mixle_assets.recipe.load import (
        load_recipe,
        parse_recipe,
    )
    from mixle_assets.recipe.models import (
        Execution,
        Packing,
        Recipe,
        SelectorUse,
        Tokenizer,
        Tolerate,
        TrainTokenizer,
        WorkDir,
    )
    from mixle_assets.recipe.origins import ResolvedValue, render_resolved, resolved
    from mixle_assets.recipe.streams import (
        Compression,
        Filter,
        Output,
        Source,
        SpanReplacement,
        Stream,
        TaggerUse,
    )

__all__ = [
    "ByNgram",
    "Compression",
    "Decontamination",
    "Dedupe",
    "DedupeDocuments",
    "DedupeParagraphs",
    "Execution",
    "Filter",
    "NearDocuments",
    "Output",
    "Packing",
    "Prefer",
    "Recipe",
    "ResolvedValue",
    "SelectorUse",
    "Source",
    "SpanReplacement",
    "Stream",
    "TaggerUse",
    "Tokenizer",
    "Tolerate",
    "TrainTokenizer",
    "WorkDir",
    "load_recipe",
    "parse_recipe",
    "render_resolved",
    "resolved",
]

_MODULE_OF = {
    name: module
    for module, names in {
        "dedupe": (
            "ByNgram",
            "Decontamination",
            "Dedupe",
            "DedupeDocuments",
            "DedupeParagraphs",
            "NearDocuments",
            "Prefer",
        ),
        "load": (
            "load_recipe",
            "parse_recipe",
        ),
        "models": (
            "Execution",
            "Packing",
            "Recipe",
            "SelectorUse",
            "Tokenizer",
            "Tolerate",
            "TrainTokenizer",
            "WorkDir",
        ),
        "origins": (
            "ResolvedValue",
            "render_resolved",
            "resolved",
        ),
        "streams": (
            "Compression",
            "Filter",
            "Output",
            "Source",
            "SpanReplacement",
            "Stream",
            "TaggerUse",
        ),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next look finds it at once
    return value
