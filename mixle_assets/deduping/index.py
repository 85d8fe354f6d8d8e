"""The one global step: which copy of equal documents and paragraphs stays, over all shards of all streams.

The first in plan order stays (or what ``keep`` says). Every stream that dedupes takes part; documents that
are compared by the same key share one index, and so do all paragraphs. Written is one slice a shard, so that
a shard downstream depends on its own duplicates and on nothing else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.deduping.arrow_files import ContentHasher, offsets_of, write_arrow
from mixle_assets.deduping.buckets import MAX_BUCKETS, Matches, Occurrences, map_array
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.keys import TEXT_KEY, parse_key
from mixle_assets.deduping.slices import SCHEMA, SliceBatch
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Dedupe
from mixle_assets.records import Counts, Written

PARAGRAPHS = "paragraphs"
"""Name of the index that all paragraphs share; those of documents are named by the key."""
BUCKET_IN_HASHES = 1 << 24
"""Hashes in memory at a time, at 24 bytes each and as much again for sorting them."""


_PLACE = np.dtype([("position", "<i8"), ("file", "<i8"), ("line", "<i8")])
"""A document that others repeat: its position in the whole, the number of its file there, its line."""


class HashedShard(msgspec.Struct, frozen=True):
    """One shard in the index.

    Attributes:
        key: Key of the shard.
        stream: Name of its stream.
        rules: The stream's ``dedupe`` section.
        hashes: Its hash file, as ``hash_shard`` wrote it.
        output: Where its slice goes.
        eligible: A ``.npy`` of bool, one for each document: False takes no part, neither as a copy nor as a
            first occurrence. None: all take part.
    """

    key: str
    stream: str
    rules: Dedupe
    hashes: str
    output: str
    eligible: str | None = None


class IndexTask(msgspec.Struct, frozen=True):
    """What ``build_index`` is to do.

    Attributes:
        shards: All shards that dedupe, in plan order: the first copy in this order stays.
        bucket_in_hashes: Hashes that are in memory at a time; changes no result.
        scratch: Folder for what does not fit; None takes the system's.
    """

    shards: tuple[HashedShard, ...]
    bucket_in_hashes: int = BUCKET_IN_HASHES
    scratch: str | None = None


class _Whole(NamedTuple):
    """All shards laid end to end, in plan order.

    Attributes:
        documents: Where each shard's documents begin, int64 of shape (shards + 1,).
        paragraphs: Where each shard's paragraphs begin, likewise.
        files: Where each shard's files begin, likewise.
        names: Provenance names of all files.
    """

    documents: NDArray[np.int64]
    paragraphs: NDArray[np.int64]
    files: NDArray[np.int64]
    names: list[str]


def build_index(task: IndexTask) -> dict[str, Written]:
    """Decide which copy of equal documents and paragraphs stays, and write one slice a shard.

    Returns:
        What was written, by key of the shard. Noted: ``duplicate_documents``, ``duplicate_paragraphs`` and
        their characters.

    Raises:
        InputError: A hash file is missing or damaged, or no document has the field it is compared by.
        RecipeError: Streams that share an index disagree about the copy to keep.
    """
    groups = group_shards(task.shards)
    whole = _lay_out(task.shards)
    with tempfile.TemporaryDirectory(prefix="duplicate-index-", dir=task.scratch) as name:
        scratch = Path(name)
        found = {
            group: _match_group(task, group, members, whole, scratch) for group, members in groups.items()
        }
        places = _first_places(task.shards, whole, found, scratch)
        return {
            shard.key: _write_slice(shard, number, whole, found, places)
            for number, shard in enumerate(task.shards)
        }


def group_shards(shards: Sequence[HashedShard]) -> dict[str, list[int]]:
    """Return which shards share an index: its name to numbers of shards.

    Raises:
        RecipeError: Streams that share an index disagree about the copy to keep.
    """
    groups: dict[str, list[int]] = {}
    for number, shard in enumerate(shards):
        for group in (document_group(shard.rules), paragraph_group(shard.rules)):
            if group is not None:
                groups.setdefault(group, []).append(number)
    for group, members in groups.items():
        first = shards[members[0]]
        for other in (shards[number] for number in members):
            if other.rules.keep != first.rules.keep:
                raise RecipeError(
                    f"streams {first.stream} and {other.stream} share the index of {group}, but keep "
                    f"{first.rules.keep!r} and {other.rules.keep!r}",
                    key="dedupe.keep",
                )
    return groups


def document_group(rules: Dedupe) -> str | None:
    """Return the name of the index of a stream's documents: ``documents by metadata.url``."""
    if rules.documents is None:
        return None
    return "documents by " + ".".join(map(str, parse_key(rules.documents.key)))


def paragraph_group(rules: Dedupe) -> str | None:
    """Return the name of the index of a stream's paragraphs."""
    return None if rules.paragraphs is None else PARAGRAPHS


def _lay_out(shards: Sequence[HashedShard]) -> _Whole:
    sizes = np.zeros((3, len(shards)), np.int64)
    names: list[str] = []
    for number, shard in enumerate(shards):
        file = HashFile(shard.hashes)
        names.extend(file.names)
        sizes[2, number] = len(file.names)
        for batch in file:
            sizes[:2, number] += len(batch.lines), len(batch.paragraphs.lengths)
    return _Whole(offsets_of(sizes[0]), offsets_of(sizes[1]), offsets_of(sizes[2]), names)


def _match_group(
    task: IndexTask, group: str, members: Sequence[int], whole: _Whole, scratch: Path
) -> Occurrences:
    starts = whole.paragraphs if group == PARAGRAPHS else whole.documents
    num_hashes = sum(int(starts[number + 1] - starts[number]) for number in members)
    num_buckets = min(MAX_BUCKETS, max(1, -(-num_hashes // task.bucket_in_hashes)))
    folder = Path(tempfile.mkdtemp(dir=scratch))
    occurrences = Occurrences(num_buckets, folder)
    for number in members:
        shard = task.shards[number]
        position, document = int(starts[number]), 0
        eligible = _load_eligible(shard, int(whole.documents[number + 1] - whole.documents[number]))
        for batch in HashFile(shard.hashes):
            hashes = batch.paragraphs.hashes if group == PARAGRAPHS else batch.documents
            positions = np.arange(position, position + len(hashes))
            position += len(hashes)
            if eligible is not None:
                takes_part = eligible[document : document + len(batch.lines)]
                if group == PARAGRAPHS:
                    takes_part = np.repeat(takes_part, batch.paragraphs.counts)
                hashes, positions = hashes[takes_part], positions[takes_part]
                document += len(batch.lines)
            occurrences.add(hashes, positions)
    if group != PARAGRAPHS and num_hashes and not occurrences.num_added:
        _refuse_dead_key(task.shards[members[0]])
    keep = task.shards[members[0]].rules.keep
    rank_of_shard = np.array([stream_rank(shard.stream, keep) for shard in task.shards], np.int64)
    occurrences.match(
        lambda positions: rank_of_shard[np.searchsorted(starts, positions, "right") - 1],
        keep_one=keep != "none",
    )
    return occurrences


def _refuse_dead_key(shard: HashedShard) -> None:
    """A key that no document has is a rule that cannot fire."""
    rules = shard.rules
    if rules.documents is not None and parse_key(rules.documents.key) != TEXT_KEY:
        raise InputError(
            f"no document of stream {shard.stream}, or of those compared with it, has a value at "
            f"{rules.documents.key!r}",
            path=shard.hashes,
            rule="dedupe.documents.key",
        )


def stream_rank(stream: str, keep: Any) -> int:
    """Return the stream's place among the preferred ones, or the one behind them all."""
    preferred: tuple[str, ...] = () if isinstance(keep, str) else keep.prefer
    return preferred.index(stream) if stream in preferred else len(preferred)


def _load_eligible(shard: HashedShard, num_documents: int) -> NDArray[np.bool_] | None:
    if shard.eligible is None:
        return None
    eligible: NDArray[np.bool_] = np.load(storage.local_path(shard.eligible), mmap_mode="r")
    if eligible.shape != (num_documents,) or eligible.dtype != np.bool_:
        raise InputError(
            f"must hold {num_documents} bools, one for each document of {shard.key}, "
            f"got {eligible.dtype} of shape {eligible.shape}",
            path=shard.eligible,
        )
    return eligible


def _first_places(
    shards: Sequence[HashedShard], whole: _Whole, found: Mapping[str, Occurrences], scratch: Path
) -> NDArray[np.void]:
    """Look up file and line of every document that others repeat, in one pass over all shards."""
    documents = [occurrences for group, occurrences in found.items() if group != PARAGRAPHS]
    path = scratch / "places"
    with path.open("wb") as sink:
        for number, shard in enumerate(shards):
            start, stop = int(whole.documents[number]), int(whole.documents[number + 1])
            repeated = [occurrences.matched_between(start, stop) for occurrences in documents]
            positions = np.unique(np.concatenate([np.zeros(0, np.int64), *repeated])) - start
            if not len(positions):
                continue
            before = 0
            for batch in HashFile(shard.hashes):
                here = slice(*np.searchsorted(positions, [before, before + len(batch.lines)]))
                places = np.empty(here.stop - here.start, _PLACE)
                inside = positions[here] - before
                places["position"] = positions[here] + start
                places["file"] = batch.files[inside] + whole.files[number]
                places["line"] = batch.lines[inside]
                sink.write(places.tobytes())
                before += len(batch.lines)
    return map_array(path, _PLACE)


def _write_slice(
    shard: HashedShard,
    number: int,
    whole: _Whole,
    found: Mapping[str, Occurrences],
    places: NDArray[np.void],
) -> Written:
    counts = Counts()
    content = ContentHasher()
    document, paragraph = int(whole.documents[number]), int(whole.paragraphs[number])
    documents = found.get(document_group(shard.rules) or "")
    paragraphs = found.get(paragraph_group(shard.rules) or "")
    with write_arrow(shard.output, SCHEMA) as writer:
        for batch in HashFile(shard.hashes):
            num_documents, num_paragraphs = len(batch.lines), len(batch.paragraphs.lengths)
            marked = _between(documents, document, num_documents)
            repeated = _between(paragraphs, paragraph, num_paragraphs).positions
            rows = _slice_rows(batch, marked, repeated, whole.names, places)
            if len(rows.documents):
                rows = rows._replace(documents=rows.documents + (document - int(whole.documents[number])))
                writer.append(rows.columns())
                content.update(**rows.content())
            counts.note("duplicate_documents", len(marked.positions))
            counts.note("duplicate_document_characters", int(batch.text_lengths[marked.positions].sum()))
            counts.note("duplicate_paragraphs", len(repeated))
            counts.note("duplicate_paragraph_characters", int(batch.paragraphs.lengths[repeated].sum()))
            document += num_documents
            paragraph += num_paragraphs
    counts.num_in = counts.num_out = document - int(whole.documents[number])
    return Written(
        rows_digest=content.digest(),
        file_hash=writer.file_hash,
        size_in_bytes=writer.size_in_bytes,
        counts=counts,
    )


def _between(occurrences: Occurrences | None, start: int, number: int) -> Matches:
    """Return what is marked among ``number`` positions from ``start`` on, counted from there."""
    if occurrences is None:
        return Matches(np.zeros(0, np.int64), np.zeros(0, np.int64))
    positions, matches = occurrences.between(start, start + number)
    return Matches(positions - start, matches)


def _slice_rows(
    batch: HashBatch,
    marked: Matches,
    repeated: NDArray[np.int64],
    names: Sequence[str],
    places: NDArray[np.void],
) -> SliceBatch:
    """Return the rows for one batch; ``repeated`` are positions of paragraphs in the batch."""
    starts = offsets_of(batch.paragraphs.counts)
    holder = np.searchsorted(starts, repeated, "right") - 1
    documents = np.unique(np.concatenate([marked.positions, holder]))
    first_files, first_lines = [""] * len(documents), np.zeros(len(documents), np.int64)
    at = np.searchsorted(documents, marked.positions)
    place = places[np.searchsorted(places["position"], marked.matches)]
    first_lines[at] = place["line"]
    for row, file in zip(at.tolist(), place["file"].tolist(), strict=True):
        first_files[row] = names[file]
    return SliceBatch(
        documents=documents,
        first_files=first_files,
        first_lines=first_lines,
        paragraph_counts=np.bincount(np.searchsorted(documents, holder), minlength=len(documents)),
        paragraphs=(repeated - starts[holder]).astype(np.int32),
    )
