"""The recipes that come with the project: both dialects of one corpus say the same."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.mixing.filters import compile_rules
from mixle_assets.recipe import load_recipe

RECIPES = Path(__file__).parents[2] / "recipes"
JSONPATH = load_recipe(RECIPES / "stdlib.yaml")
JQ = load_recipe(RECIPES / "stdlib-jq.yaml")

RULE = re.compile(r"\$\.attributes\[\?\(@\.(\w+)\[0\]\[2\] (<|>|>=) ([0-9.]+)\)\]")


def rules_of(recipe, stream):
    rules = recipe.stream(stream).filter
    return compile_rules(rules.include, rules.exclude, syntax=rules.syntax, missing_value=rules.missing_value)


def test_the_two_recipes_differ_in_the_language_of_their_rules_alone():
    def without_rules(recipe):
        plain = recipe.model_dump(exclude={"name"})
        for stream in plain["streams"]:
            del stream["filter"]["syntax"], stream["filter"]["exclude"]
            for rule in stream["span_replacement"]:
                rule["span"] = rule["span"].removeprefix("$")
                del rule["syntax"]
        return plain

    assert without_rules(JSONPATH) == without_rules(JQ)
    assert {stream.filter.syntax for stream in JQ.streams} == {"jq"}
    assert (JSONPATH.slug, JQ.slug) == ("stdlib", "stdlib_jq")


@pytest.mark.parametrize("stream", ["prose", "code"])
def test_each_rule_drops_what_lies_beyond_its_threshold_and_nothing_on_the_other_side(stream):
    jsonpath, jq = rules_of(JSONPATH, stream), rules_of(JQ, stream)
    for rule, twin in zip(
        JSONPATH.stream(stream).filter.exclude, JQ.stream(stream).filter.exclude, strict=True
    ):
        key, operator, number = RULE.fullmatch(rule).groups()
        threshold = float(number)
        beyond = threshold - 0.001 if operator == "<" else threshold + 0.001
        within = threshold if operator != ">=" else threshold - 1

        def document(value, key=key):
            return {"id": "a", "text": "", "attributes": {key: [[0, 0, value]]}}

        assert jsonpath.judge(document(beyond)) == (False, rule)
        assert jq.judge(document(beyond)) == (False, twin)
        assert jsonpath.judge(document(within)).keep
        assert jq.judge(document(within)).keep


@settings(deadline=None)
@given(
    stream=st.sampled_from(["prose", "code"]),
    values=st.lists(
        st.none()
        | st.just([])
        | st.sampled_from([0, 0.005, 0.4, 0.75, 1, 1.0, 7, 8, 19.5, 39_999, 200_000]).map(
            lambda score: [[0, 4, score]]
        ),
        min_size=7,
        max_size=7,
    ),
)
def test_both_recipes_judge_any_document_alike(stream, values):
    rules = JSONPATH.stream(stream).filter.exclude
    keys = [RULE.fullmatch(rule).group(1) for rule in rules]
    attributes = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
    document = {"id": "a", "text": "", "attributes": attributes}

    verdict = rules_of(JSONPATH, stream).judge(document)
    twin = rules_of(JQ, stream).judge(document)

    assert verdict.keep == twin.keep
    if not verdict.keep:
        assert rules.index(verdict.rule) == JQ.stream(stream).filter.exclude.index(twin.rule)


def test_every_threshold_has_its_reason_beside_it():
    lines = (RECIPES / "stdlib.yaml").read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        if RULE.search(line):
            before = lines[number - 1]
            assert before.lstrip().startswith("#") or "bff_duplicate_docs" in line
