"""The file ``content_hashes/<shard>.arrow``: what is needed of a shard to find and to mark its duplicates.

One row a document, in order, as an Arrow IPC file in batches of about a megabyte of text, so that it is
written as a stream and mapped into memory when read; a file cut short has no footer and does not open. No
batch crosses two input files.

=====================  ============================  ====================================================
column                 type                          holds
=====================  ============================  ====================================================
id                     binary                        the document's id as JSON
file, line             int32, int64                  number of the input file in the shard, physical line
text_length            int64                         code points of the text
document               fixed_size_binary[16]         hash of the compared field; zeros: not compared
signature              list<uint32>                  MinHash signature, for near duplicates
paragraph_lengths      list<uint32>                  code points of each paragraph, without separator
paragraph_hashes       list<fixed_size_binary[16]>   hash of each; zeros: not compared
paragraph_num_hashes   list<uint32>                  with n-grams: how many hashes each has
paragraph_num_counted  list<uint32>                  with n-grams: how many of these count for its score
probe_...              the same four                 paragraphs as they are compared with a reference set
=====================  ============================  ====================================================

What is not deduped holds zeros or empty lists. Hashes are XXH3 with 128 bits: among 10^10 different
paragraphs the chance that any two share one is 1.5e-19 (n² / 2^129), with 64 bits it would be 93 %. So equal
hashes are taken for equal text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import (
    hash_column,
    hashes_in,
    list_column,
    numbers_in,
    offsets_of,
    open_arrow,
)
from mixle_assets.deduping.paragraphs import HASH_IN_BYTES, Paragraphs
from mixle_assets.formats.columns import number_column

Kind = Literal["documents", "paragraphs", "probes", "near_documents"]
"""What is compared: each kind has hashes, and positions, of its own."""
_NAMES = b"files"
_HASH = pa.binary(HASH_IN_BYTES)
SCHEMA = pa.schema(
    [
        pa.field("id", pa.binary()),
        pa.field("file", pa.int32()),
        pa.field("line", pa.int64()),
        pa.field("text_length", pa.int64()),
        pa.field("document", _HASH),
        pa.field("signature", pa.list_(pa.uint32())),
        *[
            pa.field(f"{kind}_{name}", pa.list_(of))
            for kind in ("paragraph", "probe")
            for name, of in (
                ("lengths", pa.uint32()),
                ("hashes", _HASH),
                ("num_hashes", pa.uint32()),
                ("num_counted", pa.uint32()),
            )
        ],
    ]
)


class HashBatch(NamedTuple):
    """Consecutive documents of one input file.

    Attributes:
        ids: Ids as JSON, an Arrow array of ``binary``.
        files: Number of the input file in the shard, int32.
        lines: Physical lines, int64.
        text_lengths: Code points, int64.
        documents: Hash of the compared field, uint8 of shape (documents, 16).
        signatures: MinHash signatures, uint32 of shape (documents, hashes); zero hashes where there are none.
        paragraphs: The paragraphs of all these documents.
        probes: Their paragraphs as they are compared with the reference set.
    """

    ids: pa.Array
    files: NDArray[np.int32]
    lines: NDArray[np.int64]
    text_lengths: NDArray[np.int64]
    documents: NDArray[np.uint8]
    signatures: NDArray[np.uint32]
    paragraphs: Paragraphs
    probes: Paragraphs

    def columns(self) -> list[pa.Array]:
        """Return the batch as Arrow columns."""
        num_documents, num_minhashes = self.signatures.shape
        return [
            self.ids,
            number_column(self.files),
            number_column(self.lines),
            number_column(self.text_lengths),
            hash_column(self.documents),
            list_column(np.arange(num_documents + 1) * num_minhashes, number_column(self.signatures.ravel())),
            *_paragraph_columns(self.paragraphs),
            *_paragraph_columns(self.probes),
        ]

    def content(self) -> dict[str, NDArray[Any] | bytes]:
        """Return what is hashed of each column."""
        content: dict[str, NDArray[Any] | bytes] = {
            "id": b"\n".join([*self.ids.to_pylist(), b""]),
            "file": self.files,
            "line": self.lines,
            "text_length": self.text_lengths,
            "document": self.documents,
            "signature": self.signatures,
        }
        for kind, paragraphs in (("paragraph", self.paragraphs), ("probe", self.probes)):
            content |= {
                f"{kind}_{name}": values
                for name, values in paragraphs._asdict().items()
                if values is not None and len(values)
            }
        return content

    def compared(self, kind: Kind) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the hashes of one kind, uint8 of shape (hashes, 16), and the document each belongs to."""
        if kind in ("documents", "near_documents"):
            return self.documents, np.arange(len(self.lines))
        paragraphs = self.paragraphs if kind == "paragraphs" else self.probes
        holders = np.repeat(np.arange(len(self.lines)), paragraphs.counts)
        if paragraphs.num_hashes is not None:
            holders = np.repeat(holders, paragraphs.num_hashes)
        return paragraphs.hashes, holders


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
            yield HashBatch(
                ids=columns[0],
                files=numbers_in(columns[1]),
                lines=numbers_in(columns[2]),
                text_lengths=numbers_in(columns[3]),
                documents=hashes_in(columns[4]),
                signatures=numbers_in(columns[5].values).reshape(len(columns[0]), -1),
                paragraphs=_paragraphs_in(columns[6:10]),
                probes=_paragraphs_in(columns[10:14]),
            )


def schema_of(names: Sequence[str]) -> pa.Schema:
    """Return the schema of a hash file of these input files, whose names stand in its metadata."""
    return SCHEMA.with_metadata({_NAMES: orjson.dumps(list(names))})


def _paragraph_columns(paragraphs: Paragraphs) -> list[pa.Array]:
    offsets = offsets_of(paragraphs.counts)
    none = np.zeros(len(offsets), np.int64), number_column(np.zeros(0, np.uint32))
    if paragraphs.num_hashes is None or paragraphs.num_counted is None:
        return [
            list_column(offsets, number_column(paragraphs.lengths)),
            list_column(offsets, hash_column(paragraphs.hashes)),
            list_column(*none),
            list_column(*none),
        ]
    return [
        list_column(offsets, number_column(paragraphs.lengths)),
        list_column(offsets_of(paragraphs.num_hashes)[offsets], hash_column(paragraphs.hashes)),
        list_column(offsets, number_column(paragraphs.num_hashes)),
        list_column(offsets, number_column(paragraphs.num_counted)),
    ]


def _paragraphs_in(columns: Sequence[pa.Array]) -> Paragraphs:
    lengths, hashes, num_hashes, num_counted = (column.values for column in columns)
    has_ngrams = len(num_hashes) > 0
    return Paragraphs(
        counts=np.diff(numbers_in(columns[0].offsets)).astype(np.int64),
        lengths=numbers_in(lengths),
        hashes=hashes_in(hashes),
        num_hashes=numbers_in(num_hashes) if has_ngrams else None,
        num_counted=numbers_in(num_counted) if has_ngrams else None,
    )
