"""The one function made of many rules must say what each rule says by itself, on any document."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.expressions.conditions import Both, Number, Place, Present, Reduction, negation
from mixle_assets.expressions.joint import Bits, compile_outcome, compile_outcomes
from mixle_assets.expressions.predicates import compile_predicate

A = Place("a", (0, 2))

numbers = st.sampled_from(["0", "0.5", "1", "1.0", "-1", "2", "50", "1e3"])
operators = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
keys = st.sampled_from(["a", "b"])
tails = st.sampled_from(["[0][2]", "[0][2]", "[0][2]", "[0]", "", "[-1][2]", ".x", "[1].x"])


def guarded(key: str, tail: str, operator: str, number: str) -> str:
    return f"@.{key} && @.{key}[0] && @.{key}{tail} {operator} {number}"


comparisons = st.one_of(
    st.builds("@.{}{} {} {}".format, keys, tails, operators, numbers),
    st.builds("{3} {2} @.{0}{1}".format, keys, tails, operators, numbers),
    st.builds(guarded, keys, st.just("[0][2]"), operators, numbers),
    st.builds("@.{}".format, keys),
    st.builds("!@.{}".format, keys),
    st.sampled_from(["@.a == 'x'", "@.a[0] == null", "@.b size 2", "true", "@.a == @.b"]),
)
predicates = st.recursive(
    comparisons,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner)
        | st.builds("!({})".format, inner)
    ),
    max_leaves=3,
)
jsonpath_rules = st.one_of(
    st.builds("$.attributes[?({})]".format, predicates),
    st.builds("$@.attributes[?({})]".format, predicates),
    st.builds("$.attributes.{}".format, keys),
    st.sampled_from(
        ["$.id", "$[?(@.attributes.a[0][2] > 0.5)]", "$.attributes.a[?(@[2] > 0.5)]", "$.attributes"]
    ),
)


def recipe_form(key: str, operator: str, number: str) -> str:
    """The shape of dolma's published jq recipes."""
    return (
        f'(.attributes.{key} | if type == "array" and length > 0 and .[0] != null and .[0][2] != null '
        f"then .[0][2] {operator} {number} else false end)"
    )


jq_comparisons = st.one_of(
    st.builds(recipe_form, keys, operators, numbers),
    st.builds(".attributes.{}{} {} {}".format, keys, tails, operators, numbers),
    st.builds("{3} {2} .attributes.{0}{1}".format, keys, tails, operators, numbers),
    st.builds(".attributes.{} {} null".format, keys, st.sampled_from(["==", "!="])),
    st.builds('(.attributes | has("{}"))'.format, keys),
    st.builds("(.attributes.{} | not)".format, keys),
    st.builds(".attributes.{}".format, keys),
    st.builds("(.attributes.{}{} // 1) > 0.5".format, keys, tails),
    st.builds("(.attributes.{} | length {} {})".format, keys, operators, numbers),
    st.builds("(.attributes.{0}[0] | type == \"array\" and .[2] > 1)".format, keys),
    st.builds("any(.attributes.{}[]; .[2] > 0.5)".format, keys),
)  # fmt: skip
jq_rules = st.one_of(
    jq_comparisons,
    st.builds("{} {} {}".format, jq_comparisons, st.sampled_from(["and", "or"]), jq_comparisons),
    st.builds("if {} then {} else {} end".format, jq_comparisons, jq_comparisons, jq_comparisons),
    st.sampled_from(['.text | test("a")', ".attributes.a | tostring | length > 3"]),
)

leaves = st.sampled_from([0, 1, 0.5, 1.0, 7, -2.5, 2**60, None, True, False, "", "x", "xyz"])
values = st.one_of(
    st.lists(st.tuples(st.just(0), st.just(3), leaves).map(list), max_size=2),
    st.lists(st.tuples(st.just(0), st.just(3), leaves).map(list), max_size=2),
    leaves,
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("x"), inner)),
)
documents = st.one_of(
    st.builds(
        lambda attributes: {"id": "1", "text": "abc", "attributes": attributes},
        st.fixed_dictionaries({}, optional={"a": values, "b": values}),
    ),
    st.just({"id": "1"}),
    st.builds(lambda value: {"attributes": value}, values),
)


def check_that_all_rules_agree(expressions, syntax, missing_value, document):
    rules = [
        compile_predicate(expression, syntax, role="exclude" if number % 2 else "include")
        for number, expression in enumerate(expressions)
    ]
    bits = Bits(len(rules))
    alone = 0
    for number, rule in enumerate(rules):
        alone |= compile_outcome(rule, number, bits, missing_value)(document)

    assert compile_outcomes(rules, missing_value)(document) == alone


policies = st.sampled_from(["natural", "natural", "keep", "drop", "error"])


@settings(deadline=None, max_examples=500)
@given(
    expressions=st.lists(jsonpath_rules, min_size=1, max_size=4), missing_value=policies, document=documents
)
@example(["$.attributes[?(@.a[0][2] < 0.5)]"], "natural", {"attributes": {"a": [[0, 3, True]]}})
@example(["$.attributes[?(@.a[0][2] != 1)]"], "natural", {"attributes": {"a": [[0, 3, True]]}})
def test_jsonpath_rules_together_say_what_each_says_alone(expressions, missing_value, document):
    check_that_all_rules_agree(expressions, "jsonpath", missing_value, document)


@settings(deadline=None, max_examples=300)
@given(expressions=st.lists(jq_rules, min_size=1, max_size=3), missing_value=policies, document=documents)
@example([".attributes.a[0][2] < 0.5"], "natural", {"attributes": {"a": [[0, 3, True]]}})
@example([".attributes.a[0][2] <= 1"], "natural", {"attributes": {"a": [[0, 3, False]]}})
def test_jq_rules_together_say_what_each_says_alone(expressions, missing_value, document):
    check_that_all_rules_agree(expressions, "jq", missing_value, document)


def cut_down(document, reads):
    """What is left of a document when only what is read is decoded."""
    kept = {name: value for name, value in document.items() if name in reads.fields}
    if type(kept.get("attributes")) is dict and reads.attribute_keys is not None:
        attributes = kept["attributes"]
        kept["attributes"] = {key: attributes[key] for key in attributes if key in reads.attribute_keys}
    return kept


@settings(deadline=None, max_examples=300)
@given(
    rule=jsonpath_rules.map(lambda rule: (rule, "jsonpath")) | jq_rules.map(lambda rule: (rule, "jq")),
    document=documents,
)
def test_a_rule_sees_nothing_that_it_is_not_said_to_read(rule, document):
    predicate = compile_predicate(*rule)
    if predicate.reads.fields is None:
        return
    ask = compile_outcomes([predicate])

    assert ask(cut_down(document, predicate.reads)) == ask(document)


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("$.attributes[?(@.a[0][2] < 50)]", Number(A, "<", 50)),
        ("$@.attributes[?(@.a && @.a[0] && @.a[0][2]>= 1.0)]", Number(A, ">=", 1.0)),
        ("$.attributes[?(50 > @.a[0][2])]", Number(A, "<", 50)),
        (
            "$[?(@.attributes.a[0][2] < 50 && !@.attributes.b)]",
            Both(Number(A, "<", 50), negation(Present("b"))),
        ),
    ],
)
def test_the_guards_of_a_jsonpath_rule_fall_away(expression, condition):
    assert compile_predicate(expression).reduction == Reduction(condition, (A,))


@pytest.mark.parametrize(
    "expression",
    [
        ".attributes.a[0][2] < 50",
        '.attributes["a"] | .[0] | .[2] < 50',
        ".attributes | .a != null and .a[0][2] < 50",
        '(.attributes.a | if type == "array" and length > 0 and .[0] != null and .[0][2] != null then .[0][2] < 50 else false end)',  # noqa: E501
        '.attributes.a | type == "array" and (.[0] | type == "array" and length >= 3 and (.[2] | type == "number" and . < 50))',  # noqa: E501
        "(.attributes.a[0][2] // 0) < 50",
    ],
)
def test_the_guards_of_a_jq_rule_fall_away(expression):
    assert compile_predicate(expression, "jq").reduction == Reduction(Number(A, "<", 50), (A,))


@pytest.mark.parametrize(
    ("expression", "syntax"),
    [
        ("$.attributes[?(@.a[*][2] < 50)]", "jsonpath"),
        ("$.attributes[?(@.a[0][2] < $.metadata.limit)]", "jsonpath"),
        ("$.attributes.a[?(@[2] < 50)]", "jsonpath"),
        ("$.text[?(@.a[0][2] < 50)]", "jsonpath"),
        ("$.attributes[?(@.a size 2)]", "jsonpath"),
        (".attributes.a[][2] < 50", "jq"),
        ("(.attributes.a | length) < 50", "jq"),
        (".attributes.a[0][2] + 1 < 50", "jq"),
        (".metadata.a[0][2] < 50", "jq"),
    ],
)
def test_rules_on_anything_else_have_no_reduction(expression, syntax):
    assert compile_predicate(expression, syntax).reduction is None


def test_thirty_rules_on_one_number_have_thirty_bits():
    rules = [compile_predicate(f"$.attributes[?(@.a[0][2] > {number})]") for number in range(30)]

    assert compile_outcomes(rules)({"attributes": {"a": [[0, 3, 4.5]]}}) == 0b11111
