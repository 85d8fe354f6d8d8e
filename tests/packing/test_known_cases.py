"""What has gone wrong in other packers and loaders, each with the numbers that show it."""

import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from mixle_assets.manifest import hash_bytes
from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.gather import gather_rows
from mixle_assets.packing.layout import EpochLayout, order_documents
from mixle_assets.packing.plan import concatenate
from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.settings import PackingSettings
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.token_source import source_of
from mixle_assets.packing.trace import trace_id, trace_row

# With its boundary each document is a row of four tokens: 23 rows, and a token is its document's number.
ROWS = [[number] * 3 for number in range(23)]


def reader(documents=ROWS, **how):
    settings = {
        "rank": 0,
        "world_size": 1,
        "block": 3,
        "batch_size": 1,
        "boundary_id": 99,
        "residency": "rows",
    }
    return StreamingCorpus(documents, **{**settings, **how})


def numbers(batches):
    """The document in each row, over all batches."""
    return [row[0] for context, _, _ in batches for row in context.tolist()]


def test_pad_and_boundary_of_one_id_lose_no_token_and_no_boundary():
    packed = pack_documents([[1, 2, 3], [4, 5], [6, 7, 8, 9]], [0, 1, 2], 4, pad_id=0, boundary_id=0)

    assert packed.rows.tolist() == [[1, 2, 3, 0, 4], [5, 0, 6, 7, 8], [9, 0, 0, 0, 0]]
    assert packed.loss_mask.sum(axis=1).tolist() == [4, 4, 1]
    assert packed.real_tokens == 12


def test_a_plan_of_a_million_documents_is_arrays_and_no_lists():
    lengths = np.ones(10**6, np.int64)
    settings = PackingSettings(block=1023, boundary_id=1)
    tracemalloc.start()
    layout = EpochLayout(settings, order_documents(settings, None, len(lengths), 0), lengths)
    _, peak_in_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert layout.deal.rows_per_rank == (1954,)
    assert peak_in_bytes < 50 * len(lengths)


@pytest.mark.parametrize("kernel", ["numpy", "arrow", "numba"])
def test_the_last_document_behind_two_gibitokens_is_read_exactly(tmp_path, kernel):
    far = 2**31 + 3
    tokens = np.memmap(tmp_path / "sparse", np.uint16, "w+", shape=(far + 2,))
    tokens[far:] = [7, 8]
    source = source_of([(tokens, np.array([0, far]), np.array([far, 2]))], tokens.dtype)
    plan = concatenate(np.array([0, 1], np.uint32), source.lengths, block=3, has_boundary=True)

    rows = gather_rows(plan, source, [plan.num_rows - 1], boundary_id=9, pad_id=1, kernel=kernel)

    # The line has far + 1 + 3 = 2**31 + 7 tokens: the last row begins at 2**31 + 4, behind the boundary.
    assert rows.tolist() == [[7, 8, 9, 1]]


def test_two_arrays_merged_are_five_documents_each_equal_to_its_source(corpus_folder):
    first, second = [[1, 2], [3]], [[4, 5, 6], [], [7]]
    corpus_folder.add_stream("prose", first, second).pack()
    corpus = load_corpus(corpus_folder.root)

    assert [document.tolist() for document in corpus] == [*first, *second]
    offsets = np.load(corpus_folder.root / "packed_epoch" / "0000" / "offsets.npy").tolist()
    assert all(one < other for one, other in pairwise(offsets))
    assert offsets[-1] == 7 + 5


@pytest.mark.parametrize(("block", "num_rows"), [(512, 20), (2048, 5)])
def test_the_number_of_real_tokens_does_not_depend_on_the_block(block, num_rows):
    packed = pack_documents([[1] * 6000, [2] * 3999], [0, 1], block, boundary_id=3)

    assert (packed.real_tokens, len(packed)) == (10_001, num_rows)
    assert packed.total_tokens - packed.real_tokens == num_rows * (block + 1) - 10_001


def test_two_equal_documents_are_two_rows_and_both_are_found(corpus_folder):
    corpus_folder.add_stream("prose", [[5, 5, 5], [5, 5, 5]]).pack(block=3)
    corpus = load_corpus(corpus_folder.root)

    assert corpus_folder.rows(0).tolist() == [[5, 5, 5, 999]] * 2
    places = [[place.row for place in trace_id(corpus, 0, one)] for one in ("prose-0", "prose-1")]
    assert sorted(places) == [[0], [1]]


@pytest.mark.parametrize(
    ("equalize", "expected"), [("none", [6, 4, 4]), ("drop", [4, 4, 4]), ("pad", [6, 6, 6])]
)
def test_how_many_batches_each_rank_has_is_known_beforehand(equalize, expected):
    # Three, two and two documents of ten tokens, in rows of five.
    readers = [
        reader(
            [[1] * 10] * 7, rank=rank, world_size=3, block=4, boundary_id=None, residency="documents",
            equalize=equalize,
        )
        for rank in range(3)
    ]  # fmt: skip

    assert [one.num_batches(0) for one in readers] == expected
    assert [len(list(one.epoch_batches(0))) for one in readers] == expected


@pytest.mark.parametrize(
    ("world_size", "equalize", "expected"),
    [
        (1, "none", [[2, 2, 1]]),
        (1, "drop", [[2, 2, 1]]),
        (8, "none", [[1]] * 5 + [[]] * 3),
        (8, "pad", [[1]] * 8),
    ],
)
def test_fewer_rows_than_ranks_are_dealt_as_declared_and_the_short_last_batch_is_delivered(
    world_size, equalize, expected
):
    sizes = [
        [
            len(batch.context)
            for batch in reader(
                ROWS[:5], rank=rank, world_size=world_size, batch_size=2, equalize=equalize
            ).epoch_batches(0)
        ]
        for rank in range(world_size)
    ]

    assert sizes == expected


def test_an_epoch_of_which_nothing_would_be_left_is_refused_and_not_silently_empty():
    corpus = reader(ROWS[:5], world_size=8, equalize="drop")

    assert corpus.num_batches(0) == 0
    with pytest.raises(ValueError, match="equalize 'drop' leaves nothing of epoch 0: 5 rows for 8 ranks"):
        next(corpus.epoch_batches(0))


def test_a_batch_larger_than_the_epoch_is_delivered_short_and_not_left_out():
    batches = list(reader([[1, 1, 1]] * 100, batch_size=101).epoch_batches(0))

    assert [batch.context.shape for batch in batches] == [(100, 3)]


@pytest.mark.parametrize("epoch", [0, 1])
def test_stopping_behind_any_of_23_rows_and_going_on_gives_the_epoch(epoch):
    whole = numbers(reader().epoch_batches(epoch))
    assert sorted(whole) == list(range(23))

    for stop in range(23):
        stopped, later = reader(), reader()
        if epoch:
            list(stopped.epoch_batches(0))
        batches = stopped.epoch_batches(epoch)
        read = numbers(next(batches) for _ in range(stop))
        later.load_state_dict(stopped.state_dict())
        assert read + numbers(later.epoch_batches(epoch)) == whole
    next_epoch = numbers(reader().epoch_batches(epoch + 1))
    done = reader()
    done.load_state_dict(reader().state_at(epoch, 22))
    assert done.epoch == epoch + 1
    assert numbers(done.epoch_batches(epoch + 1)) == next_epoch


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("world_size", range(1, 9))
def test_every_rank_of_any_world_goes_on_behind_every_step_of_two_epochs(world_size, residency):
    for rank in range(world_size):
        place = {"rank": rank, "world_size": world_size, "residency": residency}
        epochs = [numbers(reader(**place).epoch_batches(epoch)) for epoch in (0, 1)]
        whole = epochs[0] + epochs[1]
        for stop in range(len(whole) + 1):
            stopped, later = reader(**place), reader(**place)
            batches = stopped.batches(2)
            read = numbers(next(batches) for _ in range(stop))
            later.load_state_dict(stopped.state_dict())
            assert read + numbers(later.batches(2)) == whole


@pytest.mark.parametrize("num_workers", [1, 3])
def test_stopping_behind_any_of_46_rows_and_going_on_with_workers_gives_both_epochs(num_workers):
    whole = numbers(reader().batches(2))

    for stop in range(46):
        corpus = reader()
        corpus.load_state_dict(reader().state_at(*divmod(stop - 1, 23)) if stop else reader().state_dict())
        turns = [
            list(corpus.items(2, worker=worker, num_workers=num_workers)) for worker in range(num_workers)
        ]
        rest = [
            turns[number % num_workers][number // num_workers].batch for number in range(sum(map(len, turns)))
        ]
        assert numbers(rest) == whole[stop:]


def test_a_run_of_two_ranks_goes_on_with_four_in_the_same_global_order():
    whole = numbers(reader().epoch_batches(0))
    two = [reader(rank=rank, world_size=2, batch_size=2) for rank in range(2)]
    batches = [one.epoch_batches(0) for one in two]
    read = [
        row
        for _ in range(3)
        for pair in zip(*(numbers([next(one)]) for one in batches), strict=True)
        for row in pair
    ]
    assert read == whole[:12]

    four = [reader(rank=rank, world_size=4) for rank in range(4)]
    for one in four:
        one.load_state_dict(two[0].state_dict())
    rest = [numbers(one.epoch_batches(0)) for one in four]

    assert [rest[row % 4][row // 4] for row in range(11)] == whole[12:]


def test_what_row_17_of_epoch_1_consists_of_and_that_the_order_file_is_complete(corpus_folder):
    corpus_folder.add_stream("prose", [[*row] for row in ROWS])
    for epoch in range(2):
        corpus_folder.pack(epoch, block=3)
    corpus = load_corpus(corpus_folder.root)

    (segment,) = trace_row(corpus, epoch=1, rank=0, row=17)

    document = int(corpus_folder.rows(0, epoch=1)[17][0])
    assert segment.id == f"prose-{document}"
    assert segment.provenance == f"prose/0000.jsonl.gz:{document + 1}"
    assert (segment.document_start, segment.document_stop) == (0, 4)
    assert (segment.row_start, segment.row_stop, segment.has_boundary) == (0, 4, True)
    folder = corpus_folder.root / "packed_epoch" / "0001"
    content = (folder / "order.npy").read_bytes()
    said = json.loads((folder / "corpus.json").read_text())["files"]["order.npy"]
    assert said == {"size_in_bytes": len(content), "hash": hash_bytes(content)}
