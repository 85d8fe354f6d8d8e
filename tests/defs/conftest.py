"""Fixtures of these tests; what they are made of stands in the module beside this one."""

from small_graph import (
    built,
    instance,
    loaded,
    recipe_path,
    root,
    run,
)

__all__ = [
    "built",
    "instance",
    "loaded",
    "recipe_path",
    "root",
    "run",
]
