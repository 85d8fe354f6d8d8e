"""Which partitions the assets of a recipe have, and which of them a run is about.

Keys come from the frozen plan and the recipe alone: nothing is listed, so a location loads in the same time
whatever lies in the bucket.
"""

from collections.abc import Sequence

import dagster as dg

from mixle_assets.errors import ShardError
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages import Stage

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


class RecipePartitions:
    """The partitions of one recipe; made once, so that all its assets share the same objects.

    Args:
        loaded: The recipe; without a frozen plan there are no partitions yet.
    """

    def __init__(self, loaded: LoadedRecipe) -> None:
        is_planned = loaded.is_planned
        epochs = range(loaded.recipe.packing.epochs if is_planned else 0)
        self._shards = dg.StaticPartitionsDefinition(list(loaded.plan.keys) if is_planned else [])
        self._epochs = dg.StaticPartitionsDefinition([str(epoch) for epoch in epochs])

    def of(self, stage: Stage) -> dg.StaticPartitionsDefinition | None:
        """Return the partitions of a stage; None for one without."""
        if stage.partitions == "shard":
            return self._shards
        return self._epochs if stage.partitions == "epoch" else None


def keys_to_build(context: dg.AssetExecutionContext, loaded: LoadedRecipe, stage: Stage) -> Sequence[str]:
    """Return the partitions that a run asks of an asset, in the order of the plan.

    Raises:
        ShardError: The plan does not have them any more.
    """
    if stage.partitions == "none":
        return stage.keys(loaded)
    asked: Sequence[str] = context.partition_keys
    known = set(stage.keys(loaded))
    if gone := [key for key in asked if key not in known]:
        raise ShardError(
            f"{stage.name} {gone[0]}: the plan has no such partition any more; reload the code location",
            path=loaded.layout.plan,
        )
    return asked


def keys_to_check(
    context: dg.AssetCheckExecutionContext, loaded: LoadedRecipe, stage: Stage
) -> Sequence[str] | None:
    """Return the partitions that a check is about: those of the run, or None for all that are built.

    None is what the UI's *Execute* and the checks job mean. A run over the partitions of another asset (a
    shard, for a check of epochs) says nothing about this one, so it too means all that are built.
    """
    if stage.partitions == "none" or not (context.has_partition_key or context.has_partition_key_range):
        return None
    if context.has_partition_key:
        asked: Sequence[str] = [context.partition_key]
    else:
        keys = stage.keys(loaded)
        start, end = context.partition_key_range
        if start not in keys or end not in keys:
            return None
        asked = keys[keys.index(start) : keys.index(end) + 1]
    known = set(stage.keys(loaded))
    return [key for key in asked if key in known] or None
