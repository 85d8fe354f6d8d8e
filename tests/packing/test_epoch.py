import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.epoch import pack_epoch
from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.streaming import StreamingCorpus

DOCUMENTS = [[0, 0, 0], [1, 1], [2], [3, 3, 3, 3, 3, 3], [], [5, 5]]


def batches(corpus, epoch):
    return [[array.tolist() for array in batch] for batch in corpus.epoch_batches(epoch)]


def test_rows_are_written_per_rank_with_order_and_offsets(corpus_folder):
    written = corpus_folder.add_stream("prose", DOCUMENTS[:4], DOCUMENTS[4:]).pack(world_size=2)

    # Order of six documents for seed 0, epoch 0.
    folder = corpus_folder.root / "packed_epoch" / "0000"
    assert np.load(folder / "order.npy").tolist() == [5, 0, 3, 1, 2, 4]
    # Rank 0 packs 5 3 2, rank 1 packs 0 1 4: tokens and a boundary for each.
    assert np.load(folder / "offsets.npy").tolist() == [0, 3, 10, 12, 0, 4, 7, 8]
    assert corpus_folder.rows(0, world_size=2).tolist() == [
        [5, 5, 999, 3, 3],
        [3, 3, 3, 3, 999],
        [2, 999, 0, 0, 0],
    ]
    assert corpus_folder.rows(1, world_size=2).tolist() == [[0, 0, 0, 999, 1], [1, 999, 999, 0, 0]]
    assert corpus_folder.rows(0, world_size=2).dtype == np.uint16
    assert sorted(path.name for path in folder.iterdir()) == [
        "corpus.json",
        "offsets.npy",
        "order.npy",
        "rank-00000-of-00002.npy",
        "rank-00001-of-00002.npy",
        "row_lengths-00000-of-00002.npy",
        "row_lengths-00001-of-00002.npy",
    ]
    assert written.counts.num_in == written.counts.num_out == 6


def test_everything_about_an_epoch_is_counted(corpus_folder):
    corpus_folder.add_stream("a", [[0, 0, 0], [1, 1, 1]], weight=2.0).add_stream("b", [[2] * 4], weight=0)

    written = corpus_folder.pack(block=4, batch_size=2)

    # Two documents twice: 4 times 3 tokens and a boundary, 16 tokens in 4 rows of 5.
    assert written.details["documents"] == 4
    assert written.details["rows_per_rank"] == [4]
    assert written.details["steps_per_rank"] == [2]
    assert written.details["tokens"] == 16
    assert written.details["padding"] == 4
    assert written.details["trainable_targets"] == 3 * 4 + 0
    assert written.details["multiplicities"] == {"0": 1, "2": 2}
    assert [(row["name"], row["entries"], row["tokens"]) for row in written.details["streams"]] == [
        ("a", 4, 16),
        ("b", 0, 0),
    ]
    assert [(row["declared_share"], row["real_share"]) for row in written.details["streams"]] == [
        (1.0, 1.0),
        (0.0, 0.0),
    ]
    assert written.counts.dropped == {"not_drawn": 1}


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("strategy", ["concatenate", "best_fit"])
@pytest.mark.parametrize("equalize", ["none", "drop", "pad"])
@pytest.mark.parametrize("materialize", ["rows", "plan"])
def test_a_stored_epoch_gives_the_batches_of_the_documents_in_memory(
    corpus_folder, residency, strategy, equalize, materialize
):
    corpus_folder.add_stream("prose", DOCUMENTS * 3, DOCUMENTS)
    how = {"residency": residency, "strategy": strategy, "equalize": equalize}
    corpus_folder.pack(1, world_size=3, seed=7, epochs=2, materialize=materialize, **how)
    corpus = load_corpus(corpus_folder.root)

    for rank in range(3):
        stored = StreamingCorpus(corpus, rank=rank)
        plain = StreamingCorpus(
            corpus_folder.documents,
            rank=rank,
            world_size=3,
            block=4,
            batch_size=2,
            seed=7,
            boundary_id=999,
            **how,
        )
        assert len(batches(stored, 1)) == stored.num_batches(1) > 0
        assert batches(stored, 1) == batches(plain, 1)
        assert stored.last_packing_efficiency == plain.last_packing_efficiency
        # Epoch 4 was not built: planned from the lengths, gathered from the doc arrays.
        assert batches(stored, 4) == batches(plain, 4)


@settings(deadline=None, max_examples=40)
@given(
    documents=st.lists(st.lists(st.integers(0, 500), max_size=9), min_size=1, max_size=12),
    block=st.integers(1, 6),
    world_size=st.integers(1, 4),
    seed=st.integers(0, 3),
)
def test_stored_rows_are_exactly_what_pack_documents_gives(make_folder, documents, block, world_size, seed):
    folder = make_folder().add_stream("s", documents)

    folder.pack(block=block, world_size=world_size, seed=seed)

    order = load_corpus(folder.root).epochs[0].documents
    for rank in range(world_size):
        packed = pack_documents(folder.documents, order[rank::world_size], block, boundary_id=999)
        assert folder.rows(rank, world_size=world_size).tolist() == packed.rows.tolist()


def test_rows_dealt_to_any_number_of_ranks_are_one_packing(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS * 5)
    corpus_folder.pack(world_size=2, residency="rows", batch_size=1)
    corpus = load_corpus(corpus_folder.root)

    def dealt(world_size):
        readers = [
            StreamingCorpus(corpus, rank=rank, world_size=world_size).epoch_batches(0)
            for rank in range(world_size)
        ]
        rows = []
        while (batch := next(readers[len(rows) % world_size], None)) is not None:
            rows.append(batch.context[0].tolist())
        return rows

    assert dealt(1) == dealt(2) == dealt(3) == dealt(7)
    assert len(dealt(1)) == 20


def test_digest_and_hashes_do_not_depend_on_the_folder(make_folder):
    first, second = (make_folder().add_stream("prose", DOCUMENTS).pack(world_size=2) for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"block": 5}, {"world_size": 2}, {"residency": "rows"}, {"strategy": "best_fit"}],
    ids=str,
)
def test_another_setting_gives_another_digest(make_folder, change):
    first = make_folder().add_stream("prose", DOCUMENTS).pack()
    second = make_folder().add_stream("prose", DOCUMENTS).pack(**change)

    assert first.rows_digest != second.rows_digest


def test_a_token_changed_gives_another_digest(make_folder):
    first = make_folder().add_stream("prose", [[1, 2, 3]]).pack()
    second = make_folder().add_stream("prose", [[1, 2, 4]]).pack()

    assert first.rows_digest != second.rows_digest


def test_batch_size_is_no_part_of_the_content(make_folder):
    first = make_folder().add_stream("prose", DOCUMENTS).pack(batch_size=1)
    second = make_folder().add_stream("prose", DOCUMENTS).pack(batch_size=3)

    assert first.rows_digest == second.rows_digest


def test_another_number_of_epochs_changes_no_file_of_an_epoch(make_folder):
    first = make_folder().add_stream("prose", DOCUMENTS).pack(epochs=1)
    second = make_folder().add_stream("prose", DOCUMENTS).pack(epochs=5)

    assert first == second


def test_a_small_window_writes_the_same_files(make_folder, monkeypatch):
    first = make_folder().add_stream("prose", DOCUMENTS * 9).pack(world_size=2, residency="rows")
    monkeypatch.setattr("mixle_assets.packing.epoch.WINDOW_IN_BYTES", 16)
    second = make_folder().add_stream("prose", DOCUMENTS * 9).pack(world_size=2, residency="rows")

    assert first == second


def test_a_corpus_may_be_moved(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS).pack()
    there = corpus_folder.root.with_name("moved")
    corpus_folder.root.rename(there)

    corpus = load_corpus(there)

    assert corpus[3].tolist() == [3, 3, 3, 3, 3, 3]
    assert corpus.id(3) == "prose-3"
    assert corpus.provenance(3) == "prose/0000.jsonl.gz:4"
    assert corpus.stream(3) == "prose"


def test_a_rank_needs_nothing_but_its_own_rows(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS * 3).pack(world_size=2)
    expected = batches(StreamingCorpus(load_corpus(corpus_folder.root), rank=1), 0)
    kept = {"corpus.json", "rank-00001-of-00002.npy", "row_lengths-00001-of-00002.npy"}
    for path in corpus_folder.root.rglob("*"):
        if path.is_file() and path.name not in kept:
            path.unlink()

    assert batches(StreamingCorpus(load_corpus(corpus_folder.root), rank=1), 0) == expected
    with pytest.raises(InputError, match=r"-00000-of-00002.npy: is missing"):
        batches(StreamingCorpus(load_corpus(corpus_folder.root), rank=0), 0)


def test_an_unfinished_epoch_is_not_opened(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS).pack()
    (corpus_folder.root / "packed_epoch" / "0000" / "corpus.json").unlink()

    with pytest.raises(InputError, match="holds no packed epoch"):
        load_corpus(corpus_folder.root)


def test_epochs_of_two_corpora_do_not_mix(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS)
    corpus_folder.pack(0, seed=1)
    corpus_folder.pack(1, seed=2)

    with pytest.raises(InputError, match="seed is 1 here, 2 there"):
        load_corpus(corpus_folder.root)


def test_a_rebuild_leaves_no_file_of_the_earlier_packing(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS)
    corpus_folder.pack(world_size=3)
    corpus_folder.pack(world_size=1)

    names = {path.name for path in (corpus_folder.root / "packed_epoch" / "0000").iterdir()}
    assert not any("of-00003" in name for name in names)


def test_the_task_travels_to_another_process(corpus_folder):
    task = corpus_folder.add_stream("prose", DOCUMENTS).task()

    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own bytes
    assert json.dumps(pack_epoch(task).details)


def test_an_epoch_without_documents_is_refused(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS, weight=0)

    with pytest.raises(RecipeError, match="epoch 0 would hold no document"):
        corpus_folder.pack()


def test_dropping_everything_is_refused(corpus_folder):
    corpus_folder.add_stream("prose", [[1, 2]])

    with pytest.raises(RecipeError, match="1 rows for 4 ranks leave a rank without any"):
        corpus_folder.pack(world_size=4, residency="rows", equalize="drop")


def test_padding_gives_every_rank_a_step_even_with_fewer_rows_than_ranks(corpus_folder):
    corpus_folder.add_stream("prose", [[1, 2]])

    written = corpus_folder.pack(world_size=3, residency="rows", equalize="pad")

    assert written.details["steps_per_rank"] == [1, 1, 1]
    assert written.counts.noted["rows_padded_to_equalize"] == 2
    reader = StreamingCorpus(load_corpus(corpus_folder.root), rank=2)
    assert batches(reader, 0) == [[[[0, 0, 0, 0]], [[0, 0, 0, 0]], [[False] * 4]]]


def test_a_pad_id_that_does_not_fit_the_tokens_is_refused(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS)

    with pytest.raises(RecipeError, match="pad_id 65536 does not fit uint16 tokens"):
        corpus_folder.pack(pad_id=65536)


def test_doc_arrays_of_another_dtype_are_refused(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS, dtype="uint32")

    with pytest.raises(InputError, match="holds uint32 tokens, expected uint16"):
        corpus_folder.pack()


def test_doc_arrays_with_another_boundary_are_refused(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS, boundary_id=3)

    with pytest.raises(InputError, match="was made with boundary 3, the recipe's is 999"):
        corpus_folder.pack()


def test_pad_and_boundary_may_be_one_id(corpus_folder):
    corpus_folder.add_stream("prose", [[7, 0], [0]], boundary_id=0)

    pack_epoch(corpus_folder.task(boundary_id=0, block=5, pad_id=0))

    (batch,) = StreamingCorpus(load_corpus(corpus_folder.root), rank=0).epoch_batches(0)
    assert batch.loss_mask.tolist() == [[True, True, True, True, False]]


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("built", ["none", "drop", "pad"])
@pytest.mark.parametrize("read", ["none", "drop", "pad"])
@pytest.mark.parametrize("materialize", ["rows", "plan"])
def test_a_stored_epoch_can_be_read_with_other_equal_steps_than_it_was_built_with(
    corpus_folder, residency, built, read, materialize
):
    corpus_folder.add_stream("prose", DOCUMENTS * 3, DOCUMENTS)
    corpus_folder.pack(
        0, world_size=3, pad_id=7, residency=residency, equalize=built, materialize=materialize
    )
    corpus = load_corpus(corpus_folder.root)
    how = {"block": 4, "batch_size": 2, "pad_id": 7, "boundary_id": 999, "residency": residency}

    for world_size in (3, 1, 4):
        for rank in range(world_size):
            stored = StreamingCorpus(corpus, rank=rank, world_size=world_size, equalize=read)
            plain = StreamingCorpus(
                corpus_folder.documents, rank=rank, world_size=world_size, equalize=read, **how
            )
            assert batches(stored, 0) == batches(plain, 0)
            assert stored.last_packing_efficiency == plain.last_packing_efficiency
