"""Small doc arrays for the tests of exports."""

import numpy as np

from mixle_assets.formats.doc_arrays import write_doc_arrays
from mixle_assets.formats.doc_batches import DocBatch

METADATA = {"tokenizer_hash": "c0ffee", "boundary_id": 2, "bos_id": None, "vocabulary_size": 65536}


def make_arrays(path, documents, *, dtype="uint16", ids=None, **metadata):
    """Write documents, given as lists of ids, and return where."""
    facts = {**METADATA, "vocabulary_size": 65536 if dtype == "uint16" else 2**32, **metadata}
    batch = DocBatch(
        ids or [f"d{number}" for number in range(len(documents))],
        [f"prose/0000.jsonl.gz:{number + 1}" for number in range(len(documents))],
        np.array([token for document in documents for token in document], np.int64),
        np.array([len(document) for document in documents], np.int64),
    )
    write_doc_arrays(str(path), [batch], dtype=dtype, metadata=facts)
    return str(path)
