"""Inside PyTorch: its data loader's workers, and ranks that reduce at every step (``make test-torch``)."""

import numpy as np
import pytest
import torch
import torch.distributed
import torch.multiprocessing
from torch.utils.data import DataLoader

from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.torch import StreamingDataset

DOCUMENTS = [[number] * length for number, length in enumerate([3, 9, 1, 4, 0, 7, 2, 11, 5, 6, 8, 1])]
HOW = {"rank": 1, "world_size": 2, "block": 3, "batch_size": 2, "residency": "rows", "equalize": "pad"}
# Rank 0 of 2 gets far more tokens than rank 1, whatever the order.
UNEQUAL = [[number] * (60 if number < 4 else 1 + number % 5) for number in range(15)]


@pytest.fixture(params=["sequence", "corpus"])
def documents(request, corpus_folder):
    if request.param == "sequence":
        return DOCUMENTS
    corpus_folder.add_stream("s", DOCUMENTS)
    for epoch in range(2):
        corpus_folder.pack(epoch, block=3, world_size=2, residency="rows", equalize="pad")
    return load_corpus(corpus_folder.root)


def plain(item):
    return [item[name].tolist() for name in ("context", "targets", "loss_mask")]


@pytest.mark.filterwarnings("ignore:This DataLoader will create 3 worker processes")
@pytest.mark.parametrize("num_workers", [0, 1, 3])
def test_a_data_loader_gives_the_batches_of_one_reader(documents, num_workers):
    batches = StreamingCorpus(documents, **HOW).batches(epochs=3)
    expected = [[array.tolist() for array in batch] for batch in batches]
    dataset = StreamingDataset(StreamingCorpus(documents, **HOW), epochs=3)

    items = list(DataLoader(dataset, batch_size=None, num_workers=num_workers))
    assert [plain(item) for item in items] == expected
    assert items[0]["context"].numpy().dtype == np.int64

    dataset.load_state_dict(items[4]["state"])
    rest = list(DataLoader(dataset, batch_size=None, num_workers=3 - num_workers))
    assert [plain(item) for item in rest] == expected[5:]


def train(rank, folder, equalize):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    steps = torch.zeros(1)
    corpus = StreamingCorpus(
        UNEQUAL, rank=rank, world_size=2, block=6, batch_size=2, boundary_id=99, equalize=equalize
    )
    for _ in corpus.epoch_batches(0):
        one = torch.ones(1)
        torch.distributed.all_reduce(one)
        steps += one
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    assert steps.item() == 2 * corpus.num_batches(0)


@pytest.mark.parametrize("equalize", ["drop", "pad"])
def test_two_ranks_that_reduce_at_every_step_end_together(tmp_path, equalize):
    torch.multiprocessing.spawn(train, (str(tmp_path), equalize), nprocs=2)
