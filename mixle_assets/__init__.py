"""One graph of Dagster assets from documents to language-model training batches.

The names below are resolved when they are used, so that importing the package costs nothing; their types
stand in ``__init__.pyi``.
"""

import importlib
from typing import Any

_HOMES = {
    "Corpus": "mixle_assets.packing.corpus",
    "PackedCorpus": "mixle_assets.packing.rows",
    "StreamingCorpus": "mixle_assets.packing.streaming",
    "global_document_order": "mixle_assets.packing.order",
    "load_corpus": "mixle_assets.packing.corpus",
    "load_recipe": "mixle_assets.recipe",
    "pack_documents": "mixle_assets.packing.rows",
    "shard_documents_for_rank": "mixle_assets.packing.order",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
