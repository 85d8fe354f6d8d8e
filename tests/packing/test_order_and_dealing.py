import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.packing.dealing import Deal, deal_documents, deal_rows
from mixle_assets.packing.order import global_document_order, separated_document_order


def rows_of(deal):
    return [deal.rows_of(rank, 0, deal.rows_per_rank[rank]).tolist() for rank in range(deal.world_size)]


def test_orders_are_the_recorded_ones():
    assert global_document_order(5, seed=0, epoch=0).tolist() == [0, 3, 1, 2, 4]
    assert global_document_order(5, seed=0, epoch=1).tolist() == [0, 1, 3, 2, 4]
    assert separated_document_order(8, seed=0, epoch=0).tolist() == [1, 3, 0, 7, 5, 2, 6, 4]


def test_the_separated_order_does_not_join_seed_and_epoch():
    same = [
        order(16, seed=5 + 7 * 2**32, epoch=0).tolist() == order(16, seed=5, epoch=7).tolist()
        for order in (global_document_order, separated_document_order)
    ]

    assert same == [True, False]


@pytest.mark.parametrize("order", [global_document_order, separated_document_order])
def test_seed_and_epoch_are_not_interchangeable(order):
    assert order(16, seed=0, epoch=1).tolist() != order(16, seed=1, epoch=0).tolist()


@given(st.integers(0, 50), st.integers(0, 2**70), st.integers(0, 5))
@settings(deadline=None)
def test_an_order_holds_each_document_once(number, seed, epoch):
    for make in (global_document_order, separated_document_order):
        assert sorted(make(number, seed=seed, epoch=epoch).tolist()) == list(range(number))


def test_seven_rows_for_three_ranks():
    assert rows_of(deal_rows(7, 3, "none")) == [[0, 3, 6], [1, 4], [2, 5]]
    assert rows_of(deal_rows(7, 3, "drop")) == [[0, 3], [1, 4], [2, 5]]
    assert rows_of(deal_rows(7, 3, "pad")) == [[0, 3, 6], [1, 4, -1], [2, 5, -1]]
    assert deal_rows(7, 3, "drop").num_dropped_rows == 1
    assert deal_rows(7, 3, "pad").num_padded_rows == 2


def test_the_rest_of_an_epoch_is_dealt_to_another_number_of_ranks():
    assert rows_of(deal_rows(7, 2, "none", first_row=3)) == [[3, 5], [4, 6]]
    assert rows_of(deal_rows(7, 2, "none", first_row=9)) == [[], []]


def test_ranks_with_documents_of_their_own_keep_their_row_numbers():
    assert rows_of(deal_documents([3, 1], "none")) == [[0, 1, 2], [0]]
    assert rows_of(deal_documents([3, 1], "drop")) == [[0], [0]]
    assert rows_of(deal_documents([3, 1], "pad")) == [[0, 1, 2], [0, -1, -1]]


@given(
    num_rows=st.integers(0, 40),
    world_size=st.integers(1, 9),
    batch_size=st.integers(1, 5),
    equalize=st.sampled_from(["none", "drop", "pad"]),
)
def test_ranks_share_the_rows_and_are_as_equal_as_declared(num_rows, world_size, batch_size, equalize):
    deal: Deal = deal_rows(num_rows, world_size, equalize)
    dealt = rows_of(deal)
    real = sorted(row for rows in dealt for row in rows if row >= 0)
    batches = {deal.num_batches(rank, batch_size) for rank in range(world_size)}

    assert real == list(range(num_rows - deal.num_dropped_rows))
    assert sum(rows.count(-1) for rows in dealt) == deal.num_padded_rows
    assert max(deal.rows_per_rank) - min(deal.rows_per_rank) <= (equalize == "none")
    assert len(batches) == 1 or equalize == "none"


def test_rows_of_a_rank_can_be_asked_for_in_part():
    assert deal_rows(7, 3, "pad").rows_of(1, 1, 99).tolist() == [4, -1]
    assert np.array_equal(deal_rows(7, 3, "none").rows_of(0, 2, 3), [6])
