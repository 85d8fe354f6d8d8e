"""The readers our exports are for, installed whole, get every document and pack it into the same rows.

Not part of the normal run, since they need torch: ``make readers``.
"""

import itertools
import json
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from make_arrays import make_arrays

from mixle_assets.exporting import ExportTask, export_documents, export_rows

BOUNDARY = 2
LENGTH = 64
SCRIPT = Path(__file__).with_name("whole_readers.py")


def read(kind, folder, dtype="uint16"):
    python = Path(os.environ["MIXLE_WHOLE_READERS"], "bin", "python")
    done = subprocess.run(
        [str(python), "-W", "ignore", str(SCRIPT), kind, str(folder), dtype, str(LENGTH)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "read.json").read_text())


def make_documents(seed, highest):
    """Documents from none to thousands of tokens, some of them padding's id alone."""
    chance = random.Random(seed)
    lengths = [0, 1, LENGTH - 1, LENGTH, LENGTH + 1, 5000, *(chance.randrange(300) for _ in range(200))]
    chance.shuffle(lengths)
    documents = [[chance.randrange(3, highest) for _ in range(length)] for length in lengths]
    return [*documents, [0] * 100, [highest - 1]]


@pytest.fixture(params=["uint16", "uint32"])
def corpus(request, tmp_path):
    """Two shards of documents, and what exports them."""
    dtype = request.param
    highest = 65536 if dtype == "uint16" else 2**31
    shards = [make_documents(seed, highest) for seed in (1, 2)]
    paths = [
        make_arrays(tmp_path / f"{number}.arrow", documents, dtype=dtype)
        for number, documents in enumerate(shards)
    ]

    def export(to):
        folder = tmp_path / to
        export_documents(
            [
                ExportTask(f"prose/{number:04}", path, f"{number}", str(folder), to)
                for number, path in enumerate(paths)
            ]
        )
        return folder

    return dtype, [[[*document, BOUNDARY] for document in documents] for documents in shards], export


def rows_of(documents, length, step):
    tokens = list(itertools.chain.from_iterable(documents))
    return [tokens[start : start + length] for start in range(0, len(tokens) - length + 1, step)]


def test_olmo_core_finds_every_document_and_packs_the_same_rows(corpus):
    dtype, shards, export = corpus

    found = read("olmo", export("olmo"), dtype)

    assert found["by list"] == found["by boundary"] == [*shards[0], *shards[1]]
    # It packs each file by itself and leaves its last tokens out.
    assert found["rows"] == [row for documents in shards for row in rows_of(documents, LENGTH, LENGTH)]


def test_megatron_core_finds_every_document_and_packs_the_same_rows(corpus):
    dtype, shards, export = corpus

    found = read("megatron", export("megatron"), dtype)

    assert found["documents"] == [*shards[0], *shards[1]]
    for documents, order, rows in zip(shards, found["order"], found["rows"], strict=True):
        assert sorted(order) == list(range(len(documents)))
        # Rows overlap by a token: what is the last target of one is the first input of the next.
        assert rows == rows_of([documents[number] for number in order], LENGTH + 1, LENGTH)


def test_litdata_packs_the_same_rows(corpus):
    dtype, shards, export = corpus

    found = read("litdata", export("litdata"), dtype)

    # It packs each chunk by itself, here one a shard, and leaves its last tokens out.
    assert found["rows"] == [row for documents in shards for row in rows_of(documents, LENGTH, LENGTH)]


def test_mosaicml_streaming_reads_every_document_with_id_and_provenance(corpus):
    dtype, shards, export = corpus

    samples = read("mds", export("mds"), dtype)["samples"]

    assert [sample["tokens"] for sample in samples] == [*shards[0], *shards[1]]
    assert samples[1]["id"] == "d1"
    assert samples[1]["provenance"] == "prose/0000.jsonl.gz:2"


def test_olmo_core_trains_on_packed_rows_where_their_masks_say(tmp_path):
    rows = np.arange(40 * LENGTH, dtype=np.uint32).reshape(40, LENGTH)
    mask = rows[:, 1:] % 3 > 0

    export_rows([(rows[:7], mask[:7]), (rows[7:], mask[7:])], str(tmp_path), "olmo")

    found = read("olmo_rows", tmp_path, "uint32")
    assert found["input_ids"] == rows.tolist()
    ignored = -100  # and so is what follows the last token, which no row says
    targets = np.where(mask, rows[:, 1:].astype(np.int64), ignored)
    assert found["labels"] == np.pad(targets, ((0, 0), (0, 1)), constant_values=ignored).tolist()


def test_mosaicml_streaming_reads_packed_rows_and_their_masks(tmp_path):
    rows = np.arange(40 * (LENGTH + 1), dtype=np.uint32).reshape(40, -1)
    mask = rows[:, 1:] % 3 > 0

    export_rows([(rows[:7], mask[:7]), (rows[7:], mask[7:])], str(tmp_path), "mds")

    samples = read("mds", tmp_path)["samples"]
    assert [sample["input_ids"] for sample in samples] == rows.tolist()
    assert [sample["loss_mask"] for sample in samples] == mask.astype(int).tolist()
