"""What JSONPath selects and judges: Dolma's meanings, and ours where they differ."""

from __future__ import annotations

import pytest

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.jsonpath_nodes import compile_find
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.predicates import compile_predicate

DOCUMENT = {
    "id": "1",
    "text": "héllo",
    "attributes": {
        "n": 5,
        "f": 5.0,
        "t": True,
        "none": None,
        "s": "abc",
        "five": "5",
        "empty": [],
        "words": ["x", "y"],
        "spans": [[0, 5, 0.2], [6, 11, 0.9]],
        "deep": {"n": 1, "in": {"n": 2}},
        "rows": [{"n": 3}, {"n": 4}, {"m": 5}],
    },
}


def found(expression):
    return compile_find(parse_jsonpath(expression))(DOCUMENT, DOCUMENT)


def holds(predicate):
    return compile_predicate(f"$.attributes[?({predicate})]").matches(DOCUMENT)


@pytest.mark.parametrize(
    ("expression", "nodes"),
    [
        ("$.id", ["1"]),
        ("$.nope", []),
        ("$.attributes.none", [None]),
        ("$.attributes.words[0]", ["x"]),
        ("$.attributes.words[-1]", ["y"]),
        ("$.attributes.words[2]", []),
        ("$.attributes.words[-3]", []),
        ("$.attributes.s[0]", []),
        ("$.attributes.deep[0]", []),
        ("$.attributes.words.x", []),
        ("$.attributes.words[*]", ["x", "y"]),
        ("$.attributes.deep.*", [1, {"n": 2}]),
        ("$.attributes.s.*", []),
        ("$.attributes.spans[*][2]", [0.2, 0.9]),
        ("$.attributes.spans[1,0,7][0]", [6, 0]),
        ("$.attributes.words[0,-1]", ["x", "y"]),
        ("$.attributes['n','nope','f']", [5, 5.0]),
        ("$.attributes..n", [5, 1, 2, 3, 4]),
        ("$.attributes.deep..*", [1, {"n": 2}, 2]),
        ("$.attributes.words[0:1]", ["x"]),
        ("$.attributes.words[1:]", ["y"]),
        ("$.attributes.words[-1:]", ["y"]),
        ("$.attributes.words[:-1]", ["x"]),
        ("$.attributes.spans[::2][0]", [0]),
        # Dolma's: a stop of 0 is the end; beyond the array there is nothing
        ("$.attributes.words[:0]", ["x", "y"]),
        ("$.attributes.words[:-2]", ["x", "y"]),
        ("$.attributes.words[0:3]", []),
        ("$.attributes.words[-3:]", []),
        # a filter tests members of an array, and anything else itself
        ("$.attributes.rows[?(@.n > 3)]", [{"n": 4}]),
        ("$.attributes.rows[?(@.n)].n", [3, 4]),
        ("$.attributes.words[?(@ == 'y')]", ["y"]),
        ("$.attributes.deep[?(@.n == 1)]", [{"n": 1, "in": {"n": 2}}]),
        ("$.attributes.deep[?(@.n == 2)]", []),
        ("$.attributes.s[?(@ == 'abc')]", ["abc"]),
        ("$.attributes.none[?(@ == null)]", [None]),
        ("$.attributes.spans[?(@[2] > 0.5 && @[1] > 3)][0]", [6]),
        ("$.attributes.spans[?(!(@[2] > 0.5))][0]", [0]),
        ("$.attributes.spans[*][?(@ > 5)]", [6, 11]),
        ("$.attributes.rows[?(@.n == $.attributes.deep.in.n)]", []),
        ("$.attributes.rows[?(@.m == $.attributes.n)]", [{"m": 5}]),
        # length(): members of an array, or the number of nodes selected
        ("$.attributes.spans.length()", [2]),
        ("$.attributes.empty.length()", [0]),
        ("$.attributes.spans[0].length()", [3]),
        ("$.attributes.words['a','b'].length()", []),
        ("$.attributes['n','f'].length()", [2]),
        ("$.attributes.rows[?(@.n)].length()", [2]),
        ("$.attributes.spans[*][2].length()", []),
        ("$.attributes.spans[*].length()", [2]),
        ("$.attributes.s.length()", []),
        ("$.text.length()", []),
        ("$.nope.length()", []),
    ],
)
def test_nodes_of_a_path(expression, nodes):
    assert found(expression) == nodes


@pytest.mark.parametrize(
    "predicate",
    [
        "@.n", "@.none", "@.empty", "!@.nope", "5", "@",
        "@.n == 5", "@.n == 5.0", "@.f == 5", "@.f >= 5", "@.n <= 5.0", "5 >= @.f", "@.n != 4",
        "@.n > 4 && @.f < 6", "@.nope || @.n", "!(@.n > 5)", "!@.n > 5",
        "@.s == 'abc'", "@.s <= 'abc'", "@.none == null", "@.none >= null", "@.t == true",
        "@.nope != 5", "@.nope != null", "@.nope == @.nada", "@.nope <= @.nada",
        "@.words == ['x','y']", "@.deep == @.deep", "@.spans[*][2] == @.spans[*][2]",
        "@.s ~= '^a.c$'", "@.s ~= 'b'", "@.s ~= '(?i)B'", "@.words[*] ~= 'y'", '@.five ~= "^\\\\d$"',
        "@.s in ['abc','x']", "'x' in @.words", "@.n in [4,5]", "@.f in [4,5]", "1 in @.deep",
        "@.s nin ['x']", "@.nope nin ['x']",
        "@.spans size 2", "@.s size 3", "$.text size 6", "@.deep size 2", "@.nope size 2",
        "@.words anyOf ['x','q']", "@.s anyOf ['abc']", "@.nope anyOf ['x']",
        "@.words noneOf ['p','q']",
        "@.words subsetOf ['x','y','z']", "@.nope subsetOf ['x']", "@.empty subsetOf ['x']",
        "@.spans.length() == 2", "@.spans.length() > 1", "@.rows[?(@.n)].length() >= 2",
        "@.spans[-1][2] > 0.5", "@.n > @.deep.n", "@.s =~ 'b'", '@["n"] == 5',
    ],
)  # fmt: skip
def test_predicates_that_hold(predicate):
    assert holds(predicate)
    assert not holds(f"!({predicate})")


@pytest.mark.parametrize(
    "predicate",
    [
        "@.nope", "!@.none",
        "@.five == 5", "@.five > 4", "@.t > 0", "@.t == 1", "@.none < 5", "@.s < 'b'", "@.words > 1",
        "@.nope < 5", "@.nope >= 5", "@.nope == null", "@.nope < @.nada", "@.nope != @.nada",
        "@.spans[*][2] > 0.1", "@.words[0] == ['x','y']",
        "@.n ~= '5'", "@.nope ~= 'x'", "@.s ~= @.n",
        "@.nope in ['x']", "@.s in 'abc'", "@.n in ['5']", "@.nope noneOf ['x']", "@.words anyOf ['q']",
        "@.words subsetOf ['x']", "@.s subsetOf ['abc']", "@.s size 2", "$.text size 5", "@.n size 5",
        "@.s size '3'", "@.spans.length() < 2", "@.nope.length() >= 0",
    ],
)  # fmt: skip
def test_predicates_that_do_not_hold(predicate):
    assert not holds(predicate)
    assert holds(f"!({predicate})")


def test_numbers_beyond_doubles_are_compared_with_all_their_digits():
    rule = compile_predicate("$[?(@.n == 9007199254740993)]")

    assert rule.matches({"n": 9007199254740993})
    assert not rule.matches({"n": 9007199254740992})


def test_a_score_that_is_no_number_is_neither_below_nor_above():
    nan = {"attributes": {"x": [[0, 1, float("nan")]]}}

    assert not compile_predicate("$.attributes[?(@.x[0][2] < 0.5)]").matches(nan)
    assert not compile_predicate("$.attributes[?(@.x[0][2] >= 0.5)]").matches(nan)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=a)", "(a)\\\\1"])
def test_a_broken_regular_expression_is_refused_with_its_column(pattern):
    with pytest.raises(ExpressionError, match="does not compile") as caught:
        compile_predicate(f'$[?(@.text ~= "{pattern}")]')
    assert caught.value.column == 15


def test_a_broken_regular_expression_in_the_document_matches_nothing():
    rule = compile_predicate("$[?(@.text ~= @.pattern)]")

    assert rule.matches({"text": "abc", "pattern": "b"})
    assert not rule.matches({"text": "abc", "pattern": "("})
    assert not rule.matches({"text": "abc", "pattern": 1})


@pytest.mark.parametrize(
    ("key", "expression"),
    [
        ("a__b-c.d", "$.attributes['a__b-c.d']"),
        ("2col", "$.attributes['2col']"),
        ("2col", "$.attributes.2col"),
        ("with space", "$.attributes['with space']"),
        ("it's", '$.attributes["it\'s"]'),
        ("é:ü", "$.attributes['é:ü']"),
    ],
)
def test_odd_keys_are_selected_in_quotes(key, expression):
    assert compile_predicate(expression).matches({"attributes": {key: 1}})
    assert not compile_predicate(expression).matches({"attributes": {"other": 1}})


@pytest.mark.parametrize("document", [{}, {"attributes": None}, {"attributes": []}, {"attributes": "x"}])
def test_a_document_without_attributes_matches_no_rule_on_them(document):
    assert not compile_predicate("$.attributes[?(@.x[0][2] < 50)]").matches(document)
    assert not compile_predicate("$.attributes.x").matches(document)


def test_a_document_may_nest_deeper_than_python_recurses():
    document = {"x": 1}
    for _ in range(5000):
        document = {"a": [document]}

    assert compile_find(parse_jsonpath("$..x"))(document, document) == [1]
    assert compile_find(parse_jsonpath("$..*"))(document, document)[-1] == 1
