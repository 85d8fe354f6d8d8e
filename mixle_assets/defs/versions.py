"""The code version of an asset: the digest of all of the recipe that decides what it holds.

A recipe edit changes it, so the UI shows the partitions that the edit made stale. Whether something is built
again is decided by manifests alone; this is only how it looks.
"""

from collections.abc import Callable
from typing import Any

from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.recipe import Recipe, Stream
from mixle_assets.tagging.registry import fingerprint_of

_STREAM_SECTIONS: dict[str, Callable[[Stream], Any]] = {
    "documents": lambda stream: _dump(stream, "source"),
    "shard_plan": lambda stream: [stream.documents, stream.output.max_size_in_bytes],
    "attributes": lambda stream: {
        name: [fingerprint_of(use) for use in uses] for name, uses in stream.taggers.items()
    },
    "content_hashes": lambda stream: _dump(stream, "dedupe"),
    "duplicate_index": lambda stream: _dump(stream, "dedupe"),
    "duplicate_attributes": lambda stream: _dump(stream, "dedupe"),
    "mixed_shards": lambda stream: [
        _dump(stream, "filter", "span_replacement", "attributes", "compression"),
        stream.output.min_text_length,
        stream.output.discard_fields,
    ],
    "packed_epoch": lambda stream: _dump(stream, "weight", "resample"),
}
_RECIPE_SECTIONS: dict[str, Callable[[Recipe], Any]] = {
    "shard_plan": lambda recipe: recipe.shuffle,
    "mixed_shards": lambda recipe: _dump(recipe, "tolerate"),
    "tokenizer": lambda recipe: _dump(recipe, "tokenizer"),
    "doc_arrays": lambda recipe: _dump(recipe, "tokenizer"),
    "packed_epoch": lambda recipe: _dump(recipe, "packing"),
}


def code_version(loaded: LoadedRecipe, asset: str) -> str:
    """Return the code version of one asset of a recipe."""
    of_stream = _STREAM_SECTIONS.get(asset)
    of_recipe = _RECIPE_SECTIONS.get(asset)
    streams = [[stream.name, of_stream(stream)] for stream in loaded.recipe.streams] if of_stream else []
    return digest_of([asset, streams, of_recipe(loaded.recipe) if of_recipe else None])


def _dump(model: Stream | Recipe, *names: str) -> dict[str, Any]:
    return model.model_dump(mode="json", include=set(names))
