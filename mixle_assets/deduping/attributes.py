"""Attribute rows for a shard's documents: what the index marked, as Dolma's deduper writes it.

Rows are made from the hash file (ids, lengths) and the shard's slice of the index; the documents are not read
again. Keys and values, with ``duplicates`` as the name of the set:

- ``bff_duplicate_docs``: ``[[0, length of the text, 1]]`` on a repeated document, ``[]`` on one that was not
  compared (too short, empty, without the key), no key on all others.
- ``bff_duplicate_paragraph_spans``: a span with score 1 for each repeated paragraph, often none; no key where
  the text is empty. With n-grams the score is the share of the paragraph's runs of words that repeat.
- The key ``paragraphs.share_name``, if one is given: ``[[0, length of the text, share]]``, how many of the
  compared paragraphs are marked, 0 to 1; ``[]`` where none is compared.
- ``near_duplicate_docs``: ``[[0, length of the text, similarity]]`` on a document near to a better one.
- ``contaminated_spans``: like the paragraphs, against the reference set.
- Any of these with ``_match`` behind: ids of the documents of a reference set that the spans stand in, one
  for each span, null where there is none; only where there is any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import offsets_of
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.paragraphs import Paragraphs, are_compared, is_compared, paragraph_spans
from mixle_assets.deduping.slices import DocumentMarks, ParagraphMarks, SliceBatch, read_slice
from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import codec_of, write_shard
from mixle_assets.recipe import Dedupe
from mixle_assets.records import Counts, Written

MATCH_SUFFIX = "_match"
SHARE_DECIMALS = 5
"""As scores of taggers have them."""
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
        written[name] = Written(
            writer.rows_digest,
            writer.file_hash,
            writer.size_in_bytes,
            counts,
            details={"attributes": describe_attributes(task.rules)},
        )
    return written


def describe_attributes(rules: Dedupe) -> dict[str, str]:
    """Return what the score under each key of the attributes means."""
    meanings: dict[str, str] = {}
    if (documents := rules.documents) is not None:
        meanings[documents.attribute_name] = f"1: another document has the same value at {documents.key}"
    if (near := rules.near_documents) is not None:
        runs = f"runs of {near.ngram_length} words"
        meanings[near.attribute_name] = f"estimated share of {runs} in common with the document kept, 0 to 1"
    for kind, where in ((rules.paragraphs, "elsewhere"), (rules.decontamination, "in the reference set")):
        if kind is not None and kind.by_ngram is None:
            meanings[kind.attribute_name] = f"1: the paragraph stands {where}"
        elif kind is not None and kind.by_ngram is not None:
            runs = f"the paragraph's runs of {kind.by_ngram.ngram_length} words"
            meanings[kind.attribute_name] = f"share of {runs} that stand {where}, 0 to 1"
    if rules.paragraphs is not None and rules.paragraphs.share_name is not None:
        meanings[rules.paragraphs.share_name] = "share of the document's paragraphs that is marked, 0 to 1"
    return meanings


class _MarkedBatch(NamedTuple):
    """A batch of the hash file, which begins at document ``start``, and what is marked in it."""

    file: int
    start: int
    hashed: HashBatch
    marks: SliceBatch


def _marked_batches(task: AttributeTask, hashes: HashFile) -> Iterator[_MarkedBatch]:
    slices = read_slice(task.slice)
    marks = next(slices, None)
    start = 0
    for hashed in hashes:
        stop = start + len(hashed.lines)
        mine = SliceBatch()
        if marks is not None and marks.documents()[-1] < stop:
            mine, marks = marks, next(slices, None)
        yield _MarkedBatch(int(hashed.files[0]), start, hashed, mine)
        start = stop
    if marks is not None:
        raise InputError(
            f"marks document {marks.documents()[-1]} of {task.key}, which has {start} documents",
            path=task.slice,
        )


def _encode_rows(batch: _MarkedBatch, rules: Dedupe, counts: Counts) -> list[bytes]:
    """Return the rows of one batch, each with its newline."""
    hashed, marks, start = batch.hashed, batch.marks, batch.start
    lengths = hashed.text_lengths.tolist()
    columns: list[_Column] = []
    if rules.documents is not None:
        compared = is_compared(hashed.documents).tolist()
        values = [None if takes_part else b"[]" for takes_part in compared]
        columns.extend(_document_columns(rules.documents.attribute_name, values, lengths, marks.first, start))
        counts.note("duplicate_documents", len(marks.first.documents))
    if rules.near_documents is not None:
        name = rules.near_documents.attribute_name
        columns.extend(_document_columns(name, [None] * len(lengths), lengths, marks.near, start))
        counts.note("near_documents", len(marks.near.documents))
    for what, kind, paragraphs, repeated in (
        ("duplicate_paragraphs", rules.paragraphs, hashed.paragraphs, marks.paragraphs),
        ("contaminated_paragraphs", rules.decontamination, hashed.probes, marks.probes),
    ):
        if kind is not None:
            spans = paragraph_spans(paragraphs.counts, paragraphs.lengths, len(kind.separator))
            columns.extend(
                _paragraph_columns(kind.attribute_name, lengths, spans, paragraphs, repeated, start)
            )
            counts.note(what, len(repeated.documents))
    if rules.paragraphs is not None and rules.paragraphs.share_name is not None:
        columns.append(
            _share_column(rules.paragraphs.share_name, lengths, hashed.paragraphs, marks.paragraphs, start)
        )
    counts.num_in += len(lengths)
    counts.num_out += len(lengths)
    for column in columns:
        key = orjson.dumps(column.name) + b":"
        column.values[:] = [None if value is None else key + value for value in column.values]
    attributes = [
        b",".join(filter(None, row)) for row in zip(*[column.values for column in columns], strict=True)
    ]
    return [
        b'{"id":%b,"attributes":{%b}}\n' % row for row in zip(hashed.ids.to_pylist(), attributes, strict=True)
    ]


class _Column(NamedTuple):
    """One key of the attributes: its value in each row as JSON, None where the key is left out."""

    name: str
    values: list[bytes | None]


def _document_columns(
    name: str, values: list[bytes | None], lengths: list[int], marks: DocumentMarks, start: int
) -> Iterator[_Column]:
    """Yield the key of marked documents, over its values in the others, and that of what they match."""
    matched: list[bytes | None] = [None] * len(values)
    similarities = [1] * len(marks.documents) if marks.similarities is None else marks.similarities.tolist()
    documents = (marks.documents - start).tolist()
    for document, place, similarity in zip(documents, marks.places, similarities, strict=True):
        values[document] = orjson.dumps([[0, lengths[document], similarity]])
        if place.reference:
            matched[document] = b"[%b]" % place.reference.encode()
    yield _Column(name, values)
    if any(matched):
        yield _Column(name + MATCH_SUFFIX, matched)


def _share_column(
    name: str, lengths: list[int], paragraphs: Paragraphs, marks: ParagraphMarks, start: int
) -> _Column:
    """Return the key of the share of each document's compared paragraphs that is marked."""
    bounds = np.concatenate([[0], np.cumsum(are_compared(paragraphs))])[offsets_of(paragraphs.counts)]
    num_marked = np.bincount(marks.documents - start, minlength=len(lengths))
    values: list[bytes | None] = [None] * len(lengths)
    rows = zip(lengths, num_marked.tolist(), np.diff(bounds).tolist(), strict=True)
    for document, (length, num_repeated, num_compared) in enumerate(rows):
        if num_compared:
            values[document] = orjson.dumps([[0, length, round(num_repeated / num_compared, SHARE_DECIMALS)]])
        elif length:
            values[document] = b"[]"
    return _Column(name, values)


def _paragraph_columns(
    name: str,
    lengths: list[int],
    spans: NDArray[np.int64],
    paragraphs: Paragraphs,
    marks: ParagraphMarks,
    start: int,
) -> Iterator[_Column]:
    """Yield the key of the spans of marked paragraphs, and that of what they match."""
    values: list[bytes | None] = [b"[]" if length else None for length in lengths]
    matched: list[bytes | None] = [None] * len(values)
    holders = marks.documents - start
    if len(beyond := np.flatnonzero(marks.paragraphs >= paragraphs.counts[holders])):
        raise InputError(
            f"paragraph {marks.paragraphs[beyond[0]]} is marked in a document that has "
            f"{paragraphs.counts[holders[beyond[0]]]}"
        )
    rows = np.ones((len(holders), 3), np.int64)
    rows[:, :2] = spans[offsets_of(paragraphs.counts)[holders] + marks.paragraphs]
    documents, firsts = np.unique(holders, return_index=True)
    bounds = [*firsts.tolist(), len(holders)]
    for number, document in enumerate(documents.tolist()):
        here = slice(bounds[number], bounds[number + 1])
        if marks.scores is None:
            values[document] = orjson.dumps(rows[here], option=orjson.OPT_SERIALIZE_NUMPY)
        else:
            scored = zip(*rows[here, :2].T.tolist(), marks.scores[here].tolist(), strict=True)
            values[document] = orjson.dumps(list(scored))
        if marks.references is not None and any(references := marks.references[here]):
            ids = [reference or "null" for reference in references]
            matched[document] = b"[%b]" % ",".join(ids).encode()
    yield _Column(name, values)
    if any(matched):
        yield _Column(name + MATCH_SUFFIX, matched)
