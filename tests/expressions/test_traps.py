from __future__ import annotations

import pytest

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.traps import find_filter_traps, find_traps


def kinds(expression, syntax="jsonpath", role="exclude"):
    return [trap.kind for trap in find_traps(expression, syntax, role=role)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$", ["always"]),
        ("$.attributes[?(true)]", ["always", "constant"]),
        ("$.attributes[?(1 < 2)]", ["always", "constant"]),
        ("$.attributes[?(@.x || @)]", ["always"]),
        ("$.attributes[?(@.x > 'b')]", ["never", "constant"]),
        ("$.attributes[?(@.x < true)]", ["never", "constant"]),
        ("$.attributes[?(@.x && @.x > null)]", ["never", "constant"]),
        ("$.attributes[?(@.x[0][2] > 5 && @.x[0][2] < 3)]", ["never"]),
        ("$.attributes[?(@.x[0][2] > 5 || @.x[0][2] <= 5)]", ["always"]),
        ("$.attributes[?(@.x != 5)]", ["missing_matches"]),
        ("$.attributes[?(@.x nin ['a','b'])]", ["missing_matches"]),
        ("$.attributes[?(@.x size 2)]", ["missing_matches"]),
        ("$.attributes[?(@.x && @.x[0][2] != 5)]", ["empty_matches"]),
        ("$.attributes.a__b-c.d", ["unquoted_key"]),
        ("$.attributes.2col", ["unquoted_key"]),
        ("$.attributes['it\\'s']", ["escape"]),
        ("$[?(@.text == 'a\\nb')]", ["escape"]),
        ("$[?(@.text ~= '\\\\d')]", ["escape"]),
        ("$[?(@.text ~= '[a-z.-_]+')]", ["regex_range"]),
        ("$.attributes[?(@.x[*][2] > 1)]", ["many_nodes"]),
        ("$.attributes[?(@.x == '5')]", ["quoted_number"]),
        ("$.attributes.x[0:100]", ["slice"]),
        ("$[?(@.text.length() > 5)]", ["length_of_text"]),
    ],
)
def test_traps_of_jsonpath(expression, expected):
    assert kinds(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "$.id",
        "$.attributes.x",
        "$.attributes[?(@.x[0][2] < 50)]",
        "$@.attributes[?(@.x && @.x[0] && @.x[0][2] >= 1.0)]",
        "$.attributes[?(@['a b'] && !@['c-d'])]",
        "$.attributes[?(@.x[0][2] > 5 && @.y[0][2] < 3)]",
        "$.attributes[?(@.x && @.x != 5)]",
        "$.attributes.x[?(@[2] > 0.5 && @[1] > 3)]",
        "$.attributes[?(@.x.length() > 1)]",
        "$[?(@.text ~= '^[A-Za-z0-9_.-]+\\(\\n')]",
        '$[?(@.text ~= "\\\\d")]',
        "$[?(@.text ~= '[!-~]')]",
        "$.attributes.x[-1:]",
    ],
)
def test_rules_of_jsonpath_without_traps(expression):
    assert kinds(expression) == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", ["always"]),
        ("empty", ["never"]),
        ("1 / 0", ["fails"]),
        ("{a: 1}", ["always"]),
        (".attributes.x < 50", ["missing_matches"]),
        (".attributes.x[0][2] < 50", ["missing_matches"]),
        (".attributes.x != null and .attributes.x[0][2] < 50", ["empty_matches"]),
        (".attributes.x[][2] < 50", ["missing_fails"]),
        (".attributes.x = 5", ["assignment", "reads_everything"]),
        (".attributes.x |= 5", ["assignment", "reads_everything"]),
        ('.attributes.x == "5"', ["quoted_number"]),
        (".attributes.x > null", ["type_order"]),
        (".attributes.x[0][2] > 5 and .attributes.x[0][2] < 3", ["never"]),
        ('.text | test("[a-z.-_]")', ["regex_range"]),
        ("now > 5", ["unstable"]),
        ('$ENV.X == "a"', ["unstable"]),
        ("[.. | numbers] | length > 4", ["reads_everything"]),
        (".attrs.x > 5", ["field"]),
    ],
)
def test_traps_of_jq(expression, expected):
    assert sorted(kinds(expression, "jq")) == sorted(expected)


@pytest.mark.parametrize(
    "expression",
    [
        ".attributes.x[0][2] > 50",
        '(.attributes.k | if type == "array" and length > 0 and .[0] != null and .[0][2] != null then .[0][2] < 50 else false end)',  # noqa: E501
        '.attributes | has("x") | not',
        '.text | test("^[a-z._-]+$")',
        "(.attributes.x[0][2] // 100) < 50",
    ],
)
def test_rules_of_jq_without_traps(expression):
    assert kinds(expression, "jq") == []


def test_a_trap_says_where_it_is_and_what_to_write():
    [trap] = find_traps("$.attributes[?(@.a && @.url ~= '[a-z.-_]')]")

    assert trap.column == 32
    assert trap.message == (
        ".-_ in '[a-z.-_]' is every character from '.' to '_'; "
        "a dash that means itself stands first or last: [-…]"
    )


def test_missing_values_are_named():
    [trap] = find_traps(".attributes.word_count[0][2] < 50", "jq")

    assert trap == (
        "missing_matches",
        "the rule matches documents that have no word_count (null orders below every number); "
        "guard it, or set missing_value",
        None,
    )


def test_the_same_rule_under_include_and_exclude_or_twice_is_found():
    found = find_filter_traps(["$.id", "$.text"], ["$.id", "$.source", "$.source"])

    assert [(rule, trap.kind) for rule, trap in found] == [
        ("$.source", "twice"),
        ("$.id", "include_and_exclude"),
    ]


def test_a_rule_that_does_not_compile_has_an_error_and_no_traps():
    with pytest.raises(ExpressionError):
        find_traps("$.attributes[?(@.x >)]")
