"""Which keys exist, where, and which one somebody meant who wrote another.

Read off the models, so that a key is added in one place. Two kinds of file: our own recipes, and Dolma's
mixing configs, which know fewer keys and three of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from mixle_assets.recipe.models import Recipe, SelectorUse, WorkDir
from mixle_assets.recipe.scalars import Section
from mixle_assets.recipe.streams import TaggerUse
from mixle_assets.recipe.yaml_text import Key, dotted

Mode: TypeAlias = Literal["recipe", "dolma"]

Place: TypeAlias = tuple[str, ...]
"""A key of every recipe: ``("streams", "*", "filter", "exclude")``, ``*`` for an index or a set's name."""

_DOLMA_ONLY: dict[str, type[Section] | None] = {"processes": None, "dryrun": None, "work_dir": WorkDir}
_DOLMA_KEYS: dict[Place, set[str]] = {
    (): {"streams", "shuffle", "tolerate", *_DOLMA_ONLY},
    ("streams", "*"): {
        "name",
        "documents",
        "attributes",
        "filter",
        "span_replacement",
        "output",
        "compression",
    },
    ("streams", "*", "filter"): {"syntax", "include", "exclude"},
}
"""Where Dolma's files know fewer keys than our own: those they know."""


class Entry(NamedTuple):
    """One key as the models know it; ``field`` is None for a key that only Dolma's files have."""

    place: Place
    field: FieldInfo | None
    model: type[Section] | None


def _model_in(annotation: Any) -> tuple[type[Section] | None, bool]:
    """Return the section that an annotation holds, and whether it holds many."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return (None, False) if annotation in (TaggerUse, SelectorUse) else (annotation, False)
    origin = get_origin(annotation)
    if origin is Annotated or origin in (Union, UnionType):
        found = [_model_in(part) for part in get_args(annotation)]
        return next((each for each in found if each[0] is not None), (None, False))
    if origin is tuple:
        return _model_in(get_args(annotation)[0])[0], True
    return None, False


def _walk(model: type[Section], above: Place) -> Iterator[Entry]:
    for name, field in model.model_fields.items():
        if field.exclude:
            continue
        inner, many = _model_in(field.annotation)
        place = (*above, name)
        yield Entry(place, field, inner)
        if inner is not None:
            yield from _walk(inner, (*place, "*") if many else place)


@cache
def entries(mode: Mode) -> dict[Place, Entry]:
    """Return every key that a kind of file knows, in the order of the models."""
    every = {entry.place: entry for entry in _walk(Recipe, ())}
    if mode == "recipe":
        return {place: entry for place, entry in every.items() if place != ("streams", "*", "output", "path")}
    for name, model in _DOLMA_ONLY.items():
        every[(name,)] = Entry((name,), None, model)
    every |= {entry.place: entry for entry in _walk(WorkDir, ("work_dir",))}

    def is_known(place: Place) -> bool:
        above = [place[:length] for length in range(len(place))]
        return all(place[len(each)] in _DOLMA_KEYS.get(each, (place[len(each)],)) for each in above)

    return {place: entry for place, entry in every.items() if is_known(place)}


def place_of(key: Key) -> Place:
    """Return the place of a key: indices become ``*``."""
    return tuple("*" if isinstance(part, int) else part for part in key)


def default_of(key: Key) -> Any:
    """Return the default of a key in the shape of a file: mappings, lists, scalars.

    Raises:
        KeyError: There is no such key, or it has no default.
    """
    place = place_of(key)
    if place == ("processes",):
        return 1
    every: dict[Place, Entry] = entries("recipe") | entries("dolma")
    field = every[place].field
    if field is None or field.is_required():
        raise KeyError(dotted(key))
    default = field.get_default(call_default_factory=True)
    return default.model_dump() if isinstance(default, Section) else default


def nearest_word(word: str, words: list[str]) -> str:
    """Return ``": did you mean ...?"`` for the nearest of ``words``, or nothing if none is near."""
    nearest = min(words, key=lambda each: distance(word, each))
    return f": did you mean {nearest}?" if distance(word, nearest) <= max(1, len(word) // 3) else ""


def _text_of(place: Place) -> str:
    return ".".join(place).replace(".*", "[]")


def find_unknown_keys(value: Any, mode: Mode, key: Key = ()) -> Iterator[tuple[Key, str]]:
    """Yield every key that does not exist, with what to say of it, in the order of the file.

    Below a key whose content is free (tagger sets, parameters) nothing is looked at.
    """
    known = entries(mode)
    place = place_of(key)
    if isinstance(value, dict):
        if _goes_on((*place, "*"), known):
            return  # a mapping where a list is due: the models say so
        allowed = [each[-1] for each in known if each[:-1] == place]
        for name, item in value.items():
            if name in allowed:
                if _goes_on((*place, name), known):
                    yield from find_unknown_keys(item, mode, (*key, name))
            else:
                yield (*key, name), _meant(name, place, mode)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if _goes_on((*place, "*"), known):
                yield from find_unknown_keys(item, mode, (*key, index))


def _goes_on(place: Place, known: dict[Place, Entry]) -> bool:
    return any(len(each) > len(place) and each[: len(place)] == place for each in known)


_ELSEWHERE = {
    ("recipe", "processes"): "execution.workers",
    ("recipe", "work_dir"): "nothing: everything made lies under the root",
    ("recipe", "dryrun"): "the command `preview`",
}


def _meant(name: str, place: Place, mode: Mode) -> str:
    """Say what to write for an unknown ``name`` at ``place``."""
    here = _text_of(place) or "the top of the file"
    said = f"unknown key `{name}` in {here}"
    if (mode, name) in _ELSEWHERE:
        here = _ELSEWHERE[mode, name]
        return f"{said}: a key of Dolma configs, whose streams have output.path; here it is {here}"
    known = entries(mode)
    exact = [each for each in known if each[-1] == name]
    if exact:
        nearest = min(exact, key=lambda each: _steps(place, each[:-1]))
        return f"{said}: did you mean {_text_of(nearest)}?"
    ranked = min(
        known, key=lambda each: (distance(name, each[-1]), each[:-1] != place, _steps(place, each[:-1]))
    )
    if distance(name, ranked[-1]) <= max(1, len(name) // 3):
        meant = ranked[-1] if ranked[:-1] == place else _text_of(ranked)
        return f"{said}: did you mean `{meant}`?"
    if mode == "dolma" and any(each[-1] == name for each in entries("recipe")):
        return f"{said}: a key of our own recipes; this is a Dolma config, since its streams have output.path"
    allowed = [each[-1] for each in known if each[:-1] == place]
    return f"{said}: there are {', '.join(allowed)}"


def _steps(one: Place, other: Place) -> int:
    """Return the number of steps up and down between two places in the tree of keys."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return len(one) + len(other) - 2 * shared


@cache
def distance(one: str, other: str) -> int:
    """Return how many slips turn one word into another: a letter more, less, another, or two swapped."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, above, row = row, before, [i]
        for j, aim in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != aim))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == aim:
                best = min(best, above[j - 2] + 1)
            row.append(best)
    return row[-1]
