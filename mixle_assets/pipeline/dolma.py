"""A Dolma mixing config, run as it is: its paths, its names, our guarantees.

Outputs go where the config says, with a manifest beside each; the plan is made anew each time, as Dolma does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mixle_assets import storage
from mixle_assets.engine import Engine
from mixle_assets.errors import MixleError, RecipeError
from mixle_assets.pipeline.build import BuildReport
from mixle_assets.pipeline.inputs import make_plan
from mixle_assets.pipeline.load import LoadedRecipe, check_recipe
from mixle_assets.pipeline.run import OnProgress, ignore_progress, run_stage
from mixle_assets.pipeline.space import find_lack_of_space
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.work import Work
from mixle_assets.planning import Layout
from mixle_assets.recipe import Recipe, Stream, load_recipe


def load_config(path: str | Path, *, places: Mapping[str, str] | None = None) -> LoadedRecipe:
    """Load a Dolma config, check it, and plan its shards.

    Args:
        path: The YAML or JSON file.
        places: Prefix of a location to the local folder that holds a copy: ``s3://bucket/x`` to ``/copy/x``.
            The longest prefix that fits counts; it must end where a folder does.

    Raises:
        RecipeError: The config is wrong, or a pattern names no file.
    """
    recipe = load_recipe(path, mode="dolma")
    if places:
        streams = tuple(_map_stream(stream, places) for stream in recipe.streams)
        recipe = recipe.model_copy(update={"streams": streams})
    warnings = check_recipe(recipe)
    loaded = LoadedRecipe(recipe, Layout(_common_folder(recipe), ""), tuple(warnings))
    plan, plan_warnings = make_plan(loaded)
    return replace(loaded, given_plan=plan, warnings=(*warnings, *plan_warnings))


def mix(
    loaded: LoadedRecipe,
    engine: Engine,
    *,
    on_progress: OnProgress = ignore_progress,
    wait_in_seconds: float = 0.0,
) -> BuildReport:
    """Mix all shards of a Dolma config; finished ones whose inputs and rules are the same are left.

    Raises:
        LeaseError: Another run writes into the same folder.
    """
    report = BuildReport(warnings=list(loaded.warnings))
    stage = STAGES["mixed_shards"]
    folder = loaded.layout.folder
    with storage.hold_lease(folder, wait_in_seconds=wait_in_seconds):
        storage.remove_partial_files(folder)
        report.warnings += find_lack_of_space(*_work_and_sizes(loaded))
        report.outcomes.append(run_stage(loaded, stage, stage.keys(loaded), engine, on_progress=on_progress))
    return report


def _work_and_sizes(loaded: LoadedRecipe) -> tuple[list[Work], list[int]]:
    """Return the mixing of every shard whose inputs are there, and the stored size of its documents."""
    works: list[Work] = []
    sizes: list[int] = []
    for shard in loaded.plan.shards:
        try:
            works += STAGES["mixed_shards"].find_work(loaded, shard.key)
        except MixleError:
            continue  # said by the shard itself, when it is its turn
        sizes.append(sum(file.size_in_bytes for file in shard.files))
    return works, sizes


def parse_places(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return ``URL=DIR`` pairs as a mapping.

    Raises:
        RecipeError: A pair has no ``=``, or its folder is not there.
    """
    places = {}
    for pair in pairs:
        prefix, equals, folder = pair.partition("=")
        if not equals or not prefix or not folder:
            raise RecipeError(f"--map takes URL=DIR, got {pair!r}")
        places[prefix.rstrip("/")] = os.path.abspath(folder)  # noqa: PTH100
    return places


def _map_stream(stream: Stream, places: Mapping[str, str]) -> Stream:
    path = stream.output.path
    return stream.model_copy(
        update={
            "documents": tuple(_map_location(pattern, places) for pattern in stream.documents),
            "output": stream.output.model_copy(update={"path": path and _map_location(path, places)}),
        }
    )


def _map_location(location: str, places: Mapping[str, str]) -> str:
    for prefix in sorted(places, key=len, reverse=True):
        if location == prefix or location.startswith(prefix + "/"):
            return places[prefix] + location[len(prefix) :]
    return location


def _common_folder(recipe: Recipe) -> str:
    """Return the folder that all outputs lie below: what a run leases and sweeps."""
    paths = [storage.absolute(recipe.locate(stream.output.path or "")) for stream in recipe.streams]
    if not any(map(storage.is_object, paths)):
        return os.path.commonpath(paths)
    store = paths[0].partition("://")[0] + "://"
    if all(path.startswith(store) for path in paths):
        common = os.path.commonpath([path.removeprefix(store) for path in paths])
        return store + common if common else paths[0]
    return paths[0]  # outputs in several stores have no folder in common
