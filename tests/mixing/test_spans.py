import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.errors import EvaluationError
from mixle_assets.mixing.spans import Rewritten, replace_spans, take_spans
from mixle_assets.mixing.verify import paint_spans

DIGITS = "0123456789"


def rewrite(spans, text=DIGITS):
    """Spans are ``(start, end, replacement)``; their place in the list is their rule's."""
    return replace_spans(
        text, [(start, -end, rule, replacement) for rule, (start, end, replacement) in enumerate(spans)]
    ).text


def test_code_points_are_counted_not_bytes_or_utf16_units():
    family = "e\u0301\U0001f468\u200d\U0001f469\u200d\U0001f467"  # 7 code points
    assert rewrite([(2, 7, "|||EMAIL_ADDRESS|||")], "a👍b@c.d z") == "a👍|||EMAIL_ADDRESS||| z"
    assert rewrite([(7, 14, "<{}>")], family + "b@c.d z!") == family + "<b@c.d z>!"


def test_overlapping_spans_leave_nothing_of_either():
    assert rewrite([(0, 10, ""), (5, 15, "")], "abcdefghijklmno") == ""
    assert rewrite([(0, 4, "X"), (0, 8, "Y")], "abcdefghij") == "Yij"


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(2, 4, "X")], "01X456789"),
        ([(1, 3, "X"), (3, 5, "Y")], "0XY56789"),
        ([(5, 7, "X"), (1, 3, "Y")], "0Y34X789"),
        ([(1, 5, "A"), (3, 7, "B")], "0AB789"),
        ([(1, 4, "A"), (2, 6, "B"), (5, 8, "C")], "0ABC89"),
        ([(1, 8, "A"), (3, 5, "B")], "0A89"),
        ([(1, 3, "A"), (1, 8, "B")], "0B89"),
        ([(2, 4, "A"), (2, 4, "B")], "01A456789"),
        ([(4, 4, "X")], "0123X456789"),
        ([(4, 4, "X"), (4, 4, "Y")], "0123XY456789"),
        ([(4, 4, "X"), (6, 8, "Y")], "0123X45Y89"),
        ([(4, 4, "X"), (4, 6, "Y")], "0123Y6789"),
        ([(4, 6, "Y"), (6, 6, "X")], "0123YX6789"),
        ([(0, 0, "X"), (10, 10, "Y")], "X0123456789Y"),
        ([(0, 10, "X")], "X"),
        ([], DIGITS),
    ],
)
def test_spans_that_meet(spans, expected):
    assert rewrite(spans) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(2, 4, "[{}{}]")], "01[2323]456789"),
        ([(1, 8, "<{}>"), (3, 5, "B")], "0<12B567>89"),
        ([(1, 8, "<{}>"), (3, 5, "({})")], "0<12(34)567>89"),
        ([(1, 8, "<{}>"), (4, 4, "|")], "0<123|4567>89"),
        ([(1, 5, "<{}>"), (3, 7, "({})")], "0<1234>(56)789"),
        ([(1, 5, "<{}>"), (3, 7, "({})"), (4, 6, "B")], "0<1234>(B6)789"),
        ([(1, 5, "<{}>"), (3, 7, "({})"), (4, 5, "B")], "0<123B>(56)789"),
        ([(0, 10, "<{}>"), (1, 9, "[{}]"), (2, 8, "({})")], "<0[1(234567)8]9>"),
        ([(2, 4, "A{{}}")], "01A{23}456789"),
        ([(2, 4, "{0}")], "01{0}456789"),
    ],
)
def test_inside_braces_of_a_span_what_it_swallowed_is_applied_first(spans, expected):
    assert rewrite(spans) == expected


def test_one_rule_marking_one_place_twice_is_one_mark():
    twice = [(2, -4, 0, "<{}>")] * 2

    assert replace_spans(DIGITS, twice) == Rewritten("01<23>456789", 2, 0, 1)


def test_what_happened_to_the_spans_is_counted():
    spans = [(1, -5, 0, "A"), (3, -7, 0, "A"), (4, -6, 1, "B"), (6, -6, 1, "B"), (9, -10, 1, "B")]

    assert replace_spans(DIGITS, spans) == Rewritten("0AA78B", 7, 1, 2)


def test_spans_may_nest_a_thousand_deep():
    spans = [(number, number - 2000, number, "({})") for number in range(1000)]

    assert rewrite_all(spans, "x" * 2000) == "(x" * 999 + "(xx" + ")" + "x)" * 999


def rewrite_all(spans, text):
    return replace_spans(text, spans).text


texts = st.text("abcdefgh", max_size=12)
templates = st.sampled_from(["", "X", "<{}>", "{}", "{}{}", "-"])


@st.composite
def texts_and_spans(draw, replacements=templates):
    text = draw(texts)
    ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    spans = draw(st.lists(st.tuples(ends, st.integers(0, 3)), max_size=7))
    rules = {rule: draw(replacements) for rule in range(4)}
    return text, [(min(pair), -max(pair), rule, rules[rule]) for pair, rule in spans]


@given(texts_and_spans())
@example(("abcdefgh", [(0, -5, 0, "<{}>"), (3, -8, 1, "({})"), (4, -5, 2, "X"), (4, -4, 3, "Y")]))
@settings(deadline=None, max_examples=500)
def test_the_fast_way_and_the_slow_way_give_one_text(case):
    text, spans = case

    assert replace_spans(text, spans).text == paint_spans(text, spans)


@given(texts_and_spans(st.just("{}")))
@settings(deadline=None, max_examples=300)
def test_braces_everywhere_change_nothing(case):
    text, spans = case

    assert replace_spans(text, spans).text == text


@given(texts_and_spans(st.sampled_from(["", "X", "-"])))
@settings(deadline=None, max_examples=300)
def test_no_selected_character_survives_and_the_rest_stays_as_it_was(case):
    text, spans = case
    selected = {place for start, minus_end, _, _ in spans for place in range(start, -minus_end)}

    rewritten = replace_spans(text, spans)

    kept = [letter for place, letter in enumerate(text) if place not in selected]
    assert [letter for letter in rewritten.text if letter not in "X-"] == kept
    assert rewritten.num_removed == len(selected)


@given(texts_and_spans(), st.randoms())
@settings(deadline=None)
def test_the_order_in_which_spans_are_listed_changes_nothing(case, random):
    text, spans = case
    shuffled = list(spans)
    random.shuffle(shuffled)

    assert replace_spans(text, shuffled) == replace_spans(text, spans)


def take(nodes, length=10, **bounds):
    spans, num_reversed, num_outside = take_spans(nodes, length, rule=0, replacement="", **bounds)
    return [(start, -minus_end) for start, minus_end, _, _ in spans], num_reversed, num_outside


def test_ends_are_cut_at_the_text_and_what_has_no_place_in_it_is_counted():
    assert take([[[1, 9, 1], [7, 9, 1], [3, 1, 1], [-1, 2, 1], [0.0, 1.0, 1]]], length=3) == (
        [(1, 3), (0, 2), (0, 1)],
        1,
        1,
    )
    assert take([[[-3, -1, 1], [-2, 0, 1], [10, 12, 1], [50, 60, 1], [11, 11, 1]]]) == ([], 0, 5)
    assert take([[[0, 5, 1]]], length=0) == ([], 0, 1)
    assert take([[[0, 0, 1], [10, 10, 1]]]) == ([(0, 0), (10, 10)], 0, 0)


def test_one_hit_behaves_like_many():
    span, other = [0, 2, 1], [4, 6, 1]

    assert take([span])[0] == [(0, 2)]
    assert take([span, other])[0] == [(0, 2), (4, 6)]
    assert take([[span, other]])[0] == [(0, 2), (4, 6)]
    assert take([[span], None, [], [other]])[0] == [(0, 2), (4, 6)]


def test_a_score_counts_from_the_lowest_and_below_the_first_that_does_not():
    nodes = [[[0, 1, 0.4], [1, 2, 0.5], [2, 3, 0.7], [3, 4, 0.9], [4, 5, 1]]]

    assert take(nodes, lowest=0.5, beyond=0.9)[0] == [(1, 2), (2, 3)]
    assert take(nodes, lowest=0.9)[0] == [(3, 4), (4, 5)]
    assert take(nodes, beyond=1)[0] == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["text"], "must select spans [start, end, score], got 'text'"),
        ([{"a": 1}], "must select spans [start, end, score], got {'a': 1}"),
        ([False], "must select spans [start, end, score], got False"),
        ([[0, 1]], "a span must be [start, end, score], got [0, 1]"),
        ([[[0, 1, 1], 5]], "a span must be [start, end, score], got 5"),
        ([[[True, 1, 1]]], "a position in a text must be a whole number, got True in [True, 1, 1]"),
        ([[[0, 1.5, 1]]], "a position in a text must be a whole number, got 1.5 in [0, 1.5, 1]"),
        ([[["0", 1, 1]]], "a position in a text must be a whole number, got '0' in ['0', 1, 1]"),
        ([[[0, 1, None]]], "the score of a span must be a number, got None in [0, 1, None]"),
        ([[[0, 1, True]]], "the score of a span must be a number, got True in [0, 1, True]"),
    ],
)
def test_what_is_no_span_is_an_error_with_the_value(nodes, message):
    with pytest.raises(EvaluationError) as caught:
        take(nodes)
    assert str(caught.value) == message
