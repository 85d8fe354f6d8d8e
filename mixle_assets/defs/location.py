"""The code location: every recipe that was named, each on its own, so that a broken one breaks no other."""

import logging
import os
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from mixle_assets.defs.assets import recipe_assets
from mixle_assets.defs.checks import recipe_checks
from mixle_assets.defs.jobs import checks_job
from mixle_assets.defs.recipe_files import find_recipe_files
from mixle_assets.defs.resources import EngineResource, Listener, ReportResource
from mixle_assets.defs.sensors import recipe_sensors
from mixle_assets.errors import MixleError
from mixle_assets.pipeline.load import DEFAULT_ROOT, LoadedRecipe, load

DEFAULT_RECIPES = "recipes"

_log = logging.getLogger(__name__)


def definitions_from_environment() -> dg.Definitions:
    """Return the definitions of the recipes in ``$MIXLE_RECIPES``, built below ``$MIXLE_ROOT``."""
    named = os.environ.get("MIXLE_RECIPES") or DEFAULT_RECIPES
    root = os.environ.get("MIXLE_ROOT") or DEFAULT_ROOT
    return location_definitions([part for part in named.split(os.pathsep) if part], root)


def location_definitions(recipes: Sequence[str], root: str) -> dg.Definitions:
    """Return the definitions of several recipes.

    A recipe that cannot be loaded, and recipes that would build into one folder, become an asset each whose
    description says why.

    Args:
        recipes: Recipe files, and folders of them.
        root: Where they build.
    """
    sound: dict[str, list[tuple[str, dg.Definitions]]] = {}
    faults: dict[str, list[str]] = {}
    for path in find_recipe_files(recipes):
        try:
            loaded = load(path, root)
            definitions = recipe_definitions(loaded)
        except MixleError as error:
            faults.setdefault(_slug_of(path), []).append(str(error))
        except Exception as error:
            # A tagger of the user's may raise anything while it is imported; the other recipes are innocent.
            trace = "".join(traceback.format_exception(error))
            faults.setdefault(_slug_of(path), []).append(f"{path}: {error!r}\n{trace}")
        else:
            sound.setdefault(loaded.recipe.slug, []).append((path, definitions))
    parts = []
    for slug, namesakes in sound.items():
        if len(namesakes) == 1:
            parts.append(namesakes[0][1])
        else:
            paths = ", ".join(path for path, _ in namesakes)
            faults.setdefault(slug, []).append(
                f"these recipes are all called {slug!r} and would build into one folder: {paths}; "
                "give each its own `name:`"
            )
    parts += [broken_recipe(slug, messages) for slug, messages in faults.items()]
    common = dg.Definitions(
        resources={"engine": EngineResource(), "listener": Listener(), "report": ReportResource()},
        executor=dg.in_process_executor,  # one step is one stage: what runs side by side is inside it
    )
    return dg.Definitions.merge(common, *parts)


def recipe_definitions(loaded: LoadedRecipe) -> dg.Definitions:
    """Return the assets, checks and the job of one recipe."""
    checks = recipe_checks(loaded)
    return dg.Definitions(
        assets=recipe_assets(loaded),
        asset_checks=checks,
        jobs=[checks_job(loaded, checks)],
        sensors=recipe_sensors(loaded),
    )


def broken_recipe(slug: str, messages: Sequence[str]) -> dg.Definitions:
    """Return an asset that stands for recipes which cannot be loaded, and fails with what is wrong."""
    message = "\n".join(messages)
    _log.error("recipe %s cannot be loaded: %s", slug, message)

    @dg.asset(
        key=[slug, "recipe"],
        group_name=slug,
        kinds={"yaml"},
        tags={"mixle/broken": ""},
        description="**This recipe cannot be loaded.** Mend it and reload the code location.\n\n"
        f"```\n{message}\n```",
    )
    def recipe() -> None:
        raise dg.Failure(message, allow_retries=False)

    return dg.Definitions(assets=[recipe])


def _slug_of(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", Path(path).stem)
