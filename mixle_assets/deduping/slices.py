"""The file ``duplicate_index/<shard>.arrow``: which documents and paragraphs of one shard repeat others.

One row for each document with anything to say, in order, as an Arrow IPC file, in batches that do not cross
those of the hash file:

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
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import (
    list_column,
    numbers_in,
    offsets_of,
    open_arrow,
    text_column,
)
from mixle_assets.deduping.places import Place
from mixle_assets.formats.columns import number_column

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
_NOWHERE = Place("", 0, "")


class DocumentMarks(NamedTuple):
    """Documents that repeat another, or are near to it.

    Attributes:
        documents: Positions in the shard, int64, rising.
        places: Where the others lie.
        similarities: How near they are, float32; None where they are equal.
    """

    documents: NDArray[np.int64]
    places: list[Place]
    similarities: NDArray[np.float32] | None = None


class ParagraphMarks(NamedTuple):
    """Paragraphs that repeat others.

    Attributes:
        documents: Positions in the shard of the documents they are in, int64, rising.
        paragraphs: Positions in these documents, int32, rising in each.
        scores: Share of each that is repeated, float32; None where they are compared whole.
        references: Ids, as JSON, of the reference documents they stand in; None where there is no such set.
    """

    documents: NDArray[np.int64]
    paragraphs: NDArray[np.int32]
    scores: NDArray[np.float32] | None = None
    references: list[str] | None = None


NO_DOCUMENTS = DocumentMarks(np.zeros(0, np.int64), [])
NO_PARAGRAPHS = ParagraphMarks(np.zeros(0, np.int64), np.zeros(0, np.int32))


class SliceBatch(NamedTuple):
    """What is marked among the documents of one batch of the hash file."""

    first: DocumentMarks = NO_DOCUMENTS
    near: DocumentMarks = NO_DOCUMENTS
    paragraphs: ParagraphMarks = NO_PARAGRAPHS
    probes: ParagraphMarks = NO_PARAGRAPHS

    def documents(self) -> NDArray[np.int64]:
        """Return the positions in the shard of all documents with a mark, rising."""
        return np.unique(np.concatenate([marks.documents for marks in self]))

    def columns(self) -> list[pa.Array]:
        """Return the batch as Arrow columns, one row for each document with a mark."""
        documents = self.documents()
        near = self.near
        similarities = np.zeros(len(documents), np.float32)
        if near.similarities is not None:
            similarities[np.searchsorted(documents, near.documents)] = near.similarities
        paragraphs, scores, _ = _paragraph_columns(documents, self.paragraphs)
        return [
            number_column(documents),
            *_place_columns(documents, self.first),
            *_place_columns(documents, near),
            number_column(similarities),
            paragraphs,
            scores,
            *_paragraph_columns(documents, self.probes),
        ]

    def content(self) -> dict[str, NDArray[Any] | bytes]:
        """Return what is hashed of each column."""
        content: dict[str, NDArray[Any] | bytes] = {}
        for name, marks in self._asdict().items():
            for column, values in marks._asdict().items():
                if column in ("places", "references") and values:
                    content[f"{name}_{column}"] = msgspec.json.Encoder().encode_lines(values)
                elif values is not None and len(values):
                    content[f"{name}_{column}"] = values
        return content


def read_slice(path: str) -> Iterator[SliceBatch]:
    """Yield the batches of a slice in order.

    Raises:
        InputError: The file is missing, cut short, or holds other columns.
    """
    reader = open_arrow(path, SCHEMA)
    for number in range(reader.num_record_batches):
        columns = reader.get_batch(number).columns
        documents = numbers_in(columns[0])
        yield SliceBatch(
            _document_marks(documents, columns[1:4], None),
            _document_marks(documents, columns[4:7], numbers_in(columns[7])),
            _paragraph_marks(documents, columns[8], columns[9], None),
            _paragraph_marks(documents, *columns[10:13]),
        )


def _place_columns(documents: NDArray[np.int64], marks: DocumentMarks) -> list[pa.Array]:
    if not marks.places:
        none = text_column([b""] * len(documents), pa.string())
        return [none, number_column(np.zeros(len(documents), np.int64)), none]
    places = [_NOWHERE] * len(documents)
    for row, place in zip(np.searchsorted(documents, marks.documents).tolist(), marks.places, strict=True):
        places[row] = place
    files, lines, references = zip(*places, strict=True)
    return [
        text_column([file.encode() for file in files], pa.string()),
        number_column(np.array(lines, np.int64)),
        text_column([reference.encode() for reference in references], pa.string()),
    ]


def _paragraph_columns(documents: NDArray[np.int64], marks: ParagraphMarks) -> list[pa.Array]:
    counts = np.bincount(np.searchsorted(documents, marks.documents), minlength=len(documents))
    offsets, none = offsets_of(counts), np.zeros(len(documents) + 1, np.int64)
    scores = np.zeros(0, np.float32) if marks.scores is None else marks.scores
    references = [reference.encode() for reference in marks.references or ()]
    return [
        list_column(offsets, number_column(marks.paragraphs)),
        list_column(none if marks.scores is None else offsets, number_column(scores)),
        list_column(none if marks.references is None else offsets, text_column(references, pa.string())),
    ]


def _document_marks(
    documents: NDArray[np.int64], columns: Sequence[pa.Array], similarities: NDArray[np.float32] | None
) -> DocumentMarks:
    files, lines, references = columns
    marked = np.flatnonzero(numbers_in(lines))
    if not len(marked):
        return NO_DOCUMENTS
    every = zip(*(column.to_pylist() for column in (files, lines, references)), strict=True)
    return DocumentMarks(
        documents[marked],
        [Place(*place) for place in every if place[1]],
        None if similarities is None else similarities[marked],
    )


def _paragraph_marks(
    documents: NDArray[np.int64], paragraphs: pa.Array, scores: pa.Array, references: pa.Array | None
) -> ParagraphMarks:
    return ParagraphMarks(
        np.repeat(documents, np.diff(numbers_in(paragraphs.offsets))),
        numbers_in(paragraphs.values),
        numbers_in(scores.values) if len(scores.values) else None,
        references.values.to_pylist() if references is not None and len(references.values) else None,
    )
