from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import EvaluationError, ExpressionError, RecipeError
from mixle_assets.expressions.predicates import compile_predicate
from mixle_assets.mixing.filters import compile_rules
from mixle_assets.mixing.rule_statistics import RuleStatistics

TOO_SHORT = {
    "jsonpath": "$.attributes[?(@.word_count[0][2] < 50)]",
    "jq": ".attributes.word_count[0][2] < 50",
}
SHORT = {"id": "1", "attributes": {"word_count": [[0, 9, 40]]}}
LONG = {"id": "2", "attributes": {"word_count": [[0, 9, 60]]}}
UNMEASURED = {"id": "3", "attributes": {"lang": [[0, 9, 1.0]]}}


def judged(rules, *documents):
    return [rules.judge(document) for document in documents]


def test_without_rules_everything_is_kept():
    assert judged(compile_rules([], []), {}, SHORT) == [(True, None), (True, None)]


def test_one_matching_include_is_enough_and_the_first_matching_exclude_is_the_rule():
    rules = compile_rules(["$.attributes.nope", "$.attributes.a"], ["$.attributes.b", "$.attributes.c"])

    assert judged(
        rules,
        {"attributes": {"a": 1}},
        {"attributes": {"b": 1}},
        {"attributes": {"a": 1, "c": 1}},
        {"attributes": {"a": 1, "c": 1, "b": 1}},
    ) == [(True, None), (False, "include"), (False, "$.attributes.c"), (False, "$.attributes.b")]


@pytest.mark.parametrize("syntax", ["jsonpath", "jq"])
@pytest.mark.parametrize(
    ("missing_value", "third"),
    [("keep", True), ("drop", False)],
)
def test_an_absent_attribute_is_decided_by_the_policy_alike_in_both_dialects(syntax, missing_value, third):
    rules = compile_rules([], [TOO_SHORT[syntax]], syntax=syntax, missing_value=missing_value)

    assert [rules.judge(document).keep for document in (SHORT, LONG, UNMEASURED)] == [False, True, third]
    assert rules.statistics().rules[0].missing == 1


@pytest.mark.parametrize(("syntax", "third"), [("jsonpath", True), ("jq", False)])
def test_naturally_an_absent_attribute_is_below_everything_in_jq_and_nowhere_in_jsonpath(syntax, third):
    rules = compile_rules([], [TOO_SHORT[syntax]], syntax=syntax)

    assert [rules.judge(document).keep for document in (SHORT, LONG, UNMEASURED)] == [False, True, third]
    assert rules.statistics().rules[0].missing == 1


@pytest.mark.parametrize("syntax", ["jsonpath", "jq"])
def test_an_absent_attribute_can_be_an_error_that_names_rule_and_key(syntax):
    rules = compile_rules([], [TOO_SHORT[syntax]], syntax=syntax, missing_value="error")

    assert rules.judge(LONG).keep
    with pytest.raises(EvaluationError, match="attribute word_count is missing") as caught:
        rules.judge(UNMEASURED)
    assert caught.value.rule == TOO_SHORT[syntax]


@pytest.mark.parametrize("syntax", ["jsonpath", "jq"])
def test_an_include_rule_keeps_or_drops_what_lacks_its_attribute_as_the_policy_says(syntax):
    def verdicts(missing_value):
        rules = compile_rules([TOO_SHORT[syntax]], [], syntax=syntax, missing_value=missing_value)
        return [rules.judge(document).keep for document in (SHORT, LONG, UNMEASURED)]

    assert verdicts("keep") == [True, False, True]
    assert verdicts("drop") == [True, False, False]


def test_a_document_without_attributes_lacks_every_one():
    rules = compile_rules([], [TOO_SHORT["jsonpath"]], missing_value="drop")

    assert judged(rules, {"id": "4"}, {"id": "5", "attributes": None}) == [(False, TOO_SHORT["jsonpath"])] * 2


def test_asking_whether_a_key_is_there_is_never_missing_it():
    rules = compile_rules([], ["$.attributes[?(!@.lang)]"], missing_value="error")

    assert [rules.judge(document).keep for document in (SHORT, UNMEASURED)] == [False, True]
    assert rules.statistics().rules[0].missing == 0


def test_an_unknown_policy_is_refused():
    with pytest.raises(RecipeError, match="missing_value must be natural, keep, drop or error, got 'skip'"):
        compile_rules([], [], missing_value="skip")


def test_a_rule_that_does_not_compile_is_refused_before_any_data():
    with pytest.raises(ExpressionError):
        compile_rules(["$.attributes.a"], ["$.attributes[?(@.a > )]"])


def test_an_unknown_syntax_is_refused():
    with pytest.raises(ExpressionError, match="syntax must be jsonpath or jq, got 'sql'"):
        compile_rules(["id"], [], syntax="sql")


FAILING = ".attributes.x[0][2] / 0 > 1"
"""Division by zero: fails wherever it is asked."""


def test_a_rule_that_fails_before_any_decides_is_named():
    rules = compile_rules([], [".attributes.no", FAILING, ".attributes.x"], syntax="jq")

    with pytest.raises(EvaluationError, match="zero") as caught:
        rules.judge({"attributes": {"x": [[0, 1, 1]]}})
    assert caught.value.rule == FAILING


def test_a_rule_that_fails_after_another_decided_is_only_counted():
    rules = compile_rules([".attributes.x", FAILING], [".attributes.x", FAILING], syntax="jq")

    assert rules.judge({"attributes": {"x": [[0, 1, 1]]}}) == (False, ".attributes.x")
    assert [tally.errors for tally in rules.statistics().rules] == [0, 1, 0, 1]


def test_an_include_that_fails_first_is_an_error_even_where_the_next_would_match():
    rules = compile_rules([FAILING, ".attributes.x"], [], syntax="jq")

    with pytest.raises(EvaluationError):
        rules.judge({"attributes": {"x": [[0, 1, 1]]}})


def test_statistics_count_hits_sole_hits_and_overlaps_of_all_rules():
    rules = compile_rules(["$.attributes.in"], ["$.attributes.a", "$.attributes.b", "$.attributes.c"])
    for keys in ("in", "in a", "in a b", "in b", "a b c", "in b", ""):
        rules.judge({"attributes": dict.fromkeys(keys.split(), 1)})

    assert rules.statistics().to_json() == {
        "num_documents": 7,
        "rules": [
            {
                "expression": "$.attributes.in",
                "role": "include",
                "hits": 5,
                "sole_hits": 5,
                "missing": 0,
                "errors": 0,
            },
            # "a b c" is not counted as sole: the include rule had not matched
            {
                "expression": "$.attributes.a",
                "role": "exclude",
                "hits": 3,
                "sole_hits": 1,
                "missing": 0,
                "errors": 0,
            },
            {
                "expression": "$.attributes.b",
                "role": "exclude",
                "hits": 4,
                "sole_hits": 2,
                "missing": 0,
                "errors": 0,
            },
            {
                "expression": "$.attributes.c",
                "role": "exclude",
                "hits": 1,
                "sole_hits": 0,
                "missing": 0,
                "errors": 0,
            },
        ],
        "overlap": [[0, 1, 2], [0, 2, 3], [1, 2, 2], [1, 3, 1], [2, 3, 1]],
    }


def test_statistics_of_shards_add_up_to_those_of_all_documents():
    documents = [{"attributes": dict.fromkeys(keys)} for keys in ("ab", "a", "b", "", "abc", "b")]
    expressions = ["$.attributes.a", "$.attributes.b"]

    whole = compile_rules([], expressions)
    judged(whole, *documents)
    parts = [compile_rules([], expressions) for _ in range(2)]
    judged(parts[0], *documents[:2])
    judged(parts[1], *documents[2:])
    total = parts[0].statistics()
    total.add(RuleStatistics.from_json(parts[1].statistics().to_json()))

    assert total == whole.statistics()
    assert total.num_documents == 6


def test_statistics_of_other_rules_do_not_add_up():
    with pytest.raises(ValueError, match="statistics of other rules"):
        compile_rules([], ["$.id"]).statistics().add(compile_rules([], ["$.text"]).statistics())


def test_asking_for_statistics_twice_counts_nothing_twice():
    rules = compile_rules([], ["$.id"])
    rules.judge({"id": 1})

    assert rules.statistics() == rules.statistics()
    rules.judge({"id": 2})
    assert rules.statistics().num_documents == 2


def test_the_counts_are_right_with_more_patterns_than_are_held():
    expressions = [f"$.attributes.k{number}" for number in range(13)]
    rules = compile_rules([], expressions)
    for number in range(2**13):
        rules.judge({"attributes": {f"k{bit}": 1 for bit in range(13) if number >> bit & 1}})

    statistics = rules.statistics()
    assert statistics.num_documents == 8192
    assert [tally.hits for tally in statistics.rules] == [4096] * 13
    assert [tally.sole_hits for tally in statistics.rules] == [1] * 13
    assert set(statistics.overlap.values()) == {2048}


@pytest.mark.parametrize(
    ("include", "exclude", "fields", "keys"),
    [
        ([], [], set(), set()),
        (["$.id"], [], {"id"}, set()),
        ([], ["$@.attributes[?(@.a && @.a[0] && @.a[0][2] >= 1.0)]"], {"attributes"}, {"a"}),
        ([], ["$.attributes[?(@['a'] && !@['b'])]", "$.metadata.c"], {"attributes", "metadata"}, {"a", "b"}),
        ([], ["$.attributes[?(@.a > $.metadata.b)]"], {"attributes", "metadata"}, {"a"}),
        ([], ["$[?(@.attributes.a > 1 && @.text ~= 'x')]"], {"attributes", "text"}, {"a"}),
        ([], ["$.attributes['a','b']"], {"attributes"}, {"a", "b"}),
        ([], ["$.attributes"], {"attributes"}, set()),
        (["$"], [], set(), set()),
        ([], ["$.attributes.*"], {"attributes"}, None),
        ([], ["$.attributes[?(@ size 2)]"], {"attributes"}, None),
        ([], ["$..a"], None, None),
        ([], ["$[?(@ == $.x)]"], None, None),
    ],
)
def test_the_rules_say_what_they_read(include, exclude, fields, keys):
    rules = compile_rules(include, exclude)

    assert (rules.fields, rules.attribute_keys) == (fields, keys)


RULES = {
    "jsonpath": [
        "$.attributes.a",
        "$.attributes[?(@.a[0][2] > 0.5)]",
        "$.attributes[?(@.a && @.a[0] && @.a[0][2] <= 0.5)]",
        "$.attributes[?(@.b != 1)]",
        "$.attributes.a[?(@[2] > 0.5)]",
    ],
    "jq": [
        ".attributes.a",
        ".attributes.a[0][2] > 0.5",
        ".attributes.a[][2] > 0.5",  # fails where there is no a
        ".attributes.b / 0 > 1",  # fails
        ".attributes.b | tostring | length > 3",  # runs in libjq
    ],
}


def filters(syntax):
    some = st.lists(st.sampled_from(RULES[syntax]), max_size=3, unique=True)
    return st.tuples(some, some, st.just(syntax))


attribute_values = st.sampled_from(
    [[], [[0, 1, 0.5]], [[0, 1, 0.9]], [[0, 1, 0.9], [1, 2, 0.1]], None, 1, "x"]
)
filtered_documents = st.fixed_dictionaries(
    {"attributes": st.fixed_dictionaries({}, optional={"a": attribute_values, "b": attribute_values})}
)


def or_error(ask):
    """What is given, or rule and message of the error."""
    try:
        return ask()
    except EvaluationError as error:
        return error.rule, error.message


def judge_one_by_one(include, exclude, syntax, document):
    """Dolma's order, told plainly: an error counts only where it is reached."""
    if include and not any(
        compile_predicate(rule, syntax, role="include").matches(document) for rule in include
    ):
        return False, "include"
    for rule in exclude:
        if compile_predicate(rule, syntax, role="exclude").matches(document):
            return False, rule
    return True, None


@settings(deadline=None, max_examples=250)
@given(
    rules=filters("jsonpath") | filters("jq"), documents=st.lists(filtered_documents, min_size=1, max_size=4)
)
def test_the_verdict_is_that_of_asking_one_rule_after_the_other(rules, documents):
    include, exclude, syntax = rules
    compiled = compile_rules(include, exclude, syntax=syntax)
    for document in documents:
        expected = or_error(lambda: judge_one_by_one(include, exclude, syntax, document))  # noqa: B023
        assert or_error(lambda: compiled.judge(document)) == expected  # noqa: B023

    statistics = compiled.statistics()
    assert statistics.num_documents == len(documents)
    for number, (rule, tally) in enumerate(zip([*include, *exclude], statistics.rules, strict=True)):
        predicate = compile_predicate(rule, syntax, role=tally.role)
        outcomes = [or_error(lambda: predicate.matches(document)) for document in documents]  # noqa: B023
        assert (tally.hits, tally.errors) == (
            outcomes.count(True),
            sum(isinstance(outcome, tuple) for outcome in outcomes),
        )
        assert tally.sole_hits <= tally.hits
        assert all(count <= tally.hits for pair, count in statistics.overlap.items() if number in pair)
