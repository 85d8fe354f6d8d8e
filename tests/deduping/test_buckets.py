"""Equal hashes are found whatever the number of buckets and the order of adding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.deduping.buckets import Occurrences

# Few different halves, so that hashes which share only the first or only the second half occur.
halves = st.sampled_from([0, 1, 2, 2**31, 2**32, 2**63, 2**64 - 1])
hashes = st.lists(st.tuples(halves, halves), max_size=40)


def as_bytes(values: list[tuple[int, int]]) -> np.ndarray:
    return np.array(values, "<u8").reshape(-1, 2).view(np.uint8).reshape(-1, 16)


def match(tmp_path_factory, values, *, num_buckets, keep_one=True, ranks=None, cuts=()):
    occurrences = Occurrences(num_buckets, tmp_path_factory.mktemp("buckets"))
    pieces = np.split(np.arange(len(values)), sorted(min(cut, len(values)) for cut in cuts))
    for piece in pieces[::-1]:  # added in an order that is not theirs
        occurrences.add(as_bytes([values[position] for position in piece]), piece)
    occurrences.match(ranks or (lambda positions: np.zeros(len(positions), np.int64)), keep_one=keep_one)
    return occurrences


def match_with_a_dict(values, rank_of, keep_one):
    places: dict = {}
    for position, value in enumerate(values):
        if value != (0, 0):
            places.setdefault(value, []).append((rank_of(position), position))
    found = {}
    for copies in places.values():
        ordered = [position for _, position in sorted(copies)]
        if len(ordered) > 1:
            found |= dict.fromkeys(ordered[1:], ordered[0])
            if not keep_one:
                found[ordered[0]] = ordered[1]
    return sorted(found.items())


@settings(deadline=None, max_examples=60)
@given(
    values=hashes,
    num_buckets=st.sampled_from([1, 2, 3, 7]),
    keep_one=st.booleans(),
    ranked=st.booleans(),
    cuts=st.lists(st.integers(0, 40), max_size=3),
)
def test_matches_are_those_of_a_dictionary(tmp_path_factory, values, num_buckets, keep_one, ranked, cuts):
    def rank_of(position):
        return -position % 3 if ranked else 0

    found = match(
        tmp_path_factory,
        values,
        num_buckets=num_buckets,
        keep_one=keep_one,
        ranks=lambda positions: np.array([rank_of(p) for p in positions.tolist()], np.int64),
        cuts=cuts,
    )

    expected = match_with_a_dict(values, rank_of, keep_one)
    pairs = found.between(0, len(values))
    assert list(zip(pairs.positions.tolist(), pairs.matches.tolist(), strict=True)) == expected
    assert found.matched_between(0, len(values)).tolist() == sorted({first for _, first in expected})
    assert found.num_added == sum(value != (0, 0) for value in values)


def test_a_range_gives_its_own_matches_only(tmp_path_factory):
    found = match(tmp_path_factory, [(5, 5)] * 6, num_buckets=2)

    assert found.between(2, 4).positions.tolist() == [2, 3]
    assert found.matched_between(1, 6).tolist() == []


@pytest.mark.parametrize("num_buckets", [0, 513])
def test_too_few_or_too_many_buckets_are_refused(tmp_path, num_buckets):
    with pytest.raises(ValueError, match=str(num_buckets)):
        Occurrences(num_buckets, tmp_path)
