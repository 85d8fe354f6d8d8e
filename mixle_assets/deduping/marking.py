"""One shard's slice of the index: from what was found in the whole to rows for its own documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import ContentHasher, offsets_of, write_arrow
from mixle_assets.deduping.buckets import Matches, Occurrences
from mixle_assets.deduping.clusters import NearMatches
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.members import Extents, HashedShard, group_of
from mixle_assets.deduping.paragraphs import Paragraphs
from mixle_assets.deduping.places import Places
from mixle_assets.deduping.slices import SCHEMA, MarkedDocument, slice_columns
from mixle_assets.recipe import Decontamination, Dedupe, DedupeParagraphs
from mixle_assets.records import Counts, Written


class Marks(NamedTuple):
    """What repeats what, over all members.

    Attributes:
        extents: Where each member's positions begin.
        num_references: How many members, the first ones, are reference sets.
        equal: Name of an index of equal things to what was found in it.
        near: Name of an index of near documents to what was found in it.
        document_places: Where the documents lie that others repeat or are near to.
        probe_places: Where the documents of reference sets lie that probes stand in.
    """

    extents: Extents
    num_references: int
    equal: Mapping[str, Occurrences]
    near: Mapping[str, NearMatches]
    document_places: Places
    probe_places: Places


class _Repeated(NamedTuple):
    """Marked paragraphs of a batch.

    Attributes:
        paragraphs: Positions in the batch, int64, rising.
        scores: Share of each that is repeated, float32; None where they are compared whole.
        matches: Position of what the first of its repeated hashes repeats, int64; -1 where none is.
    """

    paragraphs: NDArray[np.int64]
    scores: NDArray[np.float32] | None
    matches: NDArray[np.int64]


def write_slice(shard: HashedShard, number: int, marks: Marks) -> Written:
    """Write the slice of one shard, which is the member of that number."""
    extents = marks.extents
    first = int(extents.documents[number])
    start = _Start(first, int(extents.paragraphs[number]), int(extents.probes[number]))
    counts, content = Counts(), ContentHasher()
    with write_arrow(shard.output, SCHEMA) as writer:
        for batch in HashFile(shard.hashes):
            rows = _mark_batch(batch, start, shard.rules, marks, counts)
            if rows:
                rows = [row._replace(document=row.document + start.document - first) for row in rows]
                writer.append(slice_columns(rows))
                content.update(rows=msgspec.json.Encoder().encode_lines(rows))
            start = _Start(
                start.document + len(batch.lines),
                start.paragraph + len(batch.paragraphs.hashes),
                start.probe + len(batch.probes.hashes),
            )
    counts.num_in = counts.num_out = start.document - first
    return Written(
        rows_digest=content.digest(),
        file_hash=writer.file_hash,
        size_in_bytes=writer.size_in_bytes,
        counts=counts,
    )


class _Start(NamedTuple):
    """Positions at which a batch begins."""

    document: int
    paragraph: int
    probe: int


def _mark_batch(
    batch: HashBatch, start: _Start, rules: Dedupe, marks: Marks, counts: Counts
) -> list[MarkedDocument]:
    """Return the rows of one batch; documents are counted from its first."""
    rows: dict[int, MarkedDocument] = {}

    def mark(document: int, **fields: Any) -> None:
        rows[document] = rows.get(document, MarkedDocument(document))._replace(**fields)

    stop = start.document + len(batch.lines)
    if (documents := marks.equal.get(group_of(rules, "documents") or "")) is not None:
        found = documents.between(start.document, stop)
        local = found.positions - start.document
        for at, place in zip(local.tolist(), marks.document_places.of(found.matches), strict=True):
            mark(at, first=place)
        counts.note("duplicate_documents", len(local))
        counts.note("duplicate_document_characters", int(batch.text_lengths[local].sum()))
    if (near := marks.near.get(group_of(rules, "near_documents") or "")) is not None:
        near_found = near.between(start.document, stop)
        local = near_found.positions - start.document
        places = marks.document_places.of(near_found.roots)
        for at, place, similarity in zip(
            local.tolist(), places, near_found.similarities.tolist(), strict=True
        ):
            mark(at, near=place, near_similarity=similarity)
        counts.note("near_documents", len(local))
        counts.note("near_document_characters", int(batch.text_lengths[local].sum()))
    if (paragraphs := marks.equal.get(group_of(rules, "paragraphs") or "")) is not None:
        matches = paragraphs.between(start.paragraph, start.paragraph + len(batch.paragraphs.hashes))
        repeated = _repeated(batch.paragraphs, matches, start.paragraph, rules.paragraphs)
        for document, here, inside in _by_document(batch.paragraphs, repeated.paragraphs):
            scores = [] if repeated.scores is None else repeated.scores[here].tolist()
            mark(document, paragraphs=inside, scores=scores)
        counts.note("duplicate_paragraphs", len(repeated.paragraphs))
        counts.note(
            "duplicate_paragraph_characters", int(batch.paragraphs.lengths[repeated.paragraphs].sum())
        )
    if (probes := marks.equal.get(group_of(rules, "probes") or "")) is not None:
        matches = probes.between(start.probe, start.probe + len(batch.probes.hashes))
        in_reference = matches.matches < marks.extents.probes[marks.num_references]
        matches = Matches(matches.positions[in_reference], matches.matches[in_reference])
        repeated = _repeated(batch.probes, matches, start.probe, rules.decontamination)
        named = repeated.matches >= 0
        references = np.full(len(named), "", object)
        references[named] = [place.reference for place in marks.probe_places.of(repeated.matches[named])]
        for document, here, inside in _by_document(batch.probes, repeated.paragraphs):
            scores = [] if repeated.scores is None else repeated.scores[here].tolist()
            mark(document, probes=inside, probe_scores=scores, probe_references=references[here].tolist())
        counts.note("contaminated_paragraphs", len(repeated.paragraphs))
    return [rows[document] for document in sorted(rows)]


def _repeated(
    paragraphs: Paragraphs, found: Matches, start: int, rules: DedupeParagraphs | Decontamination | None
) -> _Repeated:
    """Return the paragraphs that are marked, given the hashes that are; the first is at ``start``."""
    local = found.positions - start
    if rules is None or rules.by_ngram is None or paragraphs.num_hashes is None:
        return _Repeated(local, None, found.matches)
    ends = np.cumsum(paragraphs.num_hashes, dtype=np.int64)
    counted = np.asarray(paragraphs.num_counted, np.int64)
    first = np.searchsorted(local, ends - counted)
    num_repeated = np.searchsorted(local, ends) - first
    # In 32 bits as Dolma does, so that 2/3 meets a threshold of 0.6666667 alike.
    scores = np.divide(num_repeated, np.maximum(counted, 1), dtype=np.float32)
    marked = np.flatnonzero((counted > 0) & (scores >= np.float32(rules.by_ngram.overlap_threshold)))
    matches = np.full(len(marked), -1, np.int64)
    has_match = num_repeated[marked] > 0
    matches[has_match] = found.matches[first[marked][has_match]]
    return _Repeated(marked, scores[marked], matches)


def _by_document(paragraphs: Paragraphs, marked: NDArray[np.int64]) -> Iterator[tuple[int, slice, list[int]]]:
    """Yield each document with marked paragraphs, the range of these in ``marked``, their places in it."""
    starts = offsets_of(paragraphs.counts)
    holders = np.searchsorted(starts, marked, "right") - 1
    inside = (marked - starts[holders]).tolist()
    documents, firsts = np.unique(holders, return_index=True)
    bounds = [*firsts.tolist(), len(marked)]
    for number, document in enumerate(documents.tolist()):
        here = slice(bounds[number], bounds[number + 1])
        yield document, here, inside[here]
