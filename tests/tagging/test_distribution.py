"""How scores are summed up: the same for the same scores, however they were cut on the way."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.tagging.distribution import Distribution

SCORES = st.floats(allow_nan=False, allow_infinity=False).map(lambda score: round(score, 5))


def summed(*parts):
    distribution = Distribution()
    for part in parts:
        distribution.scores_of("key").extend(part)
        distribution.fold(all_of_them=True)
    return distribution.as_json()


@settings(deadline=None)
@given(scores=st.lists(SCORES, min_size=1, max_size=40), cut=st.integers(0, 40))
def test_how_scores_are_cut_changes_nothing(scores, cut):
    assert summed(scores[:cut], scores[cut:]) == summed(scores)


@settings(deadline=None)
@given(scores=st.lists(st.floats(-1e6, 1e6).map(lambda score: round(score, 5)), min_size=1, max_size=40))
def test_the_mean_is_that_of_the_scores(scores):
    assert math.isclose(summed(scores)["key"]["mean"], math.fsum(scores) / len(scores), abs_tol=2e-6)


def test_scores_beyond_any_measure_still_have_a_mean():
    assert summed([1.5e308, 1.7e308])["key"]["mean"] == 1.6e308


def test_no_scores_are_no_measure():
    assert summed([]) == {}
