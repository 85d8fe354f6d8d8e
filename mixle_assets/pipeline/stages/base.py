"""What a stage is to the pipeline, and what stages ask about each other's outputs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import Work, require_manifest
from mixle_assets.planning import PlannedFile, Shard
from mixle_assets.recipe import Stream

Partitions = Literal["none", "shard", "epoch"]


@dataclass(frozen=True)
class Stage:
    """One asset of the graph.

    Attributes:
        name: The asset.
        partitions: What it is divided into.
        finder: Module beside this one and its function that finds the work, ``module:function``. Imported
            when it is first asked: mixing alone needs nothing of the taggers.
        is_in: Whether a recipe has this stage at all.
        is_global: Whether one shard further down needs this stage of all shards.
        shards_waiting: For a stage over all shards: which of them can go no further without it.
    """

    name: str
    partitions: Partitions
    finder: str
    is_in: Callable[[LoadedRecipe], bool] = lambda loaded: True
    is_global: bool = False
    shards_waiting: Callable[[LoadedRecipe], frozenset[str]] = lambda loaded: frozenset(loaded.plan.keys)

    def find_work(self, loaded: LoadedRecipe, key: str) -> Sequence[Work]:
        """Return the work that makes a partition.

        Raises:
            MixleError: An input is not built, or not there.
        """
        module, _, function = self.finder.partition(":")
        find: Callable[[LoadedRecipe, str], Sequence[Work]]
        find = getattr(importlib.import_module(f"mixle_assets.pipeline.stages.{module}"), function)
        share = loaded.recipe.tolerate.max_skipped_share
        return [work.limited_to(share) for work in find(loaded, key)]

    def keys(self, loaded: LoadedRecipe) -> tuple[str, ...]:
        """Return all partitions of this stage; those of shards need a plan."""
        if self.partitions == "shard":
            return loaded.plan.keys
        if self.partitions == "epoch":
            return tuple(str(epoch) for epoch in range(loaded.recipe.packing.epochs))
        return ("",)


def section(*values: Any) -> str:
    """Return the digest of parts of a recipe: models and plain values, in this order."""
    return digest_of([_plain(value) for value in values])


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def find_shard(loaded: LoadedRecipe, key: str) -> tuple[Shard, Stream]:
    """Return the planned shard of a partition and the stream it belongs to.

    Raises:
        KeyError: The plan has no such shard.
    """
    shard = loaded.shards[key]
    return shard, loaded.recipe.stream(shard.stream)


def is_sourced(stream: Stream) -> bool:
    """Return whether the stream's documents are made here."""
    return stream.source is not None


def document_inputs(loaded: LoadedRecipe, shard: Shard) -> tuple[dict[str, str], dict[str, str]]:
    """Return the document files of a shard as inputs: digests of those made here, locations of external ones.

    Raises:
        ShardError: A document file that is made here is not there.
    """
    if not is_sourced(loaded.recipe.stream(shard.stream)):
        return {}, {f"documents/{file.name}": file.path for file in shard.files}
    folder = loaded.layout.documents_folder(shard.stream)
    digests = require_manifest(folder, what=f"documents of stream {shard.stream}").details["digests"]
    return {f"documents/{file.name}": digests[file.path.rpartition("/")[2]] for file in shard.files}, {}


def document_input(
    loaded: LoadedRecipe, shard: Shard, file: PlannedFile
) -> tuple[dict[str, str], dict[str, str]]:
    """Return one document file as ``document_inputs`` returns all of a shard's."""
    name = f"documents/{file.name}"
    digests, locations = document_inputs(loaded, shard)
    return (
        {key: value for key, value in digests.items() if key == name},
        {key: value for key, value in locations.items() if key == name},
    )
