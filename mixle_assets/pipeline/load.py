"""From a file to a recipe that is known to work: parsed, every expression compiled, every name resolved.

Nothing of the data is read here. What is refused here costs seconds; what is not costs a night. Taggers,
tokenizers and packing are imported only for a recipe that has them: mixing alone starts at once.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mixle_assets.errors import ExpressionError, InputError, RecipeError
from mixle_assets.expressions import compile_replacement, compile_selector, find_traps
from mixle_assets.mixing.filters import compile_rules
from mixle_assets.pipeline.beside import path_beside
from mixle_assets.planning import Layout, PlannedFile, Shard, ShardPlan, plan_exists, read_plan
from mixle_assets.recipe import Recipe, Stream, load_recipe
from mixle_assets.storage import absolute

DEFAULT_ROOT = "corpora"
DUPLICATES_SET = "duplicates"


@dataclass(frozen=True)
class LoadedRecipe:
    """A checked recipe and the places it builds in.

    Attributes:
        recipe: The recipe, its ``path`` made absolute.
        layout: Where its outputs lie.
        warnings: What is allowed, but probably not meant.
        given_plan: A plan that is made anew each time instead of being frozen: that of a Dolma config.
    """

    recipe: Recipe
    layout: Layout
    warnings: tuple[str, ...] = field(default=())
    given_plan: ShardPlan | None = None

    @property
    def folder(self) -> str:
        """The folder of the recipe file, from which its relative paths start."""
        return os.path.dirname(self.recipe.path or os.path.abspath("recipe"))  # noqa: PTH100, PTH120

    @cached_property
    def plan(self) -> ShardPlan:
        """The frozen shard plan, read once.

        Raises:
            InputError: There is none yet.
        """
        if self.given_plan is not None:
            return self.given_plan
        return read_plan(self.layout, recipe_folder=self.folder)

    @cached_property
    def shards(self) -> dict[str, Shard]:
        """The shards of the plan by their keys."""
        return {shard.key: shard for shard in self.plan.shards}

    @property
    def is_planned(self) -> bool:
        """Whether there is a shard plan."""
        return self.given_plan is not None or plan_exists(self.layout)

    def attributes(self, attribute_set: str, stream: Stream, file: PlannedFile) -> str:
        """Return where the attribute file of one of our own sets lies for a document file.

        Below the root, or, with ``execution.attributes_place: beside``, where Dolma's mixer looks for it.

        Raises:
            RecipeError: ``beside``, but the documents lie below no folder ``documents``.
        """
        if self.recipe.execution.attributes_place == "root" or stream.source is not None:
            return self.layout.attributes(attribute_set, stream.name, file)
        return path_beside(file.path, attribute_set, recipe=self.recipe)

    def mixed_folder(self, stream: Stream) -> str:
        """Return the folder of a stream's mixed shards: below the root, or where a Dolma config says."""
        if stream.output.path is not None:
            return self.recipe.locate(stream.output.path)
        return self.layout.mixed_shards


def load(path: str | Path, root: str | None = None) -> LoadedRecipe:
    """Load a recipe and check all that can be checked without data.

    Args:
        path: The YAML file.
        root: Where to build, a folder or a URL; default: ``$MIXLE_ROOT``, else ``corpora`` in the working
            directory.

    Raises:
        RecipeError: The file, an expression, a tagger or the tokenizer is wrong; names file, line and key.
    """
    recipe = _anchor_tagger_files(load_recipe(os.path.abspath(path), mode="recipe"))  # noqa: PTH100
    root = absolute(root or os.environ.get("MIXLE_ROOT", DEFAULT_ROOT))
    return LoadedRecipe(recipe, Layout(root, recipe.slug), tuple(check_recipe(recipe)))


def check_recipe(recipe: Recipe) -> list[str]:
    """Compile every expression, resolve every name, and return what is worth a warning.

    Raises:
        RecipeError: Something does not compile or is not there; names file, line and key.
    """
    warnings: list[str] = []
    for index, stream in enumerate(recipe.streams):
        _check_stream(recipe, stream, f"streams.{index}", warnings)
    if recipe.tokenizer is not None and recipe.tokenizer.train is None:
        from mixle_assets.tokenizers import load_tokenizer

        with _at(recipe, "tokenizer"):
            load_tokenizer(recipe.tokenizer, base_folder=os.path.dirname(recipe.path or ""))  # noqa: PTH120
    if recipe.packing.selector is not None:
        from mixle_assets.packing.selectors import recipe_selector

        with _at(recipe, "packing"):
            recipe_selector(recipe.packing.selector)
    return warnings


def _check_stream(recipe: Recipe, stream: Stream, key: str, warnings: list[str]) -> None:
    for attribute_set in (*stream.taggers, *stream.attributes):
        if attribute_set == DUPLICATES_SET and stream.dedupe is not None:
            raise RecipeError(
                f"the set {DUPLICATES_SET!r} is written by dedupe; give this one another name",
                path=recipe.path,
                line=recipe.line_of(f"{key}.taggers"),
                key=f"{key}.taggers",
            )
    marks = duplicate_keys(stream)
    tagged, prefixes = _resolve_taggers(recipe, stream, key) if stream.taggers else (frozenset(), ())
    named: list[tuple[str, frozenset[str] | None]] = []  # None: it may read any attribute
    if stream.filter is not None:
        for kind in ("include", "exclude"):
            for number, expression in enumerate(getattr(stream.filter, kind)):
                where = f"{key}.filter.{kind}.{number}"
                with _at(recipe, where):
                    rules = compile_rules(
                        (expression,) if kind == "include" else (),
                        (expression,) if kind == "exclude" else (),
                        syntax=stream.filter.syntax,
                        missing_value=stream.filter.missing_value,
                    )
                named.append((where, rules.attribute_keys))
                _look_for_traps(recipe, stream.filter.syntax, kind, expression, where, warnings)
    for number, replacement in enumerate(stream.span_replacement):
        where = f"{key}.span_replacement.{number}"
        with _at(recipe, f"{where}.span"):
            selector = compile_selector(replacement.span, replacement.syntax)
        with _at(recipe, f"{where}.replacement"):
            compile_replacement(replacement.replacement)
        named.append((f"{where}.span", selector.attribute_keys))
    _find_dead_rules(recipe, stream, _WrittenKeys(tagged | marks, prefixes), named, warnings)
    warnings.extend(
        f"{recipe.path}:{recipe.line_of(f'{key}.dedupe')}: stream {stream.name!r} marks duplicates as "
        f"{mark}, but no rule and no span names it, so nothing is dropped"
        for mark in sorted(marks)
        if not any(keys is None or mark in keys for _, keys in named)
    )


# What of a doubtful rule is worth a warning at every load; `mixle-assets lint` says all there is.
_WARNED_TRAPS = {"empty_matches", "missing_matches", "regex_range", "unquoted_key"}


def _look_for_traps(
    recipe: Recipe, syntax: str, kind: str, expression: str, where: str, warnings: list[str]
) -> None:
    """Refuse a rule that can never match, and warn of one that hardly means what it says."""
    for trap in find_traps(expression, syntax, role="include" if kind == "include" else "exclude"):
        if trap.kind == "never" and recipe.tolerate.dead_rule == "error":
            raise RecipeError(
                f"the rule can never match: {trap.message}",
                path=recipe.path,
                line=recipe.line_of(where),
                key=where,
                rule=expression,
            )
        if trap.kind in _WARNED_TRAPS | {"never"}:
            warnings.append(f"{recipe.path}:{recipe.line_of(where)}: {where}: {trap.message}")


def duplicate_keys(stream: Stream) -> frozenset[str]:
    """Return the attribute keys that a stream's ``dedupe`` section writes."""
    if stream.dedupe is None:
        return frozenset()
    kinds = ("documents", "paragraphs", "near_documents", "decontamination")
    sections = (getattr(stream.dedupe, kind) for kind in kinds)
    keys = {section.attribute_name for section in sections if section is not None}
    if stream.dedupe.paragraphs is not None and stream.dedupe.paragraphs.share_name is not None:
        keys.add(stream.dedupe.paragraphs.share_name)
    return frozenset(keys)


class _WrittenKeys(NamedTuple):
    """The attribute keys that a stream's own work writes: ``keys``, and any that begin with a prefix."""

    keys: frozenset[str]
    prefixes: tuple[str, ...]


def _resolve_taggers(recipe: Recipe, stream: Stream, key: str) -> _WrittenKeys:
    """Resolve the taggers of a stream and return the keys they write, as far as that is known beforehand."""
    from mixle_assets.tagging.registry import key_prefix, keys_of, resolve_set, resolve_tagger

    written: set[str] = set()
    prefixes: list[str] = []
    for attribute_set, uses in stream.taggers.items():
        for number, use in enumerate(uses):
            with _at(recipe, f"{key}.taggers.{attribute_set}.{number}"):
                resolve_tagger(use)
                keys = keys_of(attribute_set, use)
            written.update(keys or ())
            if keys is None:  # what it measures depends on the document
                prefixes.append(key_prefix(attribute_set, use))
        with _at(recipe, f"{key}.taggers.{attribute_set}"):
            resolve_set(attribute_set, uses)
    return _WrittenKeys(frozenset(written), tuple(prefixes))


def _anchor_tagger_files(recipe: Recipe) -> Recipe:
    """Return the recipe with relative files of taggers, such as word lists, found from its own folder."""
    if not any(stream.taggers for stream in recipe.streams):
        return recipe
    from mixle_assets.tagging.registry import anchor_files

    folder = os.path.dirname(recipe.path or "")  # noqa: PTH120
    streams = []
    for index, stream in enumerate(recipe.streams):
        sets = {}
        for name, uses in stream.taggers.items():
            with _at(recipe, f"streams.{index}.taggers.{name}"):
                sets[name] = tuple(anchor_files(use, folder) for use in uses)
        streams.append(stream.model_copy(update={"taggers": type(stream.taggers)(sets)}))
    return recipe.model_copy(update={"streams": tuple(streams)})


def _find_dead_rules(
    recipe: Recipe,
    stream: Stream,
    written: _WrittenKeys,
    named: list[tuple[str, frozenset[str] | None]],
    warnings: list[str],
) -> None:
    """Refuse a rule over attributes that only our own work could write, and does not."""
    own_sets = tuple(f"{name}__" for name in stream.taggers)
    for where, keys in named:
        for name in sorted((keys or frozenset()) - written.keys):
            if name.startswith(written.prefixes):
                continue
            # Documents made here bring no attributes along; others may, and so may foreign sets.
            if not (stream.source is not None and not stream.attributes) and not name.startswith(own_sets):
                continue
            nearest = difflib.get_close_matches(name, sorted(written.keys), n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            message = f"no tagger of this stream writes the attribute {name!r}, so the rule never fires{hint}"
            if recipe.tolerate.dead_rule == "error":
                raise RecipeError(message, path=recipe.path, line=recipe.line_of(where), key=where)
            warnings.append(f"{recipe.path}:{recipe.line_of(where)}: {where}: {message}")


@contextmanager
def _at(recipe: Recipe, key: str) -> Iterator[None]:
    """Give an error of the block its place in the recipe."""
    try:
        yield
    except ExpressionError as error:
        message = (
            f"{error.message} (column {error.column} of the expression)" if error.column else error.message
        )
        raise RecipeError(
            message, path=recipe.path, line=recipe.line_of(key), key=key, rule=error.rule
        ) from error
    except InputError as error:  # a file that the recipe names
        raise RecipeError(str(error), path=recipe.path, line=recipe.line_of(key), key=key) from error
    except RecipeError as error:
        raise error.at(path=recipe.path, line=recipe.line_of(key), key=key) from None
