import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.segments import (
    MaskedMean,
    document_mask,
    edge_mask,
    masked_mean,
    segment_arrays,
)
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.trace import TracedSegment, trace_batch, trace_id, trace_row
from mixle_assets.records import Segment

# Rows [5 6 7 2] [8 9 2 _]: document 0 is 5 6 7, document 1 is 8 9, the boundary 2.
TWO_ROWS = [[Segment(0, 0, 4, 0, 4)], [Segment(1, 0, 3, 0, 3)]]


def test_positions_begin_anew_with_each_document():
    arrays = segment_arrays([[Segment(4, 2, 4, 0, 2), Segment(7, 0, 3, 2, 5)], *TWO_ROWS[1:]], 4)

    assert arrays.position_ids.tolist() == [[0, 1, 0, 1], [0, 1, 2, 0]]
    assert arrays.document_ids.tolist() == [[4, 4, 7, 7], [1, 1, 1, -1]]
    assert arrays.cu_seqlens.tolist() == [0, 2, 4, 7, 8]
    assert arrays.max_seqlen == 3


def test_a_document_that_is_only_a_target_has_no_segment_in_the_context():
    arrays = segment_arrays([[Segment(0, 0, 3, 0, 3), Segment(1, 0, 1, 3, 4)]], 3)

    assert arrays.document_ids.tolist() == [[0, 0, 0]]
    assert arrays.cu_seqlens.tolist() == [0, 3]


def test_a_row_of_padding_alone_is_one_segment_of_padding():
    arrays = segment_arrays([[]], 3)

    assert arrays.document_ids.tolist() == [[-1, -1, -1]]
    assert arrays.cu_seqlens.tolist() == [0, 3]


def test_the_first_token_of_a_document_is_no_target_of_the_one_before():
    rows = [[Segment(4, 2, 4, 0, 2), Segment(7, 0, 3, 2, 5)], *TWO_ROWS[1:]]

    assert edge_mask(rows, 4).tolist() == [[True, False, True, True], [True, True, False, False]]


def test_documents_can_be_left_out_of_training():
    rows = [[Segment(4, 2, 4, 0, 2), Segment(7, 0, 3, 2, 5)]]

    assert document_mask(rows, 4, lambda document: document == 7).tolist() == [[False, True, True, True]]
    assert document_mask(rows, 4, lambda document: document == 4).tolist() == [[True, False, False, False]]


def test_a_masked_mean_is_never_nought_by_nought():
    nothing = masked_mean([np.nan, np.inf], [False, False])
    something = masked_mean([1.0, np.nan, 4.0], [True, False, True])

    assert (*nothing, nothing.mean) == (0.0, 0, 0.0)
    assert (*something, something.mean) == (5.0, 2, 2.5)
    assert nothing + something + MaskedMean(1.0, 1) == MaskedMean(6.0, 3)


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"mask has shape \(2,\), values have \(3,\)"):
        masked_mean([1, 2, 3], [True, False])


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=9),
    block=st.integers(1, 6),
    strategy=st.sampled_from(["concatenate", "best_fit"]),
)
def test_arrays_agree_with_the_tokens_of_the_batch(lengths, block, strategy):
    """Each token is its document's number, so the tokens say what the arrays should."""
    documents = [np.full(length, number) for number, length in enumerate(lengths)]
    corpus = StreamingCorpus(
        documents, rank=0, world_size=1, block=block, batch_size=3, pad_id=-1, strategy=strategy
    )
    for step in range(corpus.num_batches(0)):
        batch = corpus.batch(0, step)
        segments = corpus.segments(0, step)
        arrays = segment_arrays(segments, block)
        context, targets = batch.context, batch.targets

        assert arrays.document_ids.tolist() == context.tolist()
        assert edge_mask(segments, block).tolist() == (batch.loss_mask & (context == targets)).tolist()
        assert document_mask(segments, block, lambda _: True).tolist() == batch.loss_mask.tolist()
        assert arrays.cu_seqlens[-1] == context.size
        for start, stop in zip(arrays.cu_seqlens[:-1], arrays.cu_seqlens[1:], strict=True):
            assert arrays.position_ids.ravel()[start:stop].tolist() == list(range(stop - start))
            assert len(set(context.ravel()[start:stop].tolist())) == 1
            assert start // block == (stop - 1) // block


def test_a_row_is_traced_to_its_documents(corpus_folder):
    corpus_folder.add_stream("prose", [[1, 1, 1]], [[2, 2]]).add_stream("code", [[3] * 6])
    corpus_folder.pack()
    corpus = load_corpus(corpus_folder.root)

    # Order for seed 0: 1 2 0, so 2 2 B 3 3 | 3 3 3 3 B | 1 1 1 B _
    assert trace_row(corpus, 0, 0, 0) == [
        TracedSegment(1, "prose-1", "prose", "prose/0001.jsonl.gz:1", 0, 3, 0, 3, True),
        TracedSegment(2, "code-0", "code", "code/0000.jsonl.gz:1", 0, 2, 3, 5, False),
    ]
    assert trace_batch(corpus, 0, 0, 0) == [trace_row(corpus, 0, 0, 0), trace_row(corpus, 0, 0, 1)]
    assert trace_batch(corpus, 0, 0, 1) == [trace_row(corpus, 0, 0, 2)]


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("strategy", ["concatenate", "best_fit"])
@pytest.mark.parametrize("equalize", ["none", "drop", "pad"])
@pytest.mark.parametrize("epoch", [0, 3])
def test_every_cell_is_traced_to_its_document_and_back(corpus_folder, residency, strategy, equalize, epoch):
    documents = [[number + 1] * length for number, length in enumerate([3, 9, 1, 4, 0, 7, 2, 11])]
    corpus_folder.add_stream("a", documents[:3], documents[3:5]).add_stream("b", documents[5:], weight=2)
    corpus_folder.pack(world_size=2, residency=residency, strategy=strategy, equalize=equalize)
    corpus = load_corpus(corpus_folder.root)
    from_rows = {}
    for rank in range(2):
        reader = StreamingCorpus(corpus, rank=rank, batch_size=1)
        for row in range(reader.num_rows(epoch)):
            batch = reader.batch(epoch, row)
            tokens = [*batch.context[0].tolist(), int(batch.targets[0, -1])]
            for segment in trace_row(corpus, epoch, rank, row):
                held = tokens[segment.row_start : segment.row_stop]
                expected = [segment.document + 1] * (len(held) - segment.has_boundary)
                assert held == expected + [999] * segment.has_boundary
                from_rows.setdefault(segment.id, []).append((rank, row, segment))

    for number in range(5):
        places = trace_id(corpus, epoch, f"a-{number}")
        read = [(place.rank, place.row, place.segment) for place in places if place.rank is not None]
        assert sorted(read) == sorted(from_rows.get(f"a-{number}", []))
        assert all(place.batch == place.row // 2 for place in places if place.rank is not None)


def test_a_document_can_be_looked_up_by_where_it_came_from(corpus_folder):
    corpus_folder.add_stream("prose", [[1, 1, 1], [2]]).pack()
    corpus = load_corpus(corpus_folder.root)

    assert trace_id(corpus, 0, "prose/0000.jsonl.gz:2") == trace_id(corpus, 0, "prose-1")
    with pytest.raises(KeyError, match="no document has the id or provenance 'prose-2'"):
        trace_id(corpus, 0, "prose-2")


@pytest.mark.parametrize(
    ("rank", "row", "message"),
    [(1, 0, "rank 1 of 1"), (0, 2, "row 2 of epoch 0: rank 0 has 2 rows"), (0, -1, "row -1")],
)
def test_a_row_that_is_not_there_cannot_be_traced(corpus_folder, rank, row, message):
    corpus_folder.add_stream("prose", [[1, 1, 1], [2]]).pack()

    with pytest.raises(IndexError, match=message):
        trace_row(load_corpus(corpus_folder.root), 0, rank, row)
