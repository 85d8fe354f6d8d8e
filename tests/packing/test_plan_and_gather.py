import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.packing.fit import fit_documents
from mixle_assets.packing.gather import gather_rows
from mixle_assets.packing.plan import concatenate
from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.token_source import source_in_memory, source_of
from mixle_assets.packing.views import mask_of
from mixle_assets.records import Segment

KERNELS = ["numpy", "arrow", "numba"]

documents_of = st.lists(st.lists(st.integers(0, 500), max_size=12), min_size=1, max_size=12)


def plan_of(documents, strategy="concatenate", *, block, boundary, order=None):
    lengths = np.array([len(tokens) for tokens in documents])
    order = np.arange(len(documents)) if order is None else np.array(order)
    make = concatenate if strategy == "concatenate" else fit_documents
    return make(order, lengths, block=block, has_boundary=boundary is not None)


def source(documents, dtype=np.uint16):
    return source_in_memory([np.array(tokens, dtype) for tokens in documents])


def test_documents_lie_on_one_line_that_is_cut_into_rows():
    plan = plan_of([[5, 6, 7], [8, 9]], block=3, boundary=2)

    assert plan.begins.tolist() == [0, 4]
    assert plan.ends.tolist() == [4, 7]
    assert plan.num_rows == 2
    assert plan.row_lengths(np.array([0, 1])).tolist() == [4, 3]
    assert plan.segments(0) == [Segment(0, 0, 4, 0, 4)]
    assert plan.segments(1) == [Segment(1, 0, 3, 0, 3)]


def test_a_segment_says_where_in_document_and_row_it_lies():
    plan = plan_of([[1, 1, 1, 1, 1], [2, 2]], block=2, boundary=9)  # 1 1 1 | 1 1 9 | 2 2 9

    assert plan.segments(1) == [Segment(0, 3, 6, 0, 3)]
    assert plan.rows_of(0) == [0, 1]
    assert plan.rows_of(1) == [2]


def test_an_empty_document_without_boundary_stands_nowhere():
    plan = plan_of([[1, 1], [], [2, 2]], block=3, boundary=None)

    assert plan.segments(0) == [Segment(0, 0, 2, 0, 2), Segment(2, 0, 2, 2, 4)]
    assert plan.rows_of(1) == []


@pytest.mark.parametrize("kernel", KERNELS)
@settings(deadline=None)
@given(
    documents=documents_of,
    block=st.integers(1, 9),
    boundary=st.sampled_from([None, 0, 501]),
    pad=st.sampled_from([0, 502]),
    data=st.data(),
)
def test_gathered_rows_are_the_rows_that_packing_makes(kernel, documents, block, boundary, pad, data):
    order = data.draw(st.permutations(range(len(documents))))
    packed = pack_documents(documents, order, block, pad_id=pad, boundary_id=boundary)
    plan = plan_of(documents, block=block, boundary=boundary, order=order)

    rows = gather_rows(
        plan, source(documents), range(plan.num_rows), boundary_id=boundary, pad_id=pad, kernel=kernel
    )

    assert rows.tolist() == packed.rows.tolist()
    assert plan.real_tokens == packed.real_tokens
    assert mask_of(plan.row_lengths(np.arange(plan.num_rows)), block).tolist() == packed.loss_mask.tolist()


@pytest.mark.parametrize("kernel", KERNELS)
@settings(deadline=None)
@given(
    documents=documents_of,
    block=st.integers(1, 9),
    strategy=st.sampled_from(["concatenate", "best_fit"]),
    data=st.data(),
)
def test_any_rows_in_any_order_are_those_rows(kernel, documents, block, strategy, data):
    plan = plan_of(documents, strategy, block=block, boundary=501)
    everything = gather_rows(
        plan, source(documents), range(plan.num_rows), boundary_id=501, pad_id=7, kernel="numpy"
    )
    wanted = data.draw(st.lists(st.integers(-1, plan.num_rows - 1), max_size=8))

    rows = gather_rows(
        plan, source(documents), np.array(wanted, np.int64), boundary_id=501, pad_id=7, kernel=kernel
    )

    padding = [7] * (block + 1)
    assert rows.tolist() == [everything[row].tolist() if row >= 0 else padding for row in wanted]


@settings(deadline=None)
@given(documents=documents_of, block=st.integers(1, 9), boundary=st.sampled_from([None, 501]))
def test_best_fit_holds_every_token_once_and_cuts_only_what_is_longer_than_a_row(documents, block, boundary):
    plan = plan_of(documents, "best_fit", block=block, boundary=boundary)
    rows = gather_rows(plan, source(documents), range(plan.num_rows), boundary_id=boundary, pad_id=502)

    found = {number: [] for number in range(len(documents))}
    pieces = dict.fromkeys(found, 0)
    for number, row in enumerate(rows.tolist()):
        filled = 0
        for segment in plan.segments(number):
            assert segment.row_start == filled
            filled = segment.row_stop
            pieces[segment.document] += 1
            for place in range(segment.row_start, segment.row_stop):
                found[segment.document].append(
                    (segment.document_start + place - segment.row_start, row[place])
                )
        assert row[filled:] == [502] * (block + 1 - filled)
        assert plan.row_lengths(np.array([number])).tolist() == [filled]
    end = [] if boundary is None else [boundary]
    for number, tokens in enumerate(documents):
        whole = tokens + end
        assert sorted(found[number]) == list(enumerate(whole))
        assert pieces[number] == -(-len(whole) // (block + 1))


def test_best_fit_puts_a_short_document_where_it_leaves_the_least_room():
    documents = [[0] * 3, [1] * 6, [2], [3] * 2]

    plan = plan_of(documents, "best_fit", block=3, boundary=None)

    rows = gather_rows(plan, source(documents), range(plan.num_rows), boundary_id=None, pad_id=9)
    assert rows.tolist() == [[0, 0, 0, 2], [1, 1, 1, 1], [1, 1, 3, 3]]


def test_best_fit_in_small_windows_keeps_neighbours_together():
    documents = [[0] * 3, [1] * 3, [2], [3]]

    plan = fit_documents(np.arange(4), np.array([3, 3, 1, 1]), block=3, has_boundary=False, window=2)

    rows = gather_rows(plan, source(documents), range(plan.num_rows), boundary_id=None, pad_id=9)
    assert rows.tolist() == [[0, 0, 0, 9], [1, 1, 1, 9], [2, 3, 9, 9]]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int64])
def test_documents_of_several_files_are_gathered_in_their_dtype(kernel, dtype):
    first, second = np.array([0, 1, 1, 0], dtype), np.array([2, 2, 3], dtype)
    files = [(first, np.array([1]), np.array([2])), (second, np.array([0, 2]), np.array([2, 1]))]
    tokens = source_of(files, np.dtype(dtype))
    plan = concatenate(np.array([2, 0, 1], np.uint32), tokens.lengths, block=3, has_boundary=True)

    rows = gather_rows(plan, tokens, range(2), boundary_id=9, pad_id=0, kernel=kernel)

    assert rows.dtype == dtype
    assert rows.tolist() == [[3, 9, 1, 1], [9, 2, 2, 9]]


def test_a_row_that_is_not_there_is_refused():
    plan = plan_of([[1, 2]], block=3, boundary=None)

    with pytest.raises(IndexError, match="row 1 of 1"):
        gather_rows(plan, source([[1, 2]]), [1], boundary_id=None, pad_id=0)


def test_offsets_beyond_32_bits_keep_their_value():
    plan = concatenate(np.array([0, 1]), np.array([3 * 2**31, 5]), block=2**31 - 1, has_boundary=True)

    assert plan.ends.tolist() == [3 * 2**31 + 1, 3 * 2**31 + 7]
    assert plan.segments(3) == [Segment(0, 3 * 2**31, 3 * 2**31 + 1, 0, 1), Segment(1, 0, 6, 1, 7)]
