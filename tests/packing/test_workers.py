"""Readers in other processes and threads: the batches and their order are those of one reader."""

import pickle
import threading
import time

import pytest

from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.prefetch import prefetched
from mixle_assets.packing.streaming import StreamingCorpus

DOCUMENTS = [[number] * length for number, length in enumerate([3, 9, 1, 4, 0, 7, 2, 11, 5, 6, 8, 1])]
HOW = {"rank": 1, "world_size": 2, "block": 3, "batch_size": 2, "residency": "rows", "equalize": "pad"}


@pytest.fixture(params=["sequence", "corpus"])
def documents(request, corpus_folder):
    if request.param == "sequence":
        return DOCUMENTS
    corpus_folder.add_stream("s", DOCUMENTS)
    for epoch in range(2):
        corpus_folder.pack(epoch, block=3, world_size=2, residency="rows", equalize="pad")
    return load_corpus(corpus_folder.root)


def plain(batch):
    return [array.tolist() for array in batch]


def in_turns(corpus, epochs, num_workers):
    """What a DataLoader does: one item of each worker in turn, until all have ended."""
    workers = [
        pickle.loads(pickle.dumps(corpus)).items(epochs, worker=worker, num_workers=num_workers)  # noqa: S301
        for worker in range(num_workers)
    ]
    ended = object()
    while workers:
        for worker in list(workers):
            if (item := next(worker, ended)) is ended:
                workers.remove(worker)
            else:
                yield item


@pytest.mark.parametrize("num_workers", [1, 3, 7])
def test_workers_that_take_turns_give_the_batches_of_one_reader(documents, num_workers):
    expected = [plain(batch) for batch in StreamingCorpus(documents, **HOW).batches(epochs=3)]

    items = list(in_turns(StreamingCorpus(documents, **HOW), 3, num_workers))

    assert [plain(item.batch) for item in items] == expected
    assert [item.epoch for item in items] == sorted(item.epoch for item in items)


@pytest.mark.parametrize("num_workers", [1, 3])
def test_the_state_of_any_item_goes_on_behind_it_with_any_number_of_workers(documents, num_workers):
    items = list(in_turns(StreamingCorpus(documents, **HOW), 3, num_workers))

    for number, item in enumerate(items):
        corpus = StreamingCorpus(documents, **HOW)
        corpus.load_state_dict(item.state)
        rest = [plain(later.batch) for later in items[number + 1 :]]
        assert [plain(batch) for batch in corpus.batches(epochs=3)] == rest
        corpus.load_state_dict(item.state)
        assert [plain(later.batch) for later in in_turns(corpus, 3, 4 - num_workers)] == rest


def test_items_do_not_move_the_position(documents):
    corpus = StreamingCorpus(documents, **HOW)
    before = corpus.state_dict()

    list(corpus.items(2))

    assert corpus.state_dict() == before


def test_a_worker_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="rank must be below world_size 2, got 2"):
        next(StreamingCorpus(DOCUMENTS, **HOW).items(1, worker=2, num_workers=2))


def test_what_is_made_ahead_comes_in_the_same_order():
    assert list(prefetched(range(100), depth=3)) == list(range(100))


def test_no_more_than_the_depth_is_made_ahead():
    made = []
    items = prefetched((made.append(number) or number for number in range(100)), depth=3)

    assert next(items) == 0
    deadline = time.monotonic() + 10
    while len(made) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(made) == 5  # one consumed, three waiting, one in hand
    items.close()


def test_an_error_in_the_making_is_raised_in_its_place():
    def items():
        yield 1
        raise KeyError("third document")

    received = []
    with pytest.raises(KeyError, match="third document"):
        received.extend(prefetched(items()))
    assert received == [1]


def test_leaving_early_ends_the_thread():
    items = prefetched(range(1000))
    next(items)
    items.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "prefetch"]


def test_a_depth_of_nothing_is_refused():
    with pytest.raises(ValueError, match="depth must be positive, got 0"):
        next(prefetched([], depth=0))
