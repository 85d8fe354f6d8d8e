"""The document files of a recipe as they lie there now, and the freezing of the plan over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mixle_assets import storage
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.pipeline.asking import ask_all
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.planning import InputFile, ShardPlan, extend_plan, write_plan

MANY_SHARDS = 10_000


@dataclass(frozen=True)
class PlanChange:
    """What freezing a plan did.

    Attributes:
        plan: The plan that is frozen now.
        new_keys: Shards that were not there before.
        warnings: What the user should know: repeated files, too many shards.
    """

    plan: ShardPlan
    new_keys: tuple[str, ...]
    warnings: tuple[str, ...]


def list_documents(loaded: LoadedRecipe) -> tuple[dict[str, list[InputFile]], list[str]]:
    """Return the document files of each stream in order, and what is worth a warning.

    A file that two patterns of a stream name counts once, at its first place.

    Raises:
        RecipeError: A pattern names no file; the pattern is quoted with its line.
        InputError: Documents that are made here are not made yet.
    """
    inputs: dict[str, list[InputFile]] = {}
    warnings: list[str] = []
    for stream, paths in _list_paths(loaded).items():
        once, repeated = _once_each(paths)
        inputs[stream] = list(ask_all(loaded, _stat, once))
        warnings += [f"stream {stream}: {path} is listed more than once and counts once" for path in repeated]
    return inputs, warnings


def _list_paths(loaded: LoadedRecipe) -> dict[str, list[str]]:
    """Return the document files of each stream as its patterns name them; see ``list_documents``."""
    listed: dict[str, list[str]] = {}
    for index, stream in enumerate(loaded.recipe.streams):
        if stream.source is not None:
            folder = loaded.layout.documents_folder(stream.name)
            paths = [storage.join(folder, name) for name in storage.list_folder(folder)]
            if not paths:
                raise InputError(f"the documents of stream {stream.name!r} are not made yet", path=folder)
        else:
            paths = []
            for number, pattern in enumerate(stream.documents):
                found = storage.find_files(loaded.recipe.locate_pattern(pattern))
                if not found:
                    key = f"streams.{index}.documents.{number}"
                    raise RecipeError(
                        f"the pattern {pattern!r} names no file",
                        path=loaded.recipe.path,
                        line=loaded.recipe.line_of(key),
                        key=key,
                    )
                paths += found
        listed[stream.name] = paths
    return listed


def _once_each(paths: list[str]) -> tuple[list[str], list[str]]:
    """Return the files in their order, each at its first place, and those that came again."""
    once: dict[str, str] = {}
    repeated = []
    for path in paths:
        identity = storage.identity(path)
        if identity in once:
            repeated.append(path)
        else:
            once[identity] = path
    return list(once.values()), repeated


def _stat(path: str) -> InputFile:
    status = storage.stat(path)
    if status is None:
        raise InputError("was listed a moment ago and is gone", path=path)
    return InputFile(path, status.size_in_bytes, status.modified)


def freeze_plan(loaded: LoadedRecipe, *, replan: bool = False) -> PlanChange:
    """Freeze the shard plan: the first one, an extension by new files, or a new one in place of the old.

    Args:
        loaded: The recipe.
        replan: Plan anew; shards may then change their files, and are rebuilt where they do.
    """
    inputs, warnings = list_documents(loaded)
    before = loaded.plan if loaded.is_planned and not replan else ShardPlan()
    plan = extend_plan(before, inputs, **_limits(loaded))
    if len(plan.shards) > MANY_SHARDS:
        warnings.append(
            f"{len(plan.shards):,} shards: the Dagster UI is slow beyond {MANY_SHARDS:,}; "
            "a larger output.max_size_in_bytes makes fewer"
        )
    if plan != before:
        write_plan(loaded.layout, plan, recipe_folder=loaded.folder)
    old_keys = set(before.keys)
    return PlanChange(plan, tuple(key for key in plan.keys if key not in old_keys), tuple(warnings))


def make_plan(loaded: LoadedRecipe) -> tuple[ShardPlan, list[str]]:
    """Return the plan of what lies there now, and what is worth a warning; nothing is frozen."""
    inputs, warnings = list_documents(loaded)
    return extend_plan(ShardPlan(), inputs, **_limits(loaded)), warnings


def find_unplanned_files(loaded: LoadedRecipe) -> list[str]:
    """Return the document files that the recipe names and the frozen plan does not have, in order."""
    planned = {(shard.stream, file.path) for shard in loaded.plan.shards for file in shard.files}
    return [
        path
        for stream, paths in _list_paths(loaded).items()
        for path in _once_each(paths)[0]
        if (stream, path) not in planned
    ]


def _limits(loaded: LoadedRecipe) -> dict[str, Any]:
    return {
        "max_size_in_bytes": {
            stream.name: stream.output.max_size_in_bytes for stream in loaded.recipe.streams
        },
        "one_per_file": not loaded.recipe.shuffle,
    }
