"""The recipe: one YAML file that says how a corpus is made.

Only the names that other packages use are handed out here; what they do stands in the modules.
"""

from __future__ import annotations

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
