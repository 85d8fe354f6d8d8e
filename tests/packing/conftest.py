"""Doc arrays and packed epochs in a temporary folder.

What needs PyTorch stands in ``test_torch.py``, which ``make test-torch`` runs, also in CI.
"""

import importlib.util

import numpy as np
import pytest

from mixle_assets.formats.doc_arrays import write_doc_arrays
from mixle_assets.formats.doc_batches import DocBatch
from mixle_assets.packing.epoch import PackStream, PackTask, pack_epoch
from mixle_assets.recipe.models import Packing

BOUNDARY = 999
collect_ignore = [] if importlib.util.find_spec("torch") else ["test_torch.py"]


class CorpusFolder:
    """Writes streams as doc arrays below a folder, and packs epochs of them."""

    def __init__(self, root):
        self.root = root
        self.streams = []
        self.documents = []

    def add_stream(self, name, *files, weight=1.0, resample=False, dtype="uint16", boundary_id=BOUNDARY):
        """One argument per file: its documents, each a list of token ids; ids are ``<name>-<number>``."""
        paths, number = [], 0
        for shard, documents in enumerate(files):
            path = self.root / "doc_arrays" / f"{name}-{shard:04d}.arrow"
            batch = DocBatch(
                ids=[f"{name}-{number + k}" for k in range(len(documents))],
                provenances=[f"{name}/{shard:04d}.jsonl.gz:{k + 1}" for k in range(len(documents))],
                values=np.concatenate(
                    [np.empty(0, np.int64), *(np.array(tokens, np.int64) for tokens in documents)]
                ),
                lengths=np.array([len(tokens) for tokens in documents], np.int64),
            )
            metadata = {
                "tokenizer_hash": "t",
                "boundary_id": boundary_id,
                "bos_id": None,
                "vocabulary_size": 1000,
            }
            write_doc_arrays(str(path), [batch], dtype=dtype, metadata=metadata)
            number += len(documents)
            paths.append(str(path))
            self.documents += [np.array(tokens, np.int64) for tokens in documents]
        self.streams.append(PackStream(name, tuple(paths), weight, resample))
        return self

    def task(self, epoch=0, *, boundary_id=BOUNDARY, dtype="uint16", **packing):
        settings = Packing(**{"block": 4, "batch_size": 2, **packing})
        return PackTask(
            epoch=epoch,
            packing=settings,
            boundary_id=boundary_id,
            pad_id=settings.pad_id,
            dtype=dtype,
            streams=tuple(self.streams),
            output=str(self.root / "packed_epoch" / f"{epoch:04d}"),
        )

    def pack(self, epoch=0, **packing):
        return pack_epoch(self.task(epoch, **packing))

    def rows(self, rank, epoch=0, world_size=1):
        folder = self.root / "packed_epoch" / f"{epoch:04d}"
        return np.load(folder / f"rank-{rank:05d}-of-{world_size:05d}.npy", mmap_mode="r")


@pytest.fixture
def corpus_folder(tmp_path):
    return CorpusFolder(tmp_path)


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory):
    return lambda: CorpusFolder(tmp_path_factory.mktemp("corpus"))
