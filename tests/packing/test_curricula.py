import numpy as np
import pytest

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.formats.attributes import encode_attribute_row
from mixle_assets.formats.codecs import write_shard
from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.curricula import PoolFacts, interleave_streams, length_buckets, stream_after_stream
from mixle_assets.packing.epoch import PackStream, needed_attribute, pack_epoch
from mixle_assets.packing.selectors import check_selected, recipe_selector
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.verify import find_packing_losses, find_streaming_differences

DOCUMENTS = [[k] * length for k, length in enumerate([3, 9, 1, 4, 2, 7])]
SHORT_FIRST = [[2], [4], [0], [3], [5], [1]]


def facts(lengths, *starts, pool=None):
    names = tuple("abc"[: len(starts) - 1])
    return PoolFacts(pool, np.array(lengths), names, np.array(starts))


def reversed_order(order, seed, epoch):
    return order[::-1]


def first_documents(order, seed, epoch, number=2):
    return np.sort(order)[:number]


def order_twice(order, seed, epoch):
    return np.concatenate([order, order])


def out_of_range(order, seed, epoch):
    return order + 1


def packed_order(folder, use, epoch=0, **packing):
    task = folder.task(epoch, selector=use, **packing)
    pack_epoch(task)
    assert list(find_packing_losses(task)) == []
    assert list(find_streaming_differences(task)) == []
    return load_corpus(folder.root).epochs[epoch].documents.tolist()


def test_a_recipe_can_ask_for_short_documents_first(corpus_folder):
    corpus_folder.add_stream("s", DOCUMENTS)

    assert packed_order(corpus_folder, "shortest_first") == [2, 4, 0, 3, 5, 1]
    assert packed_order(corpus_folder, "longest_first", 0) == [1, 5, 3, 0, 4, 2]


def test_a_curriculum_of_the_recipe_holds_for_epochs_that_are_not_stored(corpus_folder):
    corpus_folder.add_stream("s", DOCUMENTS)
    packed_order(corpus_folder, "shortest_first")

    reader = StreamingCorpus(load_corpus(corpus_folder.root), rank=0)
    assert reader.rank_document_indices(5).tolist() == [2, 4, 0, 3, 5, 1]
    assert reader.num_batches(5) == 4


def test_a_users_function_is_named_by_its_path(corpus_folder):
    corpus_folder.add_stream("s", DOCUMENTS)
    plain = packed_order(corpus_folder, None)

    assert packed_order(corpus_folder, f"{__name__}.reversed_order") == plain[::-1]
    assert packed_order(corpus_folder, {"selector": f"{__name__}.first_documents", "number": 3}) == [0, 1, 2]


def test_repeats_must_be_declared(corpus_folder):
    corpus_folder.add_stream("s", [[1], [2]])

    with pytest.raises(RecipeError, match=r"order_twice|returned position 0 2 times"):
        packed_order(corpus_folder, f"{__name__}.order_twice")
    task = corpus_folder.task(selector={"selector": f"{__name__}.order_twice", "repeats": True})
    assert pack_epoch(task).details["multiplicities"] == {"2": 2}


def test_a_position_out_of_range_is_refused_with_its_place(corpus_folder):
    corpus_folder.add_stream("s", [[1], [2]])

    with pytest.raises(RecipeError, match=r"returned 2 at place \d; positions are 0 to 1"):
        packed_order(corpus_folder, f"{__name__}.out_of_range")


def test_buckets_hold_documents_of_similar_length_shuffled():
    order = np.array([5, 3, 0, 1, 4, 2])
    lengths = [3, 9, 1, 4, 2, 7]

    by_powers = length_buckets(order, 0, facts(lengths, 0, 6))
    by_edges = length_buckets(order, 0, facts(lengths, 0, 6), edges=[4], descending=True)

    # Up to 1, 2, 4, 8 and 16 tokens.
    assert by_powers.tolist() == [2, 4, 3, 0, 5, 1]
    assert by_edges.tolist() == [5, 1, 3, 0, 4, 2]


def test_streams_come_one_after_another_in_the_order_named():
    order = np.array([5, 3, 0, 1, 4, 2])
    two = facts([1] * 6, 0, 2, 6)

    assert stream_after_stream(order, 0, two).tolist() == [0, 1, 5, 3, 4, 2]
    assert stream_after_stream(order, 0, two, streams=["b", "a"]).tolist() == [5, 3, 4, 2, 0, 1]
    with pytest.raises(RecipeError, match="streams must be a, b in some order, got b"):
        stream_after_stream(order, 0, two, streams=["b"])


def test_interleaved_streams_have_their_share_in_every_part():
    order = np.arange(6)

    # Four documents of a and two of b.
    assert interleave_streams(order, 0, facts([1] * 6, 0, 4, 6)).tolist() == [0, 4, 1, 2, 5, 3]


def test_a_curriculum_looks_through_the_pool_at_the_documents():
    order = np.array([0, 1, 2, 3])
    pool = np.array([1, 1, 0, 0])

    assert length_buckets(order, 0, facts([1, 9], 0, 2, pool=pool)).tolist() == [2, 3, 0, 1]


def with_attributes(folder, rows):
    path = str(folder.root / "attributes" / "quality" / "s" / "0000.jsonl.gz")
    with write_shard(path, "gz") as writer:
        for number, attributes in enumerate(rows):
            writer.write(encode_attribute_row(f"s-{number}", attributes) + b"\n")
    stream = folder.streams[0]
    files = (("s/0000.jsonl.gz", path),)
    folder.streams[0] = PackStream(stream.name, stream.doc_arrays, attribute_files=files)


KEY = "quality__gopher_v1__word_count"


def test_documents_can_be_ordered_by_what_a_tagger_measured(corpus_folder):
    corpus_folder.add_stream("s", DOCUMENTS[:4])
    with_attributes(corpus_folder, [{KEY: [[0, 9, score]]} for score in (0.5, 0.1, 9, 0.7)])
    use = {"selector": "by_score", "attribute": KEY}

    assert packed_order(corpus_folder, use) == [1, 0, 3, 2]
    reader = StreamingCorpus(load_corpus(corpus_folder.root), rank=0)
    assert reader.rank_document_indices(1).tolist() == [1, 0, 3, 2]
    assert needed_attribute(corpus_folder.task(selector=use).packing) == KEY
    assert needed_attribute(corpus_folder.task().packing) is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{KEY: [[0, 9, 1]]}], "there is no row of this document's attributes"),
        ([{KEY: [[0, 9, 1]]}, {KEY: []}], r"has no span with a score: \[\]"),
        ([{KEY: [[0, 9, 1]]}, {}], "has no span with a score: None"),
    ],
)
def test_a_document_without_a_score_is_named(corpus_folder, rows, message):
    corpus_folder.add_stream("s", DOCUMENTS[:2])
    with_attributes(corpus_folder, rows)

    with pytest.raises(InputError, match=message) as caught:
        packed_order(corpus_folder, {"selector": "by_score", "attribute": KEY})
    assert caught.value.document_id == "s-1"
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("shortest", "is neither a dotted path nor one of by_score, interleave_streams"),
        ("no_such_module.f", "cannot be imported"),
        (f"{__name__}.KEY", "is not a function"),
        ({"selector": "shortest_first", "by": 3}, "shortest_first takes no 'by'"),
        ({"selector": "by_score"}, "by_score needs an attribute"),
        ({"edges": [3]}, "names no selector"),
    ],
    ids=str,
)
def test_a_selector_that_cannot_be_is_refused(use, message):
    with pytest.raises(RecipeError, match=message):
        recipe_selector(use)


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ([[0, 1]], r"one list of positions, got shape \(1, 2\)"),
        (None, r"one list of positions, got shape \(\)"),
        ([0.0, 1.0], "whole numbers, got float64"),
        ([True, False], "whole numbers, got bool"),
        ([0, 3], "returned 3 at place 1; positions are 0 to 2"),
        ([0, -1], "returned -1 at place 1"),
        ([1, 2, 1], "returned position 1 2 times"),
    ],
    ids=str,
)
def test_what_a_selector_returns_is_checked(selected, message):
    with pytest.raises(ValueError, match=message):
        check_selected(selected, 3)


def test_leaving_documents_out_is_what_selectors_are_for():
    assert check_selected([2, 0], 3).tolist() == [2, 0]
    assert check_selected([], 3).tolist() == []
    assert check_selected([1, 1], 3, repeats=True).tolist() == [1, 1]
