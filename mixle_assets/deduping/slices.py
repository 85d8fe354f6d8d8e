"""The file ``duplicate_index/<shard>.arrow``: which documents and paragraphs of one shard repeat others.

One row for each document with anything to say, in order, as an Arrow IPC file:

==========  ===========  ========================================================================
column      type         holds
==========  ===========  ========================================================================
document    int64        position of the document in the shard, from 0
first_file  string       provenance name of the file with the document it repeats; "" if it does not
first_line  int64        physical line there, from 1; 0 if it does not
paragraphs  list<int32>  positions, in the document, of its paragraphs that repeat others
==========  ===========  ========================================================================

A slice names other shards' files but holds nothing else of them: shards added later leave it as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import list_column, offsets_of, open_arrow

SCHEMA = pa.schema(
    [
        pa.field("document", pa.int64()),
        pa.field("first_file", pa.string()),
        pa.field("first_line", pa.int64()),
        pa.field("paragraphs", pa.list_(pa.int32())),
    ]
)


class SliceBatch(NamedTuple):
    """Consecutive rows of a slice.

    Attributes:
        documents: Positions in the shard, int64, rising.
        first_files: Names of the files with the repeated documents, or "".
        first_lines: Physical lines there, int64, or 0.
        paragraph_counts: Marked paragraphs of each document, int64.
        paragraphs: Their positions in the document, int32, one document after the other.
    """

    documents: NDArray[np.int64]
    first_files: list[str]
    first_lines: NDArray[np.int64]
    paragraph_counts: NDArray[np.int64]
    paragraphs: NDArray[np.int32]

    def columns(self) -> list[pa.Array]:
        """Return the batch as Arrow columns."""
        return [
            pa.array(self.documents),
            pa.array(self.first_files, pa.string()),
            pa.array(self.first_lines),
            list_column(offsets_of(self.paragraph_counts), pa.array(self.paragraphs)),
        ]

    def content(self) -> dict[str, NDArray[np.generic] | bytes]:
        """Return what is hashed of each column."""
        return {
            "document": self.documents,
            "first_file": "".join([name + "\n" for name in self.first_files]).encode(),
            "first_line": self.first_lines,
            "num_paragraphs": self.paragraph_counts,
            "paragraphs": self.paragraphs,
        }


class MarkedDocument(NamedTuple):
    """One row of a slice.

    Attributes:
        document: Position in the shard.
        first: File name and line of the document it repeats, or None.
        paragraphs: Positions of its repeated paragraphs, rising.
    """

    document: int
    first: tuple[str, int] | None
    paragraphs: list[int]


def read_slice(path: str) -> Iterator[MarkedDocument]:
    """Yield the rows of a slice in order.

    Raises:
        InputError: The file is missing, cut short, or holds other columns.
    """
    reader = open_arrow(path, SCHEMA)
    for number in range(reader.num_record_batches):
        columns = [column.to_pylist() for column in reader.get_batch(number).columns]
        for document, name, line, marked in zip(*columns, strict=True):
            yield MarkedDocument(document, (name, line) if line else None, marked)
