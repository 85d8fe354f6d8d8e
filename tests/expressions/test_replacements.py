from __future__ import annotations

import pytest

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.expressions.replacements import compile_replacement

DOCUMENT = {"id": "7", "text": "abc", "attributes": {"rep": "<{}>", "n": 5, "two": ["a", "b"]}}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        (" |||EMAIL_ADDRESS||| ", " |||EMAIL_ADDRESS||| "),
        ("[B]{}[E]", "[B]ab[E]"),
        ("{}{}", "abab"),
        ("{{}}", "{ab}"),
        ("{0}", "{0}"),
        ("\\$5", "$5"),
        ("\\$ {}", "$ ab"),
        ("\\5", "\\5"),
        ("5$", "5$"),
        ("$.id", "7"),
        ('$"<" + .id + ">"', "<7>"),
        ("$.attributes.rep", "<ab>"),
        ("$.attributes.two[1]", "b"),
        ('$.attributes.n | tostring', "5"),
        ('$.id | test("7") | tostring', "true"),
    ],
)  # fmt: skip
def test_a_replacement_is_rendered(template, text):
    assert compile_replacement(template).render(DOCUMENT, "ab") == text


@pytest.mark.parametrize(
    ("template", "constant"), [("", ""), ("x", "x"), ("\\$x", "$x"), ("{}", None), ("$.id", None)]
)
def test_a_replacement_that_cannot_vary_is_known_beforehand(template, constant):
    assert compile_replacement(template).constant == constant


@pytest.mark.parametrize(
    ("template", "fields", "keys"),
    [
        ("[{}]", set(), set()),
        ("$.id", {"id"}, set()),
        ("$.attributes.rep", {"attributes"}, {"rep"}),
        ("$tojson", None, None),
    ],
)
def test_a_replacement_says_what_it_reads(template, fields, keys):
    replacement = compile_replacement(template)

    assert (replacement.fields, replacement.attribute_keys) == (fields, keys)


@pytest.mark.parametrize(
    "template", ["$.attributes.n", "$.nope", "$.attributes.two[]", "$.attributes.two", "$empty", "$.id, .id"]
)
def test_a_jq_replacement_must_give_exactly_one_string(template):
    with pytest.raises(EvaluationError, match="exactly one string") as caught:
        compile_replacement(template).render(DOCUMENT, "ab")
    assert caught.value.rule == template


def test_a_jq_replacement_that_fails_is_named_as_it_was_written():
    with pytest.raises(EvaluationError, match="Cannot index") as caught:
        compile_replacement("$.id.x").render(DOCUMENT, "ab")
    assert caught.value.rule == "$.id.x"


@pytest.mark.parametrize(("template", "column"), [("$US 5", 5), ("$$x", 2), ("$", 2), ("$.a |", None)])
def test_what_follows_a_dollar_must_be_jq(template, column):
    with pytest.raises(ExpressionError, match=r"for a dollar write \\\$") as caught:
        compile_replacement(template)
    assert column is None or caught.value.column == column
    assert caught.value.rule == template
