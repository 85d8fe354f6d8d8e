"""Rewriting texts by several rules: the short way gives what the general way gives, and counts alike."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.mixing.rewriting import Rewriter
from mixle_assets.recipe.streams import SpanReplacement

RULES = [
    SpanReplacement(span="$.attributes.a", min_score=0.5, replacement=""),
    SpanReplacement(span="$.attributes.b", max_score=0.9, replacement="<{}>"),
    SpanReplacement(span="$.attributes.c", replacement="|||"),
]

positions = st.integers(-2, 14)
scores = st.sampled_from([0.0, 0.4, 0.5, 0.9, 1, 2.5])
span_lists = st.lists(st.tuples(positions, positions, scores), max_size=5)
texts = st.text("abc é\n𝒳", max_size=12)


def rewrite(text, attributes):
    rewriter = Rewriter(RULES)
    return rewriter.rewrite({"text": text, "attributes": attributes}, text), rewriter.statistics()


@given(texts, st.dictionaries(st.sampled_from("abc"), span_lists))
@example("0123456789", {"a": [(5, 11, 1)], "c": [(5, 12, 1)]})
@example("0123456789", {"a": [(2, 6, 1), (2, 6, 1)], "c": [(3, 4, 1), (5, 8, 1), (8, 8, 1)]})
@example("0123456789", {"a": [(-1, 3, 1), (10, 12, 1), (6, 2, 1)]})
@settings(deadline=None, max_examples=600)
def test_spans_whose_types_were_checked_give_the_text_and_the_counts_of_those_that_were_not(text, checked):
    unchecked = {key: [list(span) for span in spans] for key, spans in checked.items()}

    assert rewrite(text, checked) == rewrite(text, unchecked)


def test_a_place_two_rules_mark_beyond_the_end_goes_to_the_first_rule():
    text, _ = rewrite("0123456789", {"a": [(5, 11, 1)], "c": [(5, 12, 1)]})

    assert text == "01234"
