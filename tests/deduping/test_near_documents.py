"""Near documents: signatures, clusters, and which member of a cluster stays."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.deduping.clusters import Clusters, join_candidates
from mixle_assets.deduping.minhash import shingles, signature
from mixle_assets.recipe import Dedupe

NEAR = "near_duplicate_docs"
RULES = Dedupe(near_documents={})


def words(first: int, last: int) -> str:
    return " ".join(f"w{number}" for number in range(first, last))


A, B, C = words(0, 400), words(20, 420), words(40, 440)
"""A~B and B~C share 376 of 416 shingles (0.90), A and C 356 of 436 (0.82)."""


@settings(deadline=None, max_examples=30)
@given(shared=st.integers(0, 300), own=st.integers(1, 100))
def test_signatures_agree_in_about_the_share_of_common_shingles(shared, own):
    common = [f"s{n}" for n in range(shared)]
    one = shingles(" ".join(common + [f"a{n}" for n in range(own)]), 1)
    other = shingles(" ".join(common + [f"b{n}" for n in range(own)]), 1)

    agreement = (signature(one, 512) == signature(other, 512)).mean()
    jaccard = shared / (shared + 2 * own)
    assert abs(agreement - jaccard) < 5 * np.sqrt(0.25 / 512)


def test_a_signature_is_the_same_for_ever():
    # Stored signatures are compared with new ones, so these numbers may never change.
    assert signature(shingles("The quick brown fox, jumps", 2), 4).tolist() == [
        659844458,
        881623784,
        475685801,
        287705431,
    ]


def test_shingles_leave_case_and_punctuation_out_and_short_texts_are_one():
    assert np.array_equal(shingles("A, b! C.", 2), shingles("a b c", 2))
    assert len(shingles("a b", 5)) == 1
    assert len(shingles("...", 5)) == 0
    assert signature(shingles("", 5), 2).tolist() == [2**32 - 1] * 2


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20))
def test_the_root_of_a_cluster_is_its_smallest_member(pairs):
    clusters = Clusters()
    sets: list[set[int]] = []
    for one, other in pairs:
        clusters.join(one, other)
        touched = [s for s in sets if s & {one, other}]
        sets = [s for s in sets if not s & {one, other}] + [set().union({one, other}, *touched)]

    expected = sorted((member, min(s)) for s in sets for member in s)
    assert clusters.members() == expected
    assert [clusters.root(member) for member, _ in expected] == [root for _, root in expected]


@pytest.mark.parametrize("order", [(A, B, C), (C, A, B), (B, C, A)])
def test_of_a_chain_of_near_documents_exactly_one_stays(dedupe, order):
    corpus = dedupe({"p/0000": {"a.jsonl": [*order, words(1000, 1400)]}}, RULES)

    found = corpus.attributes()
    assert [NEAR in row for row in found] == [False, True, True, False]
    assert all(row[NEAR][0][2] > 0.7 for row in found[1:3])


def test_what_is_near_to_a_reference_goes_even_along_a_chain(dedupe):
    shards = {"p/0000": {"a.jsonl": [A, B, words(1000, 1400)]}}
    rules = Dedupe(near_documents={"min_similarity": 0.86})
    known = {"against": {"known.jsonl": [{"id": "r7", "text": C}]}}

    without = dedupe(shards, rules)
    assert [NEAR in row for row in without.attributes()] == [False, True, False]
    against = dedupe(shards, rules, references=known)
    found = against.attributes("a.jsonl")
    assert [row.get(NEAR + "_match") for row in found] == [["r7"], ["r7"], None]
    assert [row[NEAR][0][:2] for row in found[:2]] == [[0, len(A)], [0, len(B)]]


@pytest.mark.parametrize(
    ("keep", "marked"), [("first", [0, 1, 1]), ("none", [1, 1, 1]), ({"prefer": ["c"]}, [1, 1, 0])]
)
def test_keep_says_which_near_document_stays(dedupe, keep, marked):
    shards = {f"{name}/0000": {f"{name}.jsonl": [text]} for name, text in zip("abc", (A, B, C), strict=True)}
    corpus = dedupe(shards, Dedupe(near_documents={}, keep=keep))

    assert [NEAR in row for row in corpus.attributes()] == [bool(mark) for mark in marked]


def test_equal_documents_are_near_and_texts_without_words_are_not(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["...", "x y", "...", "", "X, y!"]}}, RULES)

    assert corpus.attributes() == [{}, {}, {}, {}, {NEAR: [[0, 5, 1.0]]}]


def test_bands_buckets_and_batches_change_no_mark(dedupe):
    generator = random.Random(5)
    texts = [words(start, start + 60) for start in (generator.randrange(0, 300) for _ in range(60))]
    shards = {f"p/{n:04d}": {f"{n}.jsonl": texts[n::3]} for n in range(3)}
    corpus = dedupe(shards, RULES)

    assert dedupe(shards, RULES, bucket_in_hashes=50).digests() == corpus.digests()
    assert 0 < sum(NEAR in row for row in corpus.attributes()) < 60


def test_members_of_one_band_that_are_not_near_stay_apart():
    signatures = np.array([[1, 2, 3, 4], [1, 9, 9, 9], [1, 9, 9, 8], [1, 2, 3, 5]], np.uint32)
    found = join_candidates(
        [np.arange(4)],
        lambda positions: signatures[positions],
        np.zeros_like,
        min_similarity=0.75,
        keep_one=True,
    )

    assert found.positions.tolist() == [2, 3]
    assert found.roots.tolist() == [1, 0]
    assert found.similarities.tolist() == [0.75, 0.75]
