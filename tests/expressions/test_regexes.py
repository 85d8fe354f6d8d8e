from __future__ import annotations

import time

import pytest

from mixle_assets.expressions.regexes import RegexError, compile_regex, pieces


@pytest.mark.parametrize(
    ("expression", "text", "found"),
    [
        (r"b", "abc", True),
        (r"^b", "abc", False),
        (r"(?i)ÉTÉ", "été", True),
        # Unicode's words, digits and spaces, as in Dolma's engine
        (r"^\w+$", "naïve", True),
        (r"^\W+$", "é", False),
        (r"^\d\d$", "٣٤", True),
        (r"^\D$", "٣", False),
        (r"^\s$", "\u00a0", True),
        (r"^[^\s]$", "\u00a0", False),
        (r"^[\w-]+$", "é-é", True),
        (r"^[\W]$", "é", False),
        (r"\bcafé\b", "un café noir", True),
        (r"\bcafé\b", "cafés", False),
        (r"[[:alpha:]\d]+", "1", True),
        (r"[]a]b", "]b", True),
        (r"^[a\]\d]+$", "]1", True),
        (r"\\d", "\\d", True),
        (r"\\\d", "\\5", True),
    ],
)
def test_expressions_mean_what_they_mean_in_dolma(expression, text, found):
    assert bool(compile_regex(expression).search(text)) is found


@pytest.mark.parametrize("expression", ["(", "*", "[b-a]", "(?=a)", r"(a)\1", r"\y"])
def test_a_broken_expression_says_why(expression):
    with pytest.raises(RegexError, match=r".+"):
        compile_regex(expression)


def test_nested_repetitions_take_linear_time():
    started = time.perf_counter()

    assert compile_regex(r"^(\w+\s?)+$").search("a" * 50_000 + "!") is None
    assert time.perf_counter() - started < 5


def test_an_expression_is_split_into_escapes_and_characters():
    assert [(piece.text, piece.in_class) for piece in pieces(r"a\[[^]\d[:alpha:]]b")] == [
        ("a", False),
        (r"\[", False),
        ("[", False),
        ("^", True),
        ("]", True),
        (r"\d", True),
        ("[:alpha:]", True),
        ("]", False),
        ("b", False),
    ]
