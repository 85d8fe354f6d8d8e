import numpy as np
import pytest

from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.strict import StrictDocuments

HOW = {"rank": 0, "world_size": 1, "block": 3, "batch_size": 2}


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ([1, -2], ValueError, r"documents\[1\] holds -2 at 1; ids must be 0 or more and below 100"),
        ([100], ValueError, r"documents\[1\] holds 100 at 0"),
        (bytearray(b"ab"), TypeError, r"documents\[1\] must hold token ids, got a bytearray"),
        (np.ma.array([1, 2], mask=[False, True]), TypeError, "got a MaskedArray"),
        ([True, 2], TypeError, "holds True or False among its token ids"),
        ([1.5], ValueError, "no whole number"),
    ],
    ids=str,
)
def test_what_mixle_takes_in_silence_is_refused_on_request(document, error, message):
    documents = [[1, 2], document]

    with pytest.raises(error, match=message):
        pack_documents(StrictDocuments(documents, vocab_size=100), [0, 1], 3)
    with pytest.raises(error, match=message):
        list(StreamingCorpus(documents, **HOW, strict=True, vocab_size=100).epoch_batches(0))


def test_good_documents_give_the_same_batches():
    documents = [np.arange(k, dtype=np.uint16) for k in range(9)]

    plain, strict = (
        list(StreamingCorpus(documents, **HOW, strict=strict).epoch_batches(0)) for strict in (False, True)
    )

    assert [b.context.tolist() for b in plain] == [b.context.tolist() for b in strict]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"pad_id": -1}, "pad_id must be 0 or more"),
        (
            {"boundary_id": 100, "vocab_size": 100},
            "boundary_id must be 0 or more and below the vocabulary of 100",
        ),
        ({"seed": 2**32}, "seed must be below 2[*][*]32 in the order of mixle"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_meant_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        StreamingCorpus([[1]], **HOW, **how, strict=True)


def test_any_seed_is_fine_in_the_separated_order():
    assert StreamingCorpus([[1]], **HOW, seed=2**70, order="separated", strict=True).num_batches(0) == 1


def test_what_is_no_sequence_or_no_function_is_refused_at_once():
    with pytest.raises(TypeError, match="documents must be a sequence, got NoneType"):
        StreamingCorpus(None, **HOW, strict=True)
    with pytest.raises(TypeError, match="sequence_selector must be callable, got 3"):
        StreamingCorpus([[1]], **HOW, sequence_selector=3, strict=True)


def test_a_selector_is_checked():
    corpus = StreamingCorpus([[1], [2]], **HOW, sequence_selector=lambda o, s, e: o + 1, strict=True)

    with pytest.raises(ValueError, match="the selector returned 2 at place"):
        corpus.rank_document_indices(0)
    with pytest.raises(ValueError, match="the selector returned 2 at place"):
        next(corpus.epoch_batches(0))
