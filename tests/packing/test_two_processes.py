"""Ranks as processes of their own: both come to the end of an epoch, with equally many batches."""

import multiprocessing

import numpy as np
import pytest

from mixle_assets.packing.streaming import StreamingCorpus

# Rank 0 of 2 gets far more tokens than rank 1, whatever the order: a document's token is its number.
DOCUMENTS = [[number] * (60 if number < 4 else 1 + number % 5) for number in range(15)]
BLOCK = 6  # leaves no rank a lone last token, which would be context and no target
PATIENCE_IN_SECONDS = 120


def read_in_step(rank, world_size, how, barrier, results):
    """Read an epoch as a training loop does, waiting for the other ranks at every step."""
    corpus = StreamingCorpus(
        DOCUMENTS, rank=rank, world_size=world_size, block=BLOCK, batch_size=2, boundary_id=99, **how
    )
    batches = []
    for context, targets, loss_mask in corpus.epoch_batches(0):
        barrier.wait(PATIENCE_IN_SECONDS)  # stands for the all-reduce: raises if a rank is missing
        batches.append((context.tolist(), targets.tolist(), loss_mask.tolist()))
    results.put((rank, batches))


def run_ranks(how, world_size=2):
    spawning = multiprocessing.get_context("spawn")
    barrier, results = spawning.Barrier(world_size), spawning.Queue()
    ranks = [
        spawning.Process(target=read_in_step, args=(rank, world_size, how, barrier, results))
        for rank in range(world_size)
    ]
    for process in ranks:
        process.start()
    read = dict(results.get(timeout=PATIENCE_IN_SECONDS) for _ in ranks)
    for process in ranks:
        process.join(PATIENCE_IN_SECONDS)
    assert [process.exitcode for process in ranks] == [0] * world_size
    return read


def trained_rows(batches):
    """Every row as it is trained on: its first token and its real targets."""
    return [
        [tokens[0], *(target for target, real in zip(targets, mask, strict=True) if real)]
        for batch in batches
        for tokens, targets, mask in zip(*batch, strict=True)
        if any(mask)
    ]


def rows_of_one_reader(how):
    """What each rank would read alone, if no rank had to wait for another."""
    return [
        trained_rows(
            [
                [array.tolist() for array in batch]
                for batch in StreamingCorpus(
                    DOCUMENTS, rank=rank, world_size=2, block=BLOCK, batch_size=2, boundary_id=99, **how
                ).epoch_batches(0)
            ]
        )
        for rank in range(2)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("residency", ["documents", "rows"])
def test_two_processes_with_unequal_documents_end_together_and_see_every_token_where_rows_are_padded(
    residency,
):
    read = run_ranks({"residency": residency, "equalize": "pad"})

    assert len(read[0]) == len(read[1])
    alone = rows_of_one_reader({"residency": residency})
    assert [trained_rows(read[rank]) for rank in range(2)] == alone
    seen = np.bincount(np.concatenate([row for rank in range(2) for row in trained_rows(read[rank])]))
    assert [int(seen[number]) for number in range(15)] == [len(tokens) for tokens in DOCUMENTS]
    assert int(seen[99]) == 15
    assert int(seen.sum()) == sum(len(tokens) + 1 for tokens in DOCUMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("residency", ["documents", "rows"])
def test_two_processes_with_unequal_documents_end_together_and_repeat_nothing_where_rows_are_dropped(
    residency,
):
    read = run_ranks({"residency": residency, "equalize": "drop"})

    assert len(read[0]) == len(read[1]) > 0
    alone = rows_of_one_reader({"residency": residency})
    for rank in range(2):
        rows = trained_rows(read[rank])
        assert rows == alone[rank][: len(rows)]


def test_without_equal_steps_the_ranks_would_part():
    assert len({len(rows) for rows in rows_of_one_reader({"residency": "documents"})}) == 2
