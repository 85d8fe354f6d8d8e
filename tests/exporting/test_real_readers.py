"""Megatron's and MDS's own parsing code reads what we wrote; their surroundings are stand-ins."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from make_arrays import make_arrays

from mixle_assets.exporting import ExportTask, export_documents, export_rows

DOCUMENTS = [[5, 6, 7], list(range(300)), [9], [0] * 70_000]


def read(kind, path):
    script = Path(__file__).with_name("light_readers.py")
    done = subprocess.run(
        [sys.executable, str(script), os.environ["MIXLE_READERS"], kind, str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_megatron_reads_every_document_with_its_boundary(tmp_path, dtype):
    path = make_arrays(tmp_path / "a.arrow", DOCUMENTS, dtype=dtype)

    export_documents([ExportTask("prose/0000", path, "d", str(tmp_path / "out"), "megatron")])

    assert read("megatron", tmp_path / "out" / "prose-0000") == [[*document, 2] for document in DOCUMENTS]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_mds_reads_every_document_with_id_and_provenance(tmp_path, dtype):
    first = make_arrays(tmp_path / "a.arrow", DOCUMENTS, dtype=dtype)
    second = make_arrays(tmp_path / "b.arrow", [[1, 2]], dtype=dtype)
    out = str(tmp_path / "out")

    export_documents(
        [ExportTask("prose/0000", first, "d", out, "mds"), ExportTask("prose/0001", second, "e", out, "mds")]
    )

    samples = read("mds", out)
    assert [sample["tokens"] for sample in samples] == [[*document, 2] for document in [*DOCUMENTS, [1, 2]]]
    assert samples[1]["id"] == "d1"
    assert samples[1]["provenance"] == "prose/0000.jsonl.gz:2"


def test_mds_reads_rows_and_their_masks(tmp_path):
    rows = np.array([[1, 2, 3], [4, 0, 0]], np.uint16)
    mask = np.array([[True, True], [False, False]])

    export_rows([(rows, mask)], str(tmp_path), "mds")

    assert read("mds", tmp_path) == [
        {"input_ids": [1, 2, 3], "loss_mask": [1, 1]},
        {"input_ids": [4, 0, 0], "loss_mask": [0, 0]},
    ]
