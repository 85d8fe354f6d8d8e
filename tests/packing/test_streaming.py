import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.streaming import StreamingCorpus

DOCUMENTS = [np.full(length, number) for number, length in enumerate([3, 9, 1, 4, 0, 7, 2, 11, 5, 6, 8, 1])]
BASE = {"rank": 0, "world_size": 1, "block": 3, "batch_size": 2, "boundary_id": 99}


def plain(batches):
    return [[array.tolist() for array in batch] for batch in batches]


def reader(documents=DOCUMENTS, **changes):
    return StreamingCorpus(documents, **{**BASE, **changes})


@pytest.fixture(params=["sequence", "corpus"])
def documents(request, corpus_folder):
    """The same documents as a list, and as a stored corpus with epochs 0 and 1 built for two ranks."""
    if request.param == "sequence":
        return DOCUMENTS
    corpus_folder.add_stream("s", [tokens.tolist() for tokens in DOCUMENTS], boundary_id=99)
    for epoch in (0, 1):
        pack = corpus_folder.task(epoch, boundary_id=99, block=3, world_size=2, residency="rows")
        from mixle_assets.packing.epoch import pack_epoch

        pack_epoch(pack)
    return load_corpus(corpus_folder.root)


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("strategy", ["concatenate", "best_fit"])
@pytest.mark.parametrize("equalize", ["none", "drop", "pad"])
def test_resuming_behind_any_batch_gives_exactly_the_rest(documents, residency, strategy, equalize):
    how = {"residency": residency, "strategy": strategy, "equalize": equalize, "world_size": 2}
    for rank in range(2):
        whole = [plain(reader(documents, rank=rank, **how).epoch_batches(epoch)) for epoch in range(3)]
        for epoch in range(3):
            for step in range(-1, len(whole[epoch])):
                first = reader(documents, rank=rank, **how)
                batches = first.epoch_batches(epoch)
                for _ in range(step + 1):
                    next(batches)
                state = first.state_dict() if step >= 0 else first.state_at(epoch, -1)
                assert state == first.state_at(epoch, step)

                again = reader(documents, rank=rank, **how)
                again.load_state_dict(state)
                assert again.state_dict() == state
                assert plain(again.epoch_batches(epoch)) == whole[epoch][step + 1 :]
                assert (
                    plain(again.epoch_batches(epoch + 1))[:2]
                    == plain(reader(documents, rank=rank, **how).epoch_batches(epoch + 1))[:2]
                )


def test_every_batch_can_be_had_by_its_number(documents):
    corpus = reader(documents, world_size=2, rank=1, residency="rows")
    whole = plain(corpus.epoch_batches(1))

    assert corpus.num_batches(1) == len(whole)
    assert [plain([corpus.batch(1, step)])[0] for step in reversed(range(len(whole)))] == whole[::-1]
    with pytest.raises(IndexError, match=f"step {len(whole)} of epoch 1: rank 1 has {len(whole)} batches"):
        corpus.batch(1, len(whole))
    with pytest.raises(ValueError, match="step must not be negative"):
        corpus.batch(1, -1)


def test_asking_for_a_batch_does_not_move_the_position(documents):
    corpus = reader(documents)
    next(corpus.epoch_batches(0))
    before = corpus.state_dict()

    corpus.batch(1, 3)

    assert corpus.state_dict() == before


@settings(deadline=None, max_examples=60)
@given(
    worlds=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=4),
    equalize=st.sampled_from(["none", "drop", "pad"]),
    strategy=st.sampled_from(["concatenate", "best_fit"]),
    data=st.data(),
)
def test_with_rows_any_other_world_goes_on_without_loss_or_repetition(worlds, equalize, strategy, data):
    """World and batch size change again and again in mid-epoch; what is read is one packing all the same."""
    how = {"residency": "rows", "equalize": equalize, "strategy": strategy, "pad_id": 50}
    expected = [row for batch in plain(reader(**how, batch_size=1).epoch_batches(0)) for row in batch[0]]
    state, read = None, []
    for number, (world_size, batch_size) in enumerate(worlds):
        world = {"world_size": world_size, "batch_size": batch_size, **how}
        ranks = [reader(rank=rank, **world) for rank in range(world_size)]
        for rank in ranks:
            if state is not None:
                rank.load_state_dict(state)
        generators = [rank.epoch_batches(0) for rank in ranks]
        steps = data.draw(st.integers(0, 3)) if number < len(worlds) - 1 else 1000
        for _ in range(steps):
            batches = [next(generator, None) for generator in generators]
            if all(batch is None for batch in batches):
                break
            for row in range(batch_size):
                held = [batch for batch in batches if batch is not None and row < len(batch.context)]
                read += [batch.context[row].tolist() for batch in held]
            state = ranks[0].state_dict()

    real = [row for row in read if row != [50, 50, 50]]
    if equalize == "drop":
        assert real == expected[: len(real)]
        assert len(expected) - len(real) < worlds[-1][0] + max(world for world, _ in worlds)
    else:
        assert real == expected


def test_one_checkpoint_of_rank_0_serves_all_ranks():
    how = {"world_size": 3, "residency": "documents", "equalize": "pad"}
    first = reader(rank=0, **how)
    batches = first.epoch_batches(0)
    next(batches), next(batches)

    for rank in range(3):
        other = reader(rank=rank, **how)
        other.load_state_dict(first.state_dict())
        assert plain(other.epoch_batches(0)) == plain(reader(rank=rank, **how).epoch_batches(0))[2:]


def test_another_world_size_is_refused_where_ranks_pack_their_own_documents():
    state = reader(world_size=2).state_at(0, 1)

    with pytest.raises(ValueError, match=r"world_size is 3 here, 2 there; only residency: rows can"):
        reader(world_size=3).load_state_dict(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed is 1 here, 0 there"),
        ({"block": 4}, "block is 4 here, 3 there"),
        ({"order": "separated"}, "order is 'separated' here, 'mixle' there"),
        ({"boundary_id": None}, "boundary_id is None here, 99 there"),
        ({"equalize": "pad"}, "equalize is 'pad' here, 'none' there"),
        ({"documents": DOCUMENTS[:-1]}, "the corpus is"),
        ({"documents": [*DOCUMENTS[:-1], np.array([2])]}, "the corpus is"),
    ],
    ids=str,
)
def test_a_position_of_something_else_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        reader(**change).load_state_dict(reader().state_at(0, 1))


@pytest.mark.parametrize("state", [None, {}, {"format": "mixle_assets.position/1"}, [1, 2]], ids=str)
def test_what_is_no_position_is_refused(state):
    with pytest.raises(ValueError, match=r"state (is not a position|lacks)"):
        reader().load_state_dict(state)


def test_an_epoch_other_than_the_loaded_one_is_not_read_by_mistake():
    corpus = reader()
    corpus.load_state_dict(reader().state_at(1, 2))

    for epoch in (0, 2):
        with pytest.raises(ValueError, match=r"loaded is row 6 of epoch 1; go on with epoch_batches\(1\)"):
            next(corpus.epoch_batches(epoch))
    assert plain(corpus.epoch_batches(1)) == plain(reader().epoch_batches(1))[3:]
    assert plain(corpus.epoch_batches(0)) == plain(reader().epoch_batches(0))


def test_resuming_at_the_end_of_an_epoch_starts_the_next():
    first = reader()
    for _ in first.epoch_batches(0):
        pass
    corpus = reader()
    corpus.load_state_dict(first.state_dict())

    assert corpus.epoch == 1
    assert plain(corpus.epoch_batches(corpus.epoch)) == plain(reader().epoch_batches(1))


def test_all_epochs_can_be_read_in_one_go_from_any_position(documents):
    how = {"world_size": 2, "residency": "rows", "equalize": "pad"}
    whole = [plain(reader(documents, **how).epoch_batches(epoch)) for epoch in range(3)]
    corpus = reader(documents, **how)
    corpus.load_state_dict(reader(documents, **how).state_at(1, 3))

    assert plain(corpus.batches(epochs=3)) == whole[1][4:] + whole[2]
    assert plain(corpus.batches(epochs=3)) == []
    assert plain(reader(documents, **how).batches(epochs=2)) == whole[0] + whole[1]


def test_an_epoch_without_rows_for_this_rank_does_not_stop_the_next():
    corpus = StreamingCorpus([[1, 2, 3]], rank=1, world_size=2, block=2, batch_size=2)

    assert list(corpus.batches(epochs=3)) == []
    assert corpus.epoch == 3


def test_batches_come_with_their_documents_on_request(documents):
    corpus = reader(documents, residency="rows")

    whole = list(corpus.epoch_segmented_batches(0))

    assert [[array.tolist() for array in batch[:3]] for batch in whole] == plain(corpus.epoch_batches(0))
    for step, batch in enumerate(whole):
        assert batch.segments == corpus.segments(0, step)
        assert batch.arrays.position_ids.shape == batch.context.shape


def test_another_batch_size_goes_on_at_the_same_row():
    rows = [row for batch in plain(reader(batch_size=1).epoch_batches(0)) for row in batch[0]]
    corpus = reader(batch_size=5)
    corpus.load_state_dict(reader(batch_size=2).state_at(0, 2))

    assert [row for batch in plain(corpus.epoch_batches(0)) for row in batch[0]] == rows[6:]


def test_ranks_with_unequal_documents_are_made_equal_before_training_starts():
    for equalize in ("drop", "pad"):
        counts = {reader(rank=rank, world_size=4, equalize=equalize).num_batches(0) for rank in range(4)}
        assert len(counts) == 1
    assert len({reader(rank=rank, world_size=4).num_batches(0) for rank in range(4)}) > 1


def test_segments_name_the_documents_of_each_row(documents):
    corpus = reader(documents, residency="rows")
    lengths = [len(tokens) for tokens in DOCUMENTS]

    for step in range(corpus.num_batches(0)):
        batch = corpus.batch(0, step)
        for row, segments in enumerate(corpus.segments(0, step)):
            tokens = [*batch.context[row].tolist(), int(batch.targets[row, -1])]
            for document, start, stop, row_start, row_stop in segments:
                expected = [document] * lengths[document] + [99]
                assert tokens[row_start:row_stop] == expected[start:stop]


def test_segments_name_documents_by_the_index_that_was_used():
    corpus = StreamingCorpus(
        DOCUMENTS, rank=0, world_size=2, block=3, batch_size=1, sequence_selector=lambda o, s, e: [7, 3, 5, 1]
    )

    assert [segment.document for segment in corpus.segments(0, 0)[0]] == [7]
    assert corpus.rank_document_indices(0).tolist() == [7, 5]


def test_a_stored_corpus_needs_only_the_rank(corpus_folder):
    corpus_folder.add_stream("s", [tokens.tolist() for tokens in DOCUMENTS])
    corpus_folder.pack(block=3, batch_size=4, seed=5, world_size=2, residency="rows", equalize="pad")

    corpus = StreamingCorpus(load_corpus(corpus_folder.root), rank=1)

    assert (corpus.world_size, corpus.block, corpus.batch_size, corpus.seed) == (2, 3, 4, 5)
    assert (corpus.boundary_id, corpus.residency, corpus.equalize) == (999, "rows", "pad")


def test_over_a_plain_sequence_what_mixle_demands_is_demanded():
    with pytest.raises(TypeError, match="missing the keyword arguments world_size, block, batch_size"):
        StreamingCorpus(DOCUMENTS, rank=0)


def test_a_choice_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="equalize must be one of none, drop, pad, got 'both'"):
        reader(equalize="both")


def test_batches_own_their_memory(documents):
    corpus = reader(documents, residency="rows")
    first, second = corpus.batch(0, 0), corpus.batch(0, 0)
    for array in first:
        assert array.flags.owndata
        assert array.flags.c_contiguous
        array[:] = 1

    assert plain([second]) == plain([corpus.batch(0, 0)]) != plain([first])
