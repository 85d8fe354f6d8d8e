"""Lineage, both ways: from a row to the documents in it, and from a document to the rows it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mixle_assets.packing.corpus import Corpus
from mixle_assets.packing.dealing import Deal
from mixle_assets.packing.layout import EpochLayout
from mixle_assets.packing.plan import RowPlan
from mixle_assets.records import DocumentId


class TracedSegment(NamedTuple):
    """A run of one document's tokens in a row.

    Attributes:
        document: Number of the document in the corpus.
        id: Its id.
        stream: Name of its stream.
        provenance: Where it came from, ``<file>:<line>``.
        document_start: First of its tokens in the row.
        document_stop: Behind the last; one more than the document has where its boundary stands there too.
        row_start: First cell.
        row_stop: Behind the last cell.
        has_boundary: Whether the last cell is the boundary.
    """

    document: int
    id: DocumentId
    stream: str
    provenance: str
    document_start: int
    document_stop: int
    row_start: int
    row_stop: int
    has_boundary: bool


class TracedPlace(NamedTuple):
    """A row in which a document stands.

    Attributes:
        document: Number of the document.
        epoch: Which pass.
        rank: Who reads the row; None where it was dropped to make ranks equal.
        row: Number of the row on that rank, or in the packing where no rank reads it.
        batch: Batch of the rank that holds it; None where no rank reads it.
        segment: The run of tokens.
    """

    document: int
    epoch: int
    rank: int | None
    row: int
    batch: int | None
    segment: TracedSegment


def trace_row(corpus: Corpus, epoch: int, rank: int, row: int) -> list[TracedSegment]:
    """Return the documents that a row consists of, in order; empty for a row of padding alone.

    Raises:
        IndexError: The rank has no such row, or there is no such rank.
    """
    if not 0 <= rank < corpus.settings.world_size:
        raise IndexError(f"rank {rank} of {corpus.settings.world_size}")
    rows = corpus.open_rows(corpus.settings, epoch, corpus.selector, rank, 0)
    if not 0 <= row < rows.num_rows:
        raise IndexError(f"row {row} of epoch {epoch}: rank {rank} has {rows.num_rows} rows")
    return [_traced(corpus, *segment) for segment in rows.segments(row, row + 1)[0]]


def trace_batch(corpus: Corpus, epoch: int, rank: int, step: int) -> list[list[TracedSegment]]:
    """Return the documents of each row of a batch, with the corpus's own batch size.

    Raises:
        IndexError: The rank has no such batch.
    """
    size = corpus.description.batch_size
    rows = corpus.open_rows(corpus.settings, epoch, corpus.selector, rank, 0)
    if not 0 <= step * size < rows.num_rows:
        raise IndexError(
            f"batch {step} of epoch {epoch}: rank {rank} has {-(-rows.num_rows // size)} batches"
        )
    return [
        [_traced(corpus, *segment) for segment in row]
        for row in rows.segments(step * size, min((step + 1) * size, rows.num_rows))
    ]


def find_documents(corpus: Corpus, document_id: DocumentId) -> list[int]:
    """Return the numbers of the documents with an id or a provenance; ``7`` and ``"7"`` are two ids."""
    found, document = [], 0
    for stream in range(len(corpus.description.streams)):
        for known in corpus.sources.ids(stream):
            if known == document_id and type(known) is type(document_id):
                found.append(document)
            document += 1
    if not found and isinstance(document_id, str):
        found = [number for number, name in enumerate(corpus.sources.provenances()) if name == document_id]
    return found


def trace_id(corpus: Corpus, epoch: int, document_id: DocumentId) -> list[TracedPlace]:
    """Return the rows of an epoch in which the documents of an id (or a provenance) stand.

    One that was not drawn in this epoch stands nowhere.

    Raises:
        KeyError: No document has this id.
    """
    documents = find_documents(corpus, document_id)
    if not documents:
        raise KeyError(f"no document has the id or provenance {document_id!r}")
    return [place for document in documents for place in trace_document(corpus, epoch, document)]


def trace_document(corpus: Corpus, epoch: int, document: int) -> Iterator[TracedPlace]:
    """Yield the rows of an epoch in which a document stands, plan by plan, in the order of rows."""
    settings, size = corpus.settings, corpus.description.batch_size
    plans, deal = _plans(corpus, epoch)
    for number, plan in enumerate(plans):
        for row in plan.rows_of(document):
            if settings.residency == "documents":
                rank, place = number, row
            else:
                place, rank = divmod(row, settings.world_size)
            is_read = place < min(deal.rows_per_rank[rank], deal.packed_rows[rank])
            for segment in plan.segments(row):
                if segment.document == document:
                    yield TracedPlace(
                        document,
                        epoch,
                        rank if is_read else None,
                        place if is_read else row,
                        place // size if is_read else None,
                        _traced(corpus, *segment),
                    )


def _plans(corpus: Corpus, epoch: int) -> tuple[list[RowPlan], Deal]:
    settings = corpus.settings
    num_plans = settings.world_size if settings.residency == "documents" else 1
    if stored := corpus.epochs.get(epoch):
        return [stored.plan(number) for number in range(num_plans)], stored.deal
    order = corpus.order(settings, epoch, corpus.selector)
    layout = EpochLayout(settings, order, corpus.sources.lengths)
    return [layout.plan_of(number) for number in range(num_plans)], layout.deal


def _traced(
    corpus: Corpus, document: int, start: int, stop: int, row_start: int, row_stop: int
) -> TracedSegment:
    return TracedSegment(
        document,
        corpus.id(document),
        corpus.stream(document),
        corpus.provenance(document),
        start,
        stop,
        row_start,
        row_stop,
        stop > int(corpus.sources.lengths[document]),
    )
