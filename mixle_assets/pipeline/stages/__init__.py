"""The stages of the graph in order of work: what each reads and writes, for one recipe and one partition.

Each module here turns a recipe's section into tasks of one stage package; nothing here does the work.
"""

from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import Stage


def _makes_documents(loaded: LoadedRecipe) -> bool:
    return any(stream.source is not None for stream in loaded.recipe.streams)


def _tags(loaded: LoadedRecipe) -> bool:
    return any(stream.taggers for stream in loaded.recipe.streams)


def _dedupes(loaded: LoadedRecipe) -> bool:
    return any(stream.dedupe is not None for stream in loaded.recipe.streams)


def _deduped_shards(loaded: LoadedRecipe) -> frozenset[str]:
    deduped = {stream.name for stream in loaded.recipe.streams if stream.dedupe is not None}
    return frozenset(shard.key for shard in loaded.plan.shards if shard.stream in deduped)


def _tokenizes(loaded: LoadedRecipe) -> bool:
    return loaded.recipe.tokenizer is not None


def _trains(loaded: LoadedRecipe) -> bool:
    return loaded.recipe.tokenizer is not None and loaded.recipe.tokenizer.train is not None


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage("documents", "none", "documents:find_work", _makes_documents),
        Stage("attributes", "shard", "attributes:find_work", _tags),
        Stage("content_hashes", "shard", "duplicates:find_hashing", _dedupes, is_global=True),
        Stage(
            "duplicate_index",
            "none",
            "duplicates:find_indexing",
            _dedupes,
            is_global=True,
            shards_waiting=_deduped_shards,
        ),
        Stage("duplicate_attributes", "shard", "duplicates:find_marking", _dedupes),
        Stage("mixed_shards", "shard", "mixing:find_work"),
        Stage("tokenizer", "none", "tokens:find_training", _trains),
        Stage("doc_arrays", "shard", "tokens:find_work", _tokenizes),
        Stage("packed_epoch", "epoch", "epochs:find_work", _tokenizes),
    )
}

__all__ = ["STAGES", "Stage"]
