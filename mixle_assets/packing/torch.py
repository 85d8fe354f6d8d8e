"""The corpus as an iterable PyTorch dataset. Importing this module needs torch; nothing else here does.

::

    corpus = StreamingCorpus(load_corpus("corpora/stdlib"), rank=rank, world_size=world_size)
    dataset = StreamingDataset(corpus, epochs=2)
    for item in DataLoader(dataset, batch_size=None, num_workers=3):
        loss = step(item["context"], item["targets"], item["loss_mask"])
        state = item["state"]                     # save this one; load_state_dict takes it
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from mixle_assets.packing.prefetch import prefetched
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.views import Item


class StreamingDataset(IterableDataset):
    """Batches from a corpus's position to the end of its epochs, as tensors.

    To be used with ``DataLoader(dataset, batch_size=None, num_workers=n)``: the workers take turns, so the
    batches and their order are those of one reader, whatever ``n`` is. Every item holds the state behind it,
    since the workers' own positions stay in their processes.

    Args:
        corpus: The reader of this rank; iteration begins at its position and does not move it.
        epochs: Passes in all, counted from epoch 0.
        prefetch: Batches made ahead by a thread in each process; 0 for none.
    """

    def __init__(self, corpus: StreamingCorpus, *, epochs: int, prefetch: int = 2) -> None:
        super().__init__()
        self.corpus = corpus
        self.epochs = epochs
        self.prefetch = prefetch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = get_worker_info()
        worker, num_workers = (0, 1) if info is None else (info.id, info.num_workers)
        items = self.corpus.items(self.epochs, worker=worker, num_workers=num_workers)
        for item in prefetched(items, self.prefetch) if self.prefetch else items:
            yield _tensors(item)

    def state_dict(self) -> dict[str, Any]:
        """Return where iteration begins; the place of a batch is in its item."""
        return self.corpus.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Begin the next iteration behind the batch whose item held this state."""
        self.corpus.load_state_dict(state)


def _tensors(item: Item) -> dict[str, Any]:
    context, targets, loss_mask = item.batch
    return {
        "context": torch.from_numpy(context),
        "targets": torch.from_numpy(targets),
        "loss_mask": torch.from_numpy(loss_mask),
        "epoch": item.epoch,
        "state": item.state,
    }
