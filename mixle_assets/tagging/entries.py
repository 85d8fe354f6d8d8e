"""A tagger before it has its parameters: what it takes, which of that are files, what it can write.

Finding a tagger by its name is ``registry``'s work.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NewType, TypeAlias

from mixle_assets import storage
from mixle_assets.errors import RecipeError
from mixle_assets.formats.lines import Block
from mixle_assets.manifest import new_hasher
from mixle_assets.records import FileStamp
from mixle_assets.tagging.views import Measures

FilePath = NewType("FilePath", str)
"""Annotates a parameter that names a file: relative to the recipe, and its content counts, not its place."""

KnownMeasures: TypeAlias = Iterable[str] | Callable[[Mapping[str, Any]], Iterable[str]] | None


class Sieve(NamedTuple):
    """What a tagger knows of documents before they are decoded, where most hold nothing for it.

    Attributes:
        make: Returns a function from a block of lines to one number for each: 0 where the document surely
            holds nothing, else what it may hold.
        measure: Measures a document, given that number as ``may_hold``, if it is not 0.
        nothing: Returns the scores of all others from their text; each is of the whole text.
        measures: The measures of these scores.
    """

    make: Callable[[], Callable[[Block], list[int]]]
    measure: Callable[..., Measures]
    nothing: Callable[[str], tuple[float, ...]]
    measures: tuple[str, ...]


class Entry(NamedTuple):
    """A registered tagger, not yet given its parameters.

    Attributes:
        name: As in a recipe.
        make: The function or class.
        version: Changes whenever a value changes; part of the fingerprint. Or a function that tells it.
        measures: All measures it can write, or a function that tells them from the parameters; None if they
            depend on the document.
        summary: First line of its docstring.
        sieve: Passes over documents that hold nothing; the values are those without it.
    """

    name: str
    make: Callable[..., Any]
    version: str | Callable[[], str]
    measures: KnownMeasures
    summary: str
    sieve: Sieve | None = None


def measures_of(entry: Entry, bound: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return all measures the tagger can write with these parameters, None if that is not known."""
    measures = entry.measures
    if measures is None:
        return None
    return tuple(measures(bound) if callable(measures) else measures)


def parameters_of(entry: Entry) -> Mapping[str, inspect.Parameter]:
    """Return what a recipe may set: the constructor's parameters, or the function's after the document."""
    parameters = dict(inspect.signature(entry.make).parameters)
    if not inspect.isclass(entry.make) and parameters:
        parameters.pop(next(iter(parameters)))
    return parameters


def file_parameters_of(entry: Entry) -> tuple[str, ...]:
    """Return the names of the parameters that are annotated ``FilePath``."""
    make = entry.make.__init__ if inspect.isclass(entry.make) else entry.make
    if "FilePath" not in str(getattr(make, "__annotations__", "")):
        return ()
    hints = typing.get_type_hints(make)
    return tuple(
        name for name, hint in hints.items() if hint == FilePath or FilePath in typing.get_args(hint)
    )


def bind(entry: Entry, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter with its value, those left at their default included.

    Raises:
        RecipeError: A parameter is unknown, missing, or of another type than the signature says.
    """
    known = parameters_of(entry)
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
    named = {
        name: one for name, one in known.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }
    for name in given:
        if name not in named and not takes_any:
            near = difflib.get_close_matches(name, named, n=1, cutoff=0.4)
            known_names = ", ".join(named) or "none"
            hint = f"; did you mean {near[0]!r}?" if near else f"; it takes: {known_names}"
            raise RecipeError(f"{entry.name} has no parameter {name!r}{hint}", key=f"taggers.{entry.name}")
    bound = {}
    for name, one in named.items():
        if name in given:
            bound[name] = _checked(entry, name, one, given[name])
        elif one.default is one.empty:
            raise RecipeError(f"{entry.name} needs the parameter {name!r}", key=f"taggers.{entry.name}")
        else:
            bound[name] = one.default
    bound.update({name: value for name, value in given.items() if name not in named})
    return bound


_CHECKED_TYPES: dict[Any, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "FilePath": (str,),
    int: (int,),
    float: (int, float),
    str: (str,),
    bool: (bool,),
    FilePath: (str,),
}


def _checked(entry: Entry, name: str, parameter: inspect.Parameter, value: Any) -> Any:
    """Refuse a value of another type than the signature says; only plain types are looked at."""
    wanted = _CHECKED_TYPES.get(parameter.annotation)
    if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
        kind = wanted[-1].__name__
        raise RecipeError(
            f"{entry.name}: {name} must be a {kind}, got {value!r}", key=f"taggers.{entry.name}"
        )
    return value


def is_relative(path: Any) -> bool:
    """Return whether a parameter is a relative local path."""
    return isinstance(path, str) and "://" not in path and not Path(path).is_absolute()


def stamp_of_file(path: str) -> FileStamp:
    """Return hash, size and time of a file that a tagger was given; read again only when it changed.

    Raises:
        RecipeError: There is no such file.
    """
    stat = storage.stat(path)
    if stat is None:
        raise RecipeError(f"there is no file {path}", key="taggers")
    return FileStamp(_hash_stored(path, stat), stat.size_in_bytes, stat.modified)


@functools.lru_cache(maxsize=64)
def _hash_stored(path: str, stat: Any) -> str:
    del stat  # part of the cache's key
    hasher = new_hasher()
    with storage.open_read(path) as file:
        while chunk := file.read(1 << 20):
            hasher.update(chunk)
    return hasher.hexdigest()
