"""The plan on disk: ``plan.json``, with places that survive when the root or the recipe is moved."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import orjson

from mixle_assets.errors import InputError
from mixle_assets.planning.layout import Layout
from mixle_assets.planning.plan import Shard, ShardPlan
from mixle_assets.storage import exists, join, read_bytes, relative, write_whole

PLAN_VERSION = 1


class _StoredPlan(msgspec.Struct, frozen=True):
    version: int
    shards: tuple[Shard, ...]


def plan_exists(layout: Layout) -> bool:
    """Return whether a plan was frozen for the recipe."""
    return exists(layout.plan)


def write_plan(layout: Layout, plan: ShardPlan, *, recipe_folder: str) -> None:
    """Freeze the plan: files below the recipe's folder or the root are written relative to it."""

    def as_stored(path: str) -> str:
        return _relative(path, layout.folder, recipe_folder)

    stored = _StoredPlan(PLAN_VERSION, tuple(_map_paths(shard, as_stored) for shard in plan.shards))
    content = orjson.dumps(
        msgspec.to_builtins(stored), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    with write_whole(layout.plan) as file:
        file.write(content)


def read_plan(layout: Layout, *, recipe_folder: str) -> ShardPlan:
    """Return the frozen plan.

    Raises:
        InputError: There is none, or it is damaged or of another version.
    """
    content = read_bytes(layout.plan)
    try:
        stored = msgspec.json.decode(content, type=_StoredPlan)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InputError(f"is not a plan: {error}; plan anew with --replan", path=layout.plan) from error
    if stored.version != PLAN_VERSION:
        raise InputError(
            f"is a plan of version {stored.version}, this is version {PLAN_VERSION}; plan anew with --replan",
            path=layout.plan,
        )

    def absolute(path: str) -> str:
        return _absolute(path, layout.folder, recipe_folder)

    return ShardPlan(tuple(_map_paths(shard, absolute) for shard in stored.shards))


def _map_paths(shard: Shard, change: Callable[[str], str]) -> Shard:
    files = tuple(msgspec.structs.replace(file, path=change(file.path)) for file in shard.files)
    return msgspec.structs.replace(shard, files=files)


_ROOT, _RECIPE = "root:", "recipe:"


def _relative(path: str, root: str, recipe_folder: str) -> str:
    for prefix, folder in ((_ROOT, root), (_RECIPE, recipe_folder)):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return prefix + relative(path, folder)
    return path


def _absolute(path: str, root: str, recipe_folder: str) -> str:
    for prefix, folder in ((_ROOT, root), (_RECIPE, recipe_folder)):
        if path.startswith(prefix):
            return join(folder, path.removeprefix(prefix))
    return path
