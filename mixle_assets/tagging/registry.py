"""Which taggers there are: name or dotted path to a callable with its parameters bound.

A tagger is a function ``(document, **parameters) -> {measure: [[start, end, score], ...]}``, or a class whose
constructor takes the parameters and whose instances are called with the document, or with several by their
method ``measure_all``. What a tagger measures stands in the modules beside this one; running them over a file
in ``tagger``.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mixle_assets import storage
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.manifest import digest_of
from mixle_assets.tagging.entries import (
    Entry,
    KnownMeasures,
    Sieve,
    bind,
    file_parameters_of,
    is_relative,
    measures_of,
    stamp_of_file,
)
from mixle_assets.tagging.entries import FilePath as FilePath
from mixle_assets.tagging.views import DocumentView, Measures

if TYPE_CHECKING:
    from mixle_assets.recipe import TaggerUse

_MODULES = (
    "c4",
    "classifiers",
    "code",
    "code_secrets",
    "gopher",
    "lengths",
    "licences",
    "personal_data",
    "pii",
    "punctuation",
    "repetitions",
    "sampling",
    "starcoder",
    "urls",
    "word_breaks",
    "words",
)
"""The modules beside this one that register taggers; cheap to import, heavy packages are loaded by use."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Tagger(NamedTuple):
    """A tagger ready to be called.

    Attributes:
        name: As in the recipe.
        part: The name as it stands in attribute keys.
        measure: From a document to its measures.
        measures: All measures it can write, None if they depend on the document.
        files: Locations of the files it was given.
        memory_in_bytes: What it says it keeps in each worker, 0 if it does not say.
        sieve: Passes over documents that hold nothing, if it has one.
        measure_all: From several documents to the measures of each, if it has that.
    """

    name: str
    part: str
    measure: Callable[[DocumentView], Measures]
    measures: tuple[str, ...] | None
    files: tuple[str, ...]
    memory_in_bytes: int
    sieve: Sieve | None
    measure_all: Callable[[Sequence[DocumentView]], Sequence[Measures]] | None


_ENTRIES: dict[str, Entry] = {}


def tagger(
    name: str,
    *,
    version: str | Callable[[], str] = "1",
    measures: KnownMeasures = None,
    sieve: Sieve | None = None,
) -> Callable[[Function], Function]:
    """Register the decorated function or class under ``name``.

    Args:
        name: What a recipe calls it.
        version: To be raised whenever a value changes; a function where libraries decide values, too.
        measures: All measures it can write, or a function from its parameters to them, if that is known
            beforehand; rules over others are then dead.
        sieve: Passes over documents that hold nothing; for a tagger without parameters.

    Raises:
        ValueError: The name is taken.
    """

    def register(make: Function) -> Function:
        if name in _ENTRIES:
            raise ValueError(f"the tagger {name!r} is registered twice")
        summary = (inspect.getdoc(make) or "").partition("\n")[0]
        _ENTRIES[name] = Entry(name, make, version, measures, summary, sieve)
        return make

    return register


def registered_taggers() -> dict[str, Entry]:
    """Return all taggers that have a name, in alphabetical order."""
    for module in _MODULES:
        importlib.import_module(f"mixle_assets.tagging.{module}")
    return dict(sorted(_ENTRIES.items()))


def resolve_tagger(use: TaggerUse) -> Tagger:
    """Return the tagger a recipe names, parameters bound; the same use gives the same object in a process.

    So a worker that tags a thousand files loads a word list or a model once.

    Raises:
        RecipeError: There is no such tagger, a parameter is unknown, missing or refused, its file is missing.
    """
    return _resolve(use, fingerprint_of(use))


def fingerprint_of(use: TaggerUse) -> str:
    """Return the digest of all that decides the tagger's values.

    These are name, version and every parameter, defaults included; a file counts by its content, so a recipe
    may move and a changed word list still tags anew.

    Raises:
        RecipeError: As ``resolve_tagger``, as far as that shows without running the tagger's own code.
    """
    entry = _entry_of(use.tagger)
    bound = bind(entry, use.parameters)
    for name in file_parameters_of(entry):
        if bound[name] is not None:
            bound[name] = stamp_of_file(bound[name]).digest
    version = entry.version() if callable(entry.version) else entry.version
    try:
        return digest_of([entry.name, version, bound])
    except TypeError as error:
        raise RecipeError(f"a parameter is not plain JSON: {bound!r}", key=entry.name) from error


def keys_of(set_name: str, use: TaggerUse) -> tuple[str, ...] | None:
    """Return every attribute key this tagger can write into the set; None where that depends on the document.

    With ``quality`` and ``char_length_v1``: ``("quality__char_length_v1__length",)``.
    """
    entry = _entry_of(use.tagger)
    measures = measures_of(entry, bind(entry, use.parameters))
    return None if measures is None else tuple(attribute_key(set_name, entry.name, one) for one in measures)


def key_prefix(set_name: str, use: TaggerUse) -> str:
    """Return what every key of this tagger in the set begins with, ``<set>__<tagger>__``."""
    return attribute_key(set_name, use.tagger, "")


def attribute_key(set_name: str, tagger_name: str, measure: str) -> str:
    """Return ``<set>__<tagger>__<measure>``, each part as ``key_part`` has it."""
    return f"{key_part(set_name)}__{key_part(tagger_name)}__{key_part(measure)}"


def key_part(name: str) -> str:
    """Return a name as it stands in attribute keys: all but ASCII letters, digits and ``_`` becomes ``_``."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def resolve_set(set_name: str, uses: Iterable[TaggerUse]) -> tuple[Tagger, ...]:
    """Return the taggers of one set, or refuse names whose keys could not be told apart.

    Raises:
        RecipeError: As ``resolve_tagger``; or two taggers would write the same keys (one tagger with two sets
            of parameters belongs into two sets); or the name of the set or a tagger begins with a digit, or
            makes two underscores in a row, which a reader of keys takes for the separator.
    """
    taggers = tuple(resolve_tagger(use) for use in uses)
    if len({one.part for one in taggers}) < len(taggers):
        names = ", ".join(repr(one.name) for one in taggers)
        raise RecipeError(
            f"two taggers of one set write the same keys: {names}; name them in two sets",
            key=f"taggers.{set_name}",
        )
    for part in (set_name, *(one.name for one in taggers)):
        plain = key_part(part)
        if not plain or plain[0].isdigit() or "__" in plain:
            raise RecipeError(
                f"{part!r} cannot be part of an attribute key: it may not begin with a digit or hold "
                "two of _ . - in a row",
                key=f"taggers.{set_name}",
            )
    return taggers


def anchor_files(use: TaggerUse, folder: str) -> TaggerUse:
    """Return the use with its file parameters below ``folder`` where they are relative.

    Raises:
        RecipeError: There is no such tagger.
    """
    anchored = {
        name: storage.join(folder, use.parameters[name])
        for name in file_parameters_of(_entry_of(use.tagger))
        if name in use.parameters and is_relative(use.parameters[name])
    }
    if not anchored:
        return use
    return type(use).model_validate({"tagger": use.tagger, "parameters": {**use.parameters, **anchored}})


@functools.lru_cache(maxsize=256)
def _resolve(use: TaggerUse, fingerprint: str) -> Tagger:
    del fingerprint  # part of the cache's key: a file that changed is loaded anew
    entry = _entry_of(use.tagger)
    bound = bind(entry, use.parameters)
    has_state = inspect.isclass(entry.make)
    if has_state:
        try:
            measure: Callable[[DocumentView], Measures] = entry.make(**bound)
        except (ValueError, TypeError, InputError) as error:
            raise RecipeError(str(error), key=f"taggers.{entry.name}") from error
    else:
        measure = functools.partial(entry.make, **bound) if bound else entry.make
    return Tagger(
        name=entry.name,
        part=key_part(entry.name),
        measure=measure,
        measures=measures_of(entry, bound),
        files=tuple(bound[name] for name in file_parameters_of(entry) if bound[name] is not None),
        memory_in_bytes=int(getattr(measure, "memory_in_bytes", 0)),
        sieve=entry.sieve,
        measure_all=getattr(measure, "measure_all", None) if has_state else None,
    )


def _entry_of(name: str) -> Entry:
    known = registered_taggers()
    if name in known:
        return known[name]
    if "." in name:
        return _entry_of_path(name)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise RecipeError(
        f"there is no tagger {name!r}{hint} (one of your own goes by its dotted path)", key="taggers"
    )


def _entry_of_path(path: str) -> Entry:
    """Import a user's own tagger; its attributes ``version`` and ``measures`` are optional."""
    module_name, _, attribute = path.rpartition(".")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in path.split(".")):
        raise RecipeError(f"{path!r} is neither a tagger's name nor a dotted path", key="taggers")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise RecipeError(f"the tagger {path!r} cannot be imported: {error}", key="taggers") from error
    make = getattr(module, attribute, None)
    if make is None:
        names = [name for name, value in vars(module).items() if callable(value)]
        near = difflib.get_close_matches(attribute, names, n=1, cutoff=0.4)
        hint = f"; did you mean {module_name}.{near[0]}?" if near else ""
        raise RecipeError(f"{module_name} has no {attribute!r}{hint}", key="taggers")
    if not callable(make):
        raise RecipeError(f"{path} is a {type(make).__name__}, not a function or class", key="taggers")
    return Entry(
        name=path,
        make=make,
        version=str(getattr(make, "version", "1")),
        measures=getattr(make, "measures", None),
        summary=(inspect.getdoc(make) or "").partition("\n")[0],
    )
