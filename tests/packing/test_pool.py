from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.packing.pool import PoolStream, choose_documents, multiplicities, pool_documents


def ids_of(streams):
    return lambda number: [f"{streams[number].name}-{k}" for k in range(streams[number].num_documents)]


def pool(*streams, seed=0, epoch=0):
    return pool_documents(streams, ids_of(streams), seed=seed, epoch=epoch)


@pytest.mark.parametrize(
    ("weight", "num_documents", "quota"),
    [
        (1.0, 10, (1, 0)),
        (2, 10, (2, 0)),
        (0.5, 10, (0, 5)),
        (1.3, 10, (1, 3)),
        (0.1, 3, (0, 0)),
        (0.3, 1000, (0, 300)),
        (2.9, 10, (2, 9)),
        (0.0, 10, (0, 0)),
        (1e-6, 3_000_000, (0, 3)),
        (0.9999999, 10_000_000, (0, 9_999_999)),
    ],
)
def test_weights_are_exact_whole_numbers_of_documents(weight, num_documents, quota):
    assert PoolStream("s", num_documents, weight).quota == quota


def test_every_document_once_needs_no_pool():
    assert pool(PoolStream("a", 3), PoolStream("b", 2)) is None


def test_copies_come_one_after_another_and_streams_too():
    assert pool(PoolStream("a", 2, 2.0), PoolStream("b", 2), PoolStream("c", 2, 0)).tolist() == [
        0,
        1,
        0,
        1,
        2,
        3,
    ]


def test_a_fraction_is_a_sample_from_all_over_the_stream_in_its_own_order():
    chosen = pool(PoolStream("a", 1000, 0.1))

    assert len(chosen) == 100
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    # Not the head of the file: a tenth of a tenth lies in each tenth.
    assert np.histogram(chosen, bins=10, range=(0, 1000))[0].min() >= 3


def test_a_fraction_is_the_same_in_each_epoch_unless_resampled():
    def chosen(epoch, resample):
        return pool(PoolStream("a", 100, 0.3, resample), epoch=epoch).tolist()

    assert chosen(0, False) == chosen(1, False)
    assert chosen(0, True) != chosen(1, True)
    assert chosen(1, True) == chosen(1, True)


def test_a_fraction_depends_on_the_seed_and_on_no_other_stream():
    alone = pool(PoolStream("a", 100, 0.3))
    beside = pool(PoolStream("a", 100, 0.3), PoolStream("b", 50, 0.5))

    assert beside[:30].tolist() == alone.tolist()
    assert pool(PoolStream("a", 100, 0.3), seed=1).tolist() != alone.tolist()


def test_documents_with_one_id_are_told_apart_by_position():
    assert len(set(choose_documents(["x"] * 10, 5, seed=0, stream="a", epoch=None).tolist())) == 5


def test_ids_keep_their_type_when_they_are_hashed():
    def chosen(ids):
        return choose_documents(ids, 50, seed=0, stream="a", epoch=None).tolist()

    assert chosen(list(range(100))) != chosen([str(k) for k in range(100)])


@settings(deadline=None)
@given(
    weights=st.lists(st.sampled_from([0, 0.25, 0.5, 1, 1.3, 2, 3.75]), min_size=1, max_size=4),
    sizes=st.lists(st.integers(0, 20), min_size=4, max_size=4),
)
def test_each_document_comes_floor_or_ceiling_of_its_weight(weights, sizes):
    streams = [
        PoolStream(f"s{k}", size, weight)
        for k, (weight, size) in enumerate(zip(weights, sizes, strict=False))
    ]
    documents = pool(*streams)
    total = sum(stream.num_documents for stream in streams)
    times = multiplicities(np.arange(total) if documents is None else documents, total)

    first = 0
    for stream in streams:
        own = times[first : first + stream.num_documents]
        copies, extra = stream.quota
        assert (own == copies + 1).sum() == extra
        assert (own == copies).sum() == len(own) - extra
        assert own.sum() == stream.num_entries
        first += stream.num_documents


EXTREME = ["0", "1e-6", "2.999999999", "1000", "0.3333333333333333", "0.9999999", "1e-12", "999.5"]


@settings(deadline=None)
@given(
    weight=st.sampled_from(EXTREME) | st.decimals(0, 1000, places=9).map(str),
    num_documents=st.integers(0, 10**12),
)
def test_a_quota_is_the_nearest_whole_number_to_the_weight_that_was_written(weight, num_documents):
    stream = PoolStream("s", num_documents, float(weight))
    copies, extra = stream.quota

    assert copies == int(Decimal(weight))
    assert 0 <= extra <= num_documents
    assert abs(stream.num_entries - Decimal(weight) * num_documents) <= Decimal("0.5")


@settings(deadline=None, max_examples=30)
@given(
    weights=st.lists(st.sampled_from(EXTREME), min_size=1, max_size=3),
    sizes=st.lists(st.integers(0, 60), min_size=3, max_size=3),
    seed=st.integers(0, 2**40),
)
def test_a_pool_with_extreme_weights_is_exact(weights, sizes, seed):
    streams = [
        PoolStream(f"s{k}", size, float(weight))
        for k, (weight, size) in enumerate(zip(weights, sizes, strict=False))
    ]
    documents = pool(*streams, seed=seed)
    total = sum(stream.num_documents for stream in streams)
    times = multiplicities(np.arange(total) if documents is None else documents, total)

    first = 0
    for stream, weight in zip(streams, weights, strict=True):
        own = times[first : first + stream.num_documents]
        exact = Decimal(weight) * stream.num_documents
        assert abs(int(own.sum()) - exact) <= Decimal("0.5")
        assert set(own.tolist()) <= {int(Decimal(weight)), int(Decimal(weight)) + 1}
        first += stream.num_documents


def test_three_thirds_of_a_hundred_documents_lose_at_most_the_rounding():
    thirds = [PoolStream(name, 100, 1 / 3).num_entries for name in "abc"]

    assert thirds == [33, 33, 33]
    # Weights are copies, not shares: they need not add up to one, and a stream's quota knows no other stream.
    assert PoolStream("a", 100, 0.9999999).num_entries == 100


def test_a_larger_sample_holds_every_smaller_one():
    samples = [set(pool(PoolStream("a", 1000, weight)).tolist()) for weight in (0.01, 0.1, 0.5, 0.99)]

    assert [len(sample) for sample in samples] == [10, 100, 500, 990]
    assert samples[0] < samples[1] < samples[2] < samples[3]
