import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import RecipeError
from mixle_assets.recipe import parse_recipe
from mixle_assets.recipe.interpolation import escape, resolve

ENVIRON = {"HOME": "/home/me", "ALPHA": "0.3", "EMPTY": "", "NUMBER": "12", "S3_SECRET": "hunter2"}


def no_default(key):
    raise KeyError(key)


def resolved(value):
    def error_at(message, key):
        return RecipeError(message, key=".".join(map(str, key)))

    return resolve(value, environ=ENVIRON, default_of=no_default, error_at=error_at)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${oc.env:HOME}/corpora", "/home/me/corpora"),
        ("(${oc.env:ALPHA} * .x)", "(0.3 * .x)"),
        ("${oc.env:EMPTY}", ""),
        ("${oc.env:NOBODY,}", ""),
        ("${oc.env:NOBODY,some text}", "some text"),
        ("${oc.env:NOBODY, 'a, b}'}", "a, b}"),
        ("${oc.env:NOBODY,${oc.env:HOME}}", "/home/me"),
        ("${oc.env:${oc.env:NOBODY,HOME}}", "/home/me"),
        (r"\${oc.env:HOME}", "${oc.env:HOME}"),
        (r"^\${", "^${"),
        (r"\\${oc.env:NUMBER}", r"\12"),
        (r"\\\${x}", r"\${x}"),
        (r"C:\temp\$ {}", r"C:\temp\$ {}"),
        ("$.attributes[?(@.x)]", "$.attributes[?(@.x)]"),
        ("${a.b[1]}", "two"),
        ("${a[b].1}", "two"),
        ("x${a.b.0}${a.b.1}", "xonetwo"),
    ],
)
def test_a_text_is_interpolated(text, value):
    assert resolved({"a": {"b": ["one", "two"]}, "key": text}).value["key"] == value


def test_a_reference_that_is_a_whole_value_takes_lists_and_mappings():
    value = resolved({"a": {"b": ["one", {"c": "${oc.env:HOME}"}]}, "key": "${a.b}"}).value

    assert value["key"] == ["one", {"c": "/home/me"}]


def test_a_leading_dot_starts_at_the_mapping_the_text_stands_in_and_each_more_one_higher():
    value = {
        "streams": [{"name": "${.output.path}", "output": {"path": "/p", "up": "${..weight}"}, "weight": "w"}]
    }

    stream = resolved(value).value["streams"][0]

    assert stream["name"] == "/p"
    assert stream["output"]["up"] == "w"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${oc.env:NOBODY}", "the environment variable NOBODY is not set"),
        ("${nobody}", "no key nobody"),
        ("${id}", r"a literal `${` is written \${"),
        ("^${')", r"a literal one is written \${"),
        ("${key}", "refers to itself: key -> key"),
        ("${other:1}", "${other:1} is not known; there are oc.env:NAME"),
        ("${}", "names no key"),
        ("${d.cache:s3://x}", "name the location itself"),
        ("${d.glob:*}", "stands for `documents` only"),
        ("a ${a}", "cannot stand inside a text"),
    ],
)
def test_what_cannot_be_interpolated_is_refused_with_key_and_way_out(text, message):
    with pytest.raises(RecipeError) as raised:
        resolved({"a": {"b": []}, "key": text})

    assert raised.value.key == "key"
    assert message in raised.value.message


def test_two_keys_that_refer_to_each_other_are_refused():
    with pytest.raises(RecipeError, match="refers to itself: a -> b -> a"):
        resolved({"a": "${b}", "b": "x${a}"})


def test_references_reach_defaults_and_take_the_type_that_is_due():
    recipe = parse_recipe(
        "streams:\n- name: 'n${streams[0].output.max_size_in_bytes}'\n"
        "  documents: [x]\n  weight: '${packing.block}'\n"
        "packing: {seed: '${oc.env:NUMBER}', epochs: '${oc.env:NOBODY,3}'}\n",
        path="x.yaml",
        environ=ENVIRON,
    )

    assert recipe.streams[0].name == "n2147483648"
    assert recipe.streams[0].weight == 1024.0
    assert (recipe.packing.seed, recipe.packing.epochs) == (12, 3)


def test_the_number_of_cores_may_be_asked_for_and_is_at_least_one():
    recipe = parse_recipe(
        "streams: [{name: a, documents: [x]}]\nexecution: {workers: '${d.processes:1000000}'}", path="x.yaml"
    )
    assert recipe.execution.workers == 1

    recipe = parse_recipe(
        "streams: [{name: a, documents: [x]}]\nexecution: {workers: '${d.processes:}'}", path="x.yaml"
    )
    assert recipe.execution.workers == os.cpu_count()


def test_a_glob_as_documents_is_the_pattern_itself():
    recipe = parse_recipe("streams: [{name: a, documents: '${d.glob:in/*.gz}'}]", path="x.yaml")

    assert recipe.streams[0].documents == ("in/*.gz",)


def test_secrets_stay_out_of_messages():
    with pytest.raises(RecipeError) as raised:
        parse_recipe(
            "streams: [{name: a, documents: [x], weight: '${oc.env:S3_SECRET}'}]",
            path="x.yaml",
            environ=ENVIRON,
        )

    assert str(raised.value) == "x.yaml:1: streams.0.weight: must be a number, got '***'"


@settings(deadline=None)
@given(text=st.text(alphabet="\\${}a:.'"))
def test_escaped_text_comes_back_as_it_was(text):
    assert resolved({"key": escape(text)}).value == {"key": text}
