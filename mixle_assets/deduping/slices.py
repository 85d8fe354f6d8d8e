"""The file ``duplicate_index/<shard>.arrow``: which documents and paragraphs of one shard repeat others.

One row for each document with anything to say, in order, as an Arrow IPC file:

================  =============  ===================================================================
column            type           holds
================  =============  ===================================================================
document          int64          position of the document in the shard, from 0
first_file        string         provenance name of the file of the document it repeats; "": none
first_line        int64          physical line there, from 1; 0: none
first_reference   string         its id as JSON if it lies in a reference set, else ""
near_...          the same       likewise for the document it is near to
near_similarity   float          how near, 0 to 1
paragraphs        list<int32>    positions, in the document, of its paragraphs that repeat others
scores            list<float>    with n-grams: the share of each that does; else empty
probes            list<int32>    positions of its paragraphs that stand in the reference set
probe_scores      list<float>    with n-grams: the share of each that does; else empty
probe_references  list<string>   id, as JSON, of the reference document that each stands in
================  =============  ===================================================================

A slice names other shards' files but holds nothing else of them: shards added later leave it as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from mixle_assets.deduping.arrow_files import open_arrow
from mixle_assets.deduping.places import Place

SCHEMA = pa.schema(
    [
        pa.field("document", pa.int64()),
        pa.field("first_file", pa.string()),
        pa.field("first_line", pa.int64()),
        pa.field("first_reference", pa.string()),
        pa.field("near_file", pa.string()),
        pa.field("near_line", pa.int64()),
        pa.field("near_reference", pa.string()),
        pa.field("near_similarity", pa.float32()),
        pa.field("paragraphs", pa.list_(pa.int32())),
        pa.field("scores", pa.list_(pa.float32())),
        pa.field("probes", pa.list_(pa.int32())),
        pa.field("probe_scores", pa.list_(pa.float32())),
        pa.field("probe_references", pa.list_(pa.string())),
    ]
)
NOWHERE = Place("", 0, "")


class MarkedDocument(NamedTuple):
    """One row of a slice; fields as its columns."""

    document: int
    first: Place = NOWHERE
    near: Place = NOWHERE
    near_similarity: float = 0.0
    paragraphs: Sequence[int] = ()
    scores: Sequence[float] = ()
    probes: Sequence[int] = ()
    probe_scores: Sequence[float] = ()
    probe_references: Sequence[str] = ()


def slice_columns(rows: Sequence[MarkedDocument]) -> list[pa.Array]:
    """Return rows as Arrow columns."""
    flat = [(row.document, *row.first, *row.near, row.near_similarity, *row[4:]) for row in rows]
    return [
        pa.array(values, field.type) for values, field in zip(zip(*flat, strict=True), SCHEMA, strict=True)
    ]


def read_slice(path: str) -> Iterator[MarkedDocument]:
    """Yield the rows of a slice in order.

    Raises:
        InputError: The file is missing, cut short, or holds other columns.
    """
    reader = open_arrow(path, SCHEMA)
    for number in range(reader.num_record_batches):
        columns = [column.to_pylist() for column in reader.get_batch(number).columns]
        for row in zip(*columns, strict=True):
            yield MarkedDocument(row[0], Place(*row[1:4]), Place(*row[4:7]), *row[7:])
