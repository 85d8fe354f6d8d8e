"""The code location that Dagster loads: the recipes of ``$MIXLE_RECIPES``, built below ``$MIXLE_ROOT``."""

from mixle_assets.defs.location import definitions_from_environment

defs = definitions_from_environment()
