"""Attribute rows for a shard's documents: what the index marked, as Dolma's deduper writes it.

Rows are made from the hash file (ids, lengths) and the shard's slice of the index; the documents are not read
again. Keys and values, with ``duplicates`` as the name of the set:

- ``bff_duplicate_docs``: ``[[0, length of the text, 1]]`` on a repeated document, ``[]`` on one that was not
  compared (too short, empty, without the key), no key on all others.
- ``bff_duplicate_paragraph_spans``: a span with score 1 for each repeated paragraph, often none; no key where
  the text is empty. With n-grams the score is the share of the paragraph's runs of words that repeat.
- ``near_duplicate_docs``: ``[[0, length of the text, similarity]]`` on a document near to a better one.
- ``contaminated_spans``: like the paragraphs, against the reference set.
- Any of these with ``_match`` behind: ids of the documents of a reference set that the spans stand in, one
  for each span, null where there is none; only where there is any.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import orjson

from mixle_assets.deduping.arrow_files import offsets_of
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.paragraphs import Paragraphs, is_compared, paragraph_spans
from mixle_assets.deduping.slices import MarkedDocument, read_slice
from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import codec_of, write_shard
from mixle_assets.formats.documents import encode_row
from mixle_assets.recipe import Decontamination, Dedupe, DedupeParagraphs
from mixle_assets.records import Attributes, Counts, SpanRow, Written

MATCH_SUFFIX = "_match"
SET_NAME = "duplicates"
"""The attribute set of our own deduper; a stream's ``dedupe`` makes it, nothing else may bear its name."""


class AttributeTask(msgspec.Struct, frozen=True):
    """What ``write_duplicate_attributes`` is to do.

    Attributes:
        key: Key of the shard.
        rules: The stream's ``dedupe`` section.
        hashes: The shard's hash file.
        slice: The shard's slice of the index.
        outputs: Provenance name of each of the shard's files to where its attributes go.
        wanted: Names of the files to write.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension of each output.
    """

    key: str
    rules: Dedupe
    hashes: str
    slice: str
    outputs: dict[str, str]
    wanted: tuple[str, ...]
    codec: str | None = None


def write_duplicate_attributes(task: AttributeTask) -> dict[str, Written]:
    """Write one attribute file for each wanted document file: one row a document, in order.

    Returns:
        What was written, by provenance name. Noted: ``duplicate_documents``, ``duplicate_paragraphs``.

    Raises:
        InputError: The hash file or the slice is missing or damaged, or they do not belong together.
        ValueError: A wanted file is none of the shard's.
    """
    hashes = HashFile(task.hashes)
    if unknown := sorted(set(task.wanted) - set(hashes.names)):
        raise ValueError(f"{task.key} has the files {hashes.names}, not {unknown}")
    batches = _marked_batches(task, hashes)
    batch = next(batches, None)
    written = {}
    for number, name in enumerate(hashes.names):
        if name not in task.wanted:
            while batch is not None and batch.file == number:
                batch = next(batches, None)
            continue
        counts = Counts()
        output = task.outputs[name]
        with write_shard(output, codec_of(output, task.codec)) as writer:
            while batch is not None and batch.file == number:
                writer.write(b"".join(_encode_rows(batch, task.rules, counts)))
                batch = next(batches, None)
        written[name] = Written(writer.rows_digest, writer.file_hash, writer.size_in_bytes, counts)
    return written


class _MarkedBatch(NamedTuple):
    """A batch of the hash file, which begins at document ``start``, and the rows of the slice for it."""

    file: int
    start: int
    hashed: HashBatch
    marked: list[MarkedDocument]


def _marked_batches(task: AttributeTask, hashes: HashFile) -> Iterator[_MarkedBatch]:
    rows = read_slice(task.slice)
    row = next(rows, None)
    start = 0
    for hashed in hashes:
        stop = start + len(hashed.lines)
        marked = []
        while row is not None and row.document < stop:
            marked.append(row)
            row = next(rows, None)
        yield _MarkedBatch(int(hashed.files[0]), start, hashed, marked)
        start = stop
    if row is not None:
        raise InputError(
            f"marks document {row.document} of {task.key}, which has {start} documents", path=task.slice
        )


def _encode_rows(batch: _MarkedBatch, rules: Dedupe, counts: Counts) -> list[bytes]:
    """Return the rows of one batch, each with its newline."""
    hashed = batch.hashed
    compared = is_compared(hashed.documents).tolist()
    lengths = hashed.text_lengths.tolist()
    unmarked = {
        (takes_part, has_text): encode_row(_unmarked(rules, takes_part, has_text))
        for takes_part in (False, True)
        for has_text in (False, True)
    }
    attributes = [
        unmarked[takes_part, length > 0] for takes_part, length in zip(compared, lengths, strict=True)
    ]
    if batch.marked:
        paragraphs = _Spans(hashed.paragraphs, rules.paragraphs)
        probes = _Spans(hashed.probes, rules.decontamination)
    for document in batch.marked:
        at = document.document - batch.start
        row = _unmarked(rules, compared[at], lengths[at] > 0)
        if document.first.line and rules.documents is not None:
            _mark(row, rules.documents.attribute_name, [[0, lengths[at], 1]], [document.first.reference])
            counts.note("duplicate_documents")
        if document.near.line and rules.near_documents is not None:
            spans: list[SpanRow] = [[0, lengths[at], document.near_similarity]]
            _mark(row, rules.near_documents.attribute_name, spans, [document.near.reference])
            counts.note("near_documents")
        if document.paragraphs and rules.paragraphs is not None:
            _mark(
                row, rules.paragraphs.attribute_name, paragraphs.of(at, document.paragraphs, document.scores)
            )
            counts.note("duplicate_paragraphs", len(document.paragraphs))
        if document.probes and rules.decontamination is not None:
            spans = probes.of(at, document.probes, document.probe_scores)
            _mark(row, rules.decontamination.attribute_name, spans, document.probe_references)
            counts.note("contaminated_paragraphs", len(document.probes))
        attributes[at] = encode_row(row)
    counts.num_in += len(lengths)
    counts.num_out += len(lengths)
    return [
        b'{"id":%b,"attributes":%b}\n' % pair for pair in zip(hashed.ids.to_pylist(), attributes, strict=True)
    ]


class _Spans:
    """Spans of the paragraphs of a batch."""

    def __init__(self, paragraphs: Paragraphs, rules: DedupeParagraphs | Decontamination | None) -> None:
        separator_length = 0 if rules is None else len(rules.separator)
        self._starts = offsets_of(paragraphs.counts).tolist()
        self._spans = paragraph_spans(paragraphs.counts, paragraphs.lengths, separator_length).tolist()

    def of(self, document: int, marked: Sequence[int], scores: Sequence[float]) -> list[SpanRow]:
        """Return the spans of marked paragraphs of a document, with their scores; without scores, 1."""
        start, stop = self._starts[document], self._starts[document + 1]
        if marked[-1] >= stop - start:
            raise InputError(f"paragraph {marked[-1]} is marked in a document that has {stop - start}")
        return [
            [*self._spans[start + paragraph], score]
            for paragraph, score in zip(marked, scores or itertools.repeat(1, len(marked)), strict=True)
        ]


def _mark(row: Attributes, name: str, spans: list[SpanRow], references: Sequence[str] = ()) -> None:
    """Set the spans of one key and, where any stands in a reference set, the ids of the documents there."""
    row[name] = spans
    if any(references):
        row[name + MATCH_SUFFIX] = [orjson.loads(reference or b"null") for reference in references]


def _unmarked(rules: Dedupe, takes_part: bool, has_text: bool) -> Attributes:
    """Return the attributes of a document of which nothing is marked."""
    attributes: Attributes = {}
    if rules.documents is not None and not takes_part:
        attributes[rules.documents.attribute_name] = []
    if has_text:
        for kind in (rules.paragraphs, rules.decontamination):
            if kind is not None:
                attributes[kind.attribute_name] = []
    return attributes
