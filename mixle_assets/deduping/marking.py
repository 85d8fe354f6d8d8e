"""One shard's slice of the index: from what was found in the whole to rows for its own documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import ContentHasher, offsets_of, write_arrow
from mixle_assets.deduping.buckets import Matches, Occurrences
from mixle_assets.deduping.clusters import NearMatches
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.members import Extents, HashedShard, group_of
from mixle_assets.deduping.paragraphs import Paragraphs
from mixle_assets.deduping.places import Places
from mixle_assets.deduping.slices import SCHEMA, DocumentMarks, ParagraphMarks, SliceBatch
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


def write_slice(shard: HashedShard, number: int, marks: Marks) -> Written:
    """Write the slice of one shard, which is the member of that number."""
    extents = marks.extents
    first = int(extents.documents[number])
    start = _Start(first, int(extents.paragraphs[number]), int(extents.probes[number]))
    counts, content = Counts(), ContentHasher()
    with write_arrow(shard.output, SCHEMA) as writer:
        for batch in HashFile(shard.hashes):
            found = _mark_batch(batch, start, first, shard.rules, marks)
            if len(found.documents()):
                writer.append(found.columns())
                content.update(**found.content())
            _count(batch, found, start.document - first, counts)
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


def _mark_batch(batch: HashBatch, start: _Start, first: int, rules: Dedupe, marks: Marks) -> SliceBatch:
    """Return what is marked in one batch; ``first`` is the position of the shard's first document."""
    found = SliceBatch()
    stop = start.document + len(batch.lines)
    if (documents := marks.equal.get(group_of(rules, "documents") or "")) is not None:
        equal = documents.between(start.document, stop)
        places = marks.document_places.of(equal.matches)
        found = found._replace(first=DocumentMarks(equal.positions - first, places))
    if (near_documents := marks.near.get(group_of(rules, "near_documents") or "")) is not None:
        near = near_documents.between(start.document, stop)
        places = marks.document_places.of(near.roots)
        found = found._replace(near=DocumentMarks(near.positions - first, places, near.similarities))
    if (paragraphs := marks.equal.get(group_of(rules, "paragraphs") or "")) is not None:
        equal = paragraphs.between(start.paragraph, start.paragraph + len(batch.paragraphs.hashes))
        equal = equal._replace(positions=equal.positions - start.paragraph)
        repeated, _ = _mark_paragraphs(batch.paragraphs, equal, start.document - first, rules.paragraphs)
        found = found._replace(paragraphs=repeated)
    if (probes := marks.equal.get(group_of(rules, "probes") or "")) is not None:
        equal = probes.between(start.probe, start.probe + len(batch.probes.hashes))
        in_reference = equal.matches < marks.extents.probes[marks.num_references]
        equal = Matches(equal.positions[in_reference] - start.probe, equal.matches[in_reference])
        repeated, matches = _mark_paragraphs(
            batch.probes, equal, start.document - first, rules.decontamination
        )
        references = np.full(len(matches), "", object)
        named = matches >= 0
        references[named] = [place.reference for place in marks.probe_places.of(matches[named])]
        found = found._replace(probes=repeated._replace(references=references.tolist()))
    return found


def _mark_paragraphs(
    paragraphs: Paragraphs, found: Matches, start: int, rules: DedupeParagraphs | Decontamination | None
) -> tuple[ParagraphMarks, NDArray[np.int64]]:
    """Return the paragraphs that are marked, and what the first repeated hash of each repeats, or -1.

    Args:
        paragraphs: All paragraphs of a batch.
        found: Which of their hashes repeat others; positions are those in the batch.
        start: Position in the shard of the batch's first document.
        rules: How they are compared.
    """
    marked, matches, scores = found.positions, found.matches, None
    if rules is not None and rules.by_ngram is not None and paragraphs.num_hashes is not None:
        ends = np.cumsum(paragraphs.num_hashes, dtype=np.int64)
        counted = np.asarray(paragraphs.num_counted, np.int64)
        first = np.searchsorted(found.positions, ends - counted)
        num_repeated = np.searchsorted(found.positions, ends) - first
        # In 32 bits as Dolma does, so that 2/3 meets a threshold of 0.6666667 alike.
        shares = np.divide(num_repeated, np.maximum(counted, 1), dtype=np.float32)
        threshold = np.float32(rules.by_ngram.overlap_threshold)
        marked = np.flatnonzero((counted > 0) & (shares >= threshold))
        scores = shares[marked]
        matches = np.full(len(marked), -1, np.int64)
        has_match = num_repeated[marked] > 0
        matches[has_match] = found.matches[first[marked][has_match]]
    starts = offsets_of(paragraphs.counts)
    holders = np.searchsorted(starts, marked, "right") - 1
    inside = (marked - starts[holders]).astype(np.int32)
    return ParagraphMarks(holders + start, inside, scores), matches


def _count(batch: HashBatch, found: SliceBatch, start: int, counts: Counts) -> None:
    """Note how much is marked; ``start`` is the position in the shard of the batch's first document."""
    for name, marks in (("duplicate", found.first), ("near", found.near)):
        counts.note(f"{name}_documents", len(marks.documents))
        counts.note(f"{name}_document_characters", int(batch.text_lengths[marks.documents - start].sum()))
    for name, repeated, paragraphs in (
        ("duplicate", found.paragraphs, batch.paragraphs),
        ("contaminated", found.probes, batch.probes),
    ):
        at = offsets_of(paragraphs.counts)[repeated.documents - start] + repeated.paragraphs
        counts.note(f"{name}_paragraphs", len(at))
        counts.note(f"{name}_paragraph_characters", int(paragraphs.lengths[at].sum()))
