from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Descend,
    DescendAll,
    Exists,
    Filter,
    Index,
    Indices,
    Key,
    Keys,
    Length,
    Literal,
    Not,
    Or,
    Path,
    Root,
    Slice,
    Wildcard,
)
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath


def steps(expression):
    """Steps of a path, keys without their columns."""
    return [Key(step.name) if isinstance(step, Key) else step for step in parse_jsonpath(expression).steps]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$", [Root()]),
        ("$.a", [Root(), Key("a")]),
        ("$@.a", [Root(), Current(), Key("a")]),
        ("@.a", [Current(), Key("a")]),
        (".a", [Key("a")]),
        ("['a']", [Key("a")]),
        ("$$.a", [Root(), Root(), Key("a")]),
        ("$.a_-/\\#1", [Root(), Key("a_-/\\#1")]),
        ("$.2col", [Root(), Key("2col")]),
        ("$['a b.c']", [Root(), Key("a b.c")]),
        ("$.['a']", [Root(), Key("a")]),
        ('$["it\'s"]', [Root(), Key("it's")]),
        ('$["\\u00e9\\n"]', [Root(), Key("é\n")]),
        ("$['it\\'s']", [Root(), Key("it\\'s")]),
        ("$['a','b']", [Root(), Keys(("a", "b"))]),
        ("$..a", [Root(), Descend("a")]),
        ("$..['a b']", [Root(), Descend("a b")]),
        ("$..*", [Root(), DescendAll()]),
        ("$.*", [Root(), Wildcard()]),
        ("$[*]", [Root(), Wildcard()]),
        ("$.[*]", [Root(), Wildcard()]),
        ("$[0]", [Root(), Index(0)]),
        ("$[-1]", [Root(), Index(-1)]),
        ("$[0,-1]", [Root(), Indices((0, -1))]),
        ("$[1:]", [Root(), Slice(1, 0, 1)]),
        ("$[:-1]", [Root(), Slice(0, -1, 1)]),
        ("$[0:4:2]", [Root(), Slice(0, 4, 2)]),
        ("$[::2]", [Root(), Slice(0, 0, 2)]),
        ("$.a.length()", [Root(), Key("a"), Length()]),
        ("$.a.length", [Root(), Key("a"), Key("length")]),
        (" $ .a [ 0 ] \r\n", [Root(), Key("a"), Index(0)]),
        ("$.a[?(@)]", [Root(), Key("a"), Filter(Exists(Path((Current(),))))]),
    ],
)
def test_every_form_of_step(expression, expected):
    assert steps(expression) == expected


def predicate(text):
    [step] = parse_jsonpath(f"[?({text})]").steps
    assert isinstance(step, Filter)
    return step.predicate


def member(name, column):
    return Path((Current(), Key(name, column)))


A, B, C = (Exists(Path((Current(), Index(number)))) for number in range(3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@[0] && @[1] || @[2]", Or((And((A, B)), C))),
        ("@[0] || @[1] && @[2]", Or((A, And((B, C))))),
        ("(@[0] || @[1]) && @[2]", And((Or((A, B)), C))),
        ("!@[0] && @[1]", And((Not(A), B))),
        ("!(@[0] && @[1])", Not(And((A, B)))),
        ("!!@[0]", A),
        ("!@[0] > 4", Not(Compare(Path((Current(), Index(0))), ">", Literal(4, 12), 10))),
    ],
)
def test_not_binds_tighter_than_and_tighter_than_or(text, expected):
    assert predicate(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("12345678901234567890", 12345678901234567890),
        ("true", True),
        ("false", False),
        ("null", None),
        ("'a'", "a"),
        ("'\\d'".replace("d", "n"), "\\n"),
        ('"\\n\\""', '\n"'),
        ("['a']", ["a"]),
        ("['a', 'b']", ["a", "b"]),
        ("[5,6]", [5, 6]),
        ("[-1,6]", [-1, 6]),
    ],
)
def test_every_form_of_literal(text, value):
    found = predicate(f"@.x == {text}").right

    assert found == Literal(value, 11)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("text", "operator"),
    [(sign, sign) for sign in ("==", "!=", "<", ">", "<=", ">=", "~=", "in", "nin", "size")]
    + [(sign, sign) for sign in ("anyOf", "noneOf", "subsetOf")]
    + [("=~", "~=")],
)
def test_every_operator(text, operator):
    assert predicate(f"@.a {text} 'b'") == Compare(
        member("a", 6), operator, Literal("b", 9 + len(text)), column=8
    )


def test_operators_need_no_spaces():
    assert predicate("@.a>=5&&@.b~='x'") == And(
        (
            Compare(member("a", 6), ">=", Literal(5, 9), 7),
            Compare(member("b", 14), "~=", Literal("x", 17), 15),
        )
    )


def test_a_filter_can_stand_in_a_filter():
    inner = Filter(Compare(Path((Current(), Index(2))), ">", Literal(1, 17), 15))

    assert predicate("@.a[?(@[2] > 1)] && $.b") == And(
        (
            Exists(Path((Current(), Key("a", 6), inner))),
            Exists(Path((Root(), Key("b", 26)))),
        )
    )


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("", 1, "the expression is empty"),
        ("  ", 3, "the expression is empty"),
        ("attributes.a", 1, "a path starts with $ (write $.attributes…)"),
        ("(.a | .b)", 1, "for jq set syntax: jq"),
        ("$. a", 3, "no space is allowed between '.' and a key"),
        ("$.", 3, "ends where a key should stand"),
        ("$.é", 3, "'é' cannot start a key (quote the key"),
        ("$.naïve.x", 5, "'ï' cannot stand in an unquoted key (quote it: ['naïve'])"),
        ("$.a:b", 4, "quote it: ['a:b']"),
        ("$.it's", 5, 'quote it: ["it\'s"]'),
        ("$.a b", 5, "a key with a space needs quotes"),
        ("$.'a'", 3, "a quoted key needs brackets"),
        ("$.a[b]", 5, "quote the key: ['b']"),
        ("$.a[0", 6, "expected ']' for the '[' at column 4"),
        ("$.a[1.5]", 5, "an index is a whole number"),
        ("$.a[1:2:0]", 9, "the step of a slice must be positive, got 0"),
        ("$.a[1:2:-1]", 9, "the step of a slice must be positive, got -1"),
        ("$.a[0,]", 7, "expected an index after ','"),
        ("$.a['b',]", 9, "expected a quoted key after ','"),
        ("$.a[99999999999999999999]", 5, "no array has a position of 20 digits"),
        ("$..[?(@.a)]", 5, "write ..* before them"),
        ("$.a[?@.b > 1]", 6, "a filter needs parentheses (write [?(…)])"),
        ("$.a[?(@.b > 1]", 14, "the filter opened at column 4 is not closed before ']'"),
        ("$.a[?(@.b > 1", 14, "the filter opened at column 4 is never closed"),
        ("$.a[?((@.b)]", 12, "the filter opened at column 4 is not closed before ']'"),
        ("$.a[?()]", 7, "expected an operand"),
        ("$.a[?(@.b > )]", 13, "expected an operand"),
        ("$.a[?(@.b = 1)]", 11, "a single = is no operator (write ==)"),
        ("$.a[?(@.b and @.c)]", 11, "unknown word and (write &&)"),
        ("$.a[?(not @.b)]", 7, "unknown word not"),
        ("$.a[?(@.b & @.c)]", 11, "write && or ||"),
        ("$.a[?(@.b + 1 > 2)]", 11, "there is no arithmetic in JSONPath"),
        ("$.a[?(@.b contains 'x')]", 11, "unknown operator contains"),
        ("$.a[?(b > 1)]", 7, "for the member write @.b"),
        ("$.a[?(@.b == True)]", 14, "unknown word True (write true)"),
        ("$.a[?(@.b > +4)]", 13, "a number has no plus sign"),
        ("$.a[?(@.b > 5.)]", 14, "a number cannot end in a point (write 5.0)"),
        ("$.a[?(@.b > .5)]", 13, "reads as a list of one key here (write 0.5)"),
        ("$.a[?(@.b > .c)]", 13, "for the member write @.c"),
        ("$.a[?(@.b > 1e999)]", 13, "the number is beyond"),
        ("$.a[?(@.b in [5])]", 14, "[5] reads as an index here"),
        ("$.a[?(@.b ~= /x/)]", 14, "a regular expression is a quoted string"),
        ("$.a[?(@.b ~= 5)]", 14, "~= needs a string"),
        ("$.a[?(@.b == 'x)]", 14, "a single quote is never closed"),
        ('$.a[?(@.b == "x)]', 14, "a double quote is never closed"),
        ("$.a[?(@.b == 'a\"b')]", 16, "a double quote cannot stand in single quotes"),
        ("$.a[?(@.b ~= '\\d')]", 15, '\\d is no escape here (in double quotes it is written "\\\\d"'),
        ('$.a[?(@.b ~= "\\d")]', 14, "has an escape that JSON strings do not have"),
        ("$.a.length().b", 13, "nothing can follow length()"),
        ("$.a && $.b", 5, "&& and || stand inside a filter only"),
        ("$.a | .b", 5, "a path has no pipes"),
        ("$.a > 5", 5, "a comparison stands inside a filter only"),
    ],
)
def test_what_it_does_not_know_is_an_error_with_a_column_and_a_hint(expression, column, message):
    with pytest.raises(ExpressionError) as caught:
        parse_jsonpath(expression)

    assert message in caught.value.message
    assert caught.value.column == column
    assert caught.value.rule == expression


def test_filters_cannot_nest_without_end():
    with pytest.raises(ExpressionError, match="more than 50 nested"):
        parse_jsonpath("$[?(" + "(" * 60 + "@.a" + ")" * 60 + ")]")


fragments = st.sampled_from(
    [
        *["$", "@", ".", "..", "*", "[", "]", "[?(", ")]", "(", ")", "a", "length()", "'a'", '"b"', "'", '"'],
        *["0", "-1", "0.5", ":", ","],
        *["&&", "||", "!", "==", "<", "~=", "in", "size", " ", "true", "é", "\\", "="],
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.lists(fragments, max_size=14).map("".join) | st.text(max_size=20))
def test_any_text_is_a_path_or_an_expression_error_within_it(expression):
    try:
        steps = parse_jsonpath(expression).steps
        column = 1
    except ExpressionError as error:
        steps = ()
        column = error.column

    assert bool(steps) or 1 <= column <= len(expression) + 1
