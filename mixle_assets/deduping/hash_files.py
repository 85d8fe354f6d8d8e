"""The file ``content_hashes/<shard>.arrow``: what is needed of a shard to find and to mark its duplicates.

One row a document, in order, as an Arrow IPC file in batches of a few megabytes of text, so that it is
written as a stream and mapped into memory when read; a file cut short has no footer and does not open.

==================  ============================  ==================================================
column              type                          holds
==================  ============================  ==================================================
id                  binary                        the document's id as JSON
file, line          int32, int64                  number of the input file in the shard, physical line
text_length         int64                         code points of the text
document            fixed_size_binary[16]         hash of the compared field; zeros: not compared
paragraph_lengths   list<uint32>                  code points of each paragraph, without separator
paragraphs          list<fixed_size_binary[16]>   hash of each paragraph; zeros: not compared
==================  ============================  ==================================================

What is not deduped holds zeros or empty lists. Hashes are XXH3 with 128 bits: among 10^10 different
paragraphs the chance that any two share one is 1.5e-19 (n² / 2^129), with 64 bits it would be 93 %. So equal
hashes are taken for equal text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import hash_column, hashes_in, list_column, offsets_of, open_arrow
from mixle_assets.deduping.paragraphs import HASH_IN_BYTES, Paragraphs

_NAMES = b"files"
SCHEMA = pa.schema(
    [
        pa.field("id", pa.binary()),
        pa.field("file", pa.int32()),
        pa.field("line", pa.int64()),
        pa.field("text_length", pa.int64()),
        pa.field("document", pa.binary(HASH_IN_BYTES)),
        pa.field("paragraph_lengths", pa.list_(pa.uint32())),
        pa.field("paragraphs", pa.list_(pa.binary(HASH_IN_BYTES))),
    ]
)


class HashBatch(NamedTuple):
    """Consecutive documents of one shard.

    Attributes:
        ids: Ids as JSON, an Arrow array of ``binary``.
        files: Number of the input file in the shard, int32.
        lines: Physical lines, int64.
        text_lengths: Code points, int64.
        documents: Hash of the compared field, uint8 of shape (documents, 16).
        paragraphs: The paragraphs of all these documents.
    """

    ids: pa.Array
    files: NDArray[np.int32]
    lines: NDArray[np.int64]
    text_lengths: NDArray[np.int64]
    documents: NDArray[np.uint8]
    paragraphs: Paragraphs

    def columns(self) -> list[pa.Array]:
        """Return the batch as Arrow columns."""
        offsets = offsets_of(self.paragraphs.counts)
        return [
            self.ids,
            pa.array(self.files),
            pa.array(self.lines),
            pa.array(self.text_lengths),
            hash_column(self.documents),
            list_column(offsets, pa.array(self.paragraphs.lengths)),
            list_column(offsets, hash_column(self.paragraphs.hashes)),
        ]

    def content(self) -> dict[str, NDArray[np.generic] | bytes]:
        """Return what is hashed of each column."""
        return {
            "id": b"\n".join([*self.ids.to_pylist(), b""]),
            "file": self.files,
            "line": self.lines,
            "text_length": self.text_lengths,
            "document": self.documents,
            "num_paragraphs": self.paragraphs.counts,
            "paragraph_lengths": self.paragraphs.lengths,
            "paragraphs": self.paragraphs.hashes,
        }


class HashFile:
    """A hash file mapped into memory; its batches are views on it.

    Attributes:
        path: Where it lies.
        names: Provenance names of the shard's input files; ``HashBatch.files`` counts in them.

    Raises:
        InputError: The file is missing, cut short, or holds other columns.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._reader = open_arrow(path, SCHEMA)
        self.names: list[str] = orjson.loads(self._reader.schema.metadata[_NAMES])

    def __iter__(self) -> Iterator[HashBatch]:
        for number in range(self._reader.num_record_batches):
            columns = self._reader.get_batch(number).columns
            ids, files, lines, text_lengths, documents, lengths, paragraphs = columns
            yield HashBatch(
                ids=ids,
                files=files.to_numpy(),
                lines=lines.to_numpy(),
                text_lengths=text_lengths.to_numpy(),
                documents=hashes_in(documents),
                paragraphs=Paragraphs(
                    counts=np.diff(lengths.offsets.to_numpy()).astype(np.int64),
                    lengths=lengths.values.to_numpy(),
                    hashes=hashes_in(paragraphs.values),
                ),
            )


def schema_of(names: Sequence[str]) -> pa.Schema:
    """Return the schema of a hash file of these input files, whose names stand in its metadata."""
    return SCHEMA.with_metadata({_NAMES: orjson.dumps(list(names))})
