"""A recipe's tagger is found, or refused with the nearest name, before any document is read."""

import pickle

import own_taggers
import pytest

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.registry import (
    anchor_files,
    fingerprint_of,
    key_prefix,
    keys_of,
    registered_taggers,
    resolve_set,
    resolve_tagger,
)
from mixle_assets.tagging.views import view_of_text


def use(name, **parameters):
    return TaggerUse(tagger=name, parameters=parameters)


def test_a_tagger_is_found_by_name():
    tagger = resolve_tagger(use("char_length_v1"))

    assert tagger.measure(view_of_text("héllo")) == {"length": 5}


def test_a_function_of_the_user_is_found_by_its_dotted_path_and_takes_parameters():
    text = view_of_text("a|b\nc|d|e")

    assert resolve_tagger(use("own_taggers.tables")).measure(text) == {"tables": [[0, 3, 1.0], [4, 9, 1.0]]}
    assert resolve_tagger(use("own_taggers.tables", threshold=2)).measure(text) == {"tables": [[4, 9, 1.0]]}


def test_a_class_is_made_once_in_a_process_however_often_it_is_used():
    before = own_taggers.Glossary.num_made
    taggers = [resolve_tagger(use("own_taggers.Glossary", words=["cat"])) for _ in range(3)]

    assert own_taggers.Glossary.num_made == before + 1
    assert taggers[0].measure(view_of_text("cat dog cat")) == {"known": [[0, 11, 2]]}
    assert taggers[0].memory_in_bytes == 1000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gopher_v11", "did you mean 'gopher_v1'"),
        ("own_taggers.tabels", "did you mean own_taggers.tables"),
        ("no_such_module.tables", "cannot be imported"),
        ("own_taggers.a_number", "is a int, not a function or class"),
        ("own taggers.x", "neither a tagger's name nor a dotted path"),
    ],
)
def test_an_unknown_tagger_is_refused_with_what_was_likely_meant(name, message):
    with pytest.raises(RecipeError, match=message):
        resolve_tagger(use(name))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (use("own_taggers.tables", treshold=3), "no parameter 'treshold'; did you mean 'threshold'"),
        (use("char_length_v1", seed=3), "no parameter 'seed'; it takes: none"),
        (use("own_taggers.tables", threshold="3"), "threshold must be a int, got '3'"),
        (use("own_taggers.tables", threshold=True), "threshold must be a int, got True"),
        (use("own_taggers.Glossary"), "needs the parameter 'words'"),
        (use("own_taggers.Glossary", words=[]), "words must name at least one word"),
    ],
)
def test_a_parameter_is_checked_against_the_signature(given, message):
    with pytest.raises(RecipeError, match=message):
        resolve_tagger(given)


def test_the_fingerprint_changes_with_a_parameter_or_a_version_and_with_nothing_else(monkeypatch):
    first = fingerprint_of(use("own_taggers.tables"))

    assert fingerprint_of(use("own_taggers.tables", threshold=1)) == first, "the default written out"
    assert fingerprint_of(use("own_taggers.tables", threshold=2)) != first
    monkeypatch.setattr(own_taggers.tables, "version", "3")
    assert fingerprint_of(use("own_taggers.tables")) != first


def test_the_keys_of_a_tagger_are_known_beforehand():
    assert keys_of("quality", use("char_length_v1")) == ("quality__char_length_v1__length",)
    assert keys_of("my-set.1", use("own_taggers.tables")) == ("my_set_1__own_taggers_tables__tables",)
    assert keys_of("quality", use("own_taggers.Glossary", words=["cat"])) is None
    assert (
        key_prefix("quality", use("own_taggers.Glossary", words=["cat"])) == "quality__own_taggers_Glossary__"
    )


def test_one_tagger_twice_in_a_set_is_refused_and_told_where_it_belongs():
    with pytest.raises(RecipeError, match="name them in two sets"):
        resolve_set("quality", [use("own_taggers.tables"), use("own_taggers.tables", threshold=2)])


@pytest.mark.parametrize("set_name", ["1st", "my--set", ".."])
def test_a_set_whose_keys_could_not_be_read_back_is_refused(set_name):
    with pytest.raises(RecipeError, match="cannot be part of an attribute key"):
        resolve_set(set_name, [use("char_length_v1")])


def test_every_registered_tagger_says_what_it_measures_in_one_line():
    for name, entry in registered_taggers().items():
        assert entry.summary.endswith("."), name
        assert entry.version, name


def test_a_use_without_file_parameters_stays_as_it_is_when_files_are_anchored():
    given = use("own_taggers.tables", threshold=2)

    assert anchor_files(given, "/recipes") is given


def test_a_use_survives_the_way_to_a_worker():
    assert pickle.loads(pickle.dumps(use("char_length_v1"))) == use("char_length_v1")  # noqa: S301
