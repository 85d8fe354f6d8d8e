"""The frozen plan: which document files make which shard, under which names, and where all outputs lie."""

from mixle_assets.planning.layout import Layout
from mixle_assets.planning.plan import InputFile, PlannedFile, Shard, ShardPlan, extend_plan, plan_shards
from mixle_assets.planning.store import plan_exists, read_plan, write_plan

__all__ = [
    "InputFile",
    "Layout",
    "PlannedFile",
    "Shard",
    "ShardPlan",
    "extend_plan",
    "plan_exists",
    "plan_shards",
    "read_plan",
    "write_plan",
]
