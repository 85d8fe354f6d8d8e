"""The recipe: one YAML file that says how a corpus is made.

Only the names that other packages use are handed out here; what they do stands in the modules.
"""

from __future__ import annotations

from mixle_assets.recipe.models import (
    Execution,
    Packing,
    Recipe,
    Tokenizer,
    Tolerate,
    TrainTokenizer,
    WorkDir,
)
from mixle_assets.recipe.streams import (
    Compression,
    Dedupe,
    DedupeDocuments,
    DedupeParagraphs,
    Filter,
    Output,
    Source,
    SpanReplacement,
    Stream,
    TaggerUse,
)

__all__ = [
    "Compression",
    "Dedupe",
    "DedupeDocuments",
    "DedupeParagraphs",
    "Execution",
    "Filter",
    "Output",
    "Packing",
    "Recipe",
    "Source",
    "SpanReplacement",
    "Stream",
    "TaggerUse",
    "Tokenizer",
    "Tolerate",
    "TrainTokenizer",
    "WorkDir",
]
