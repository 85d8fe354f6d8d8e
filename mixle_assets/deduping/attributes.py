"""Attribute rows for a shard's documents: what the index marked, as Dolma's deduper writes it.

Rows are made from the hash file (ids, lengths) and the shard's slice of the index; the documents are not read
again. Keys and values, with ``duplicates`` as the name of the set:

- ``bff_duplicate_docs``: ``[[0, length of the text, 1]]`` on a repeated document, ``[]`` on one that was not
  compared (too short, empty, without the key), no key on all others.
- ``bff_duplicate_paragraph_spans``: a span with score 1 for each repeated paragraph, often none; no key where
  the text is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import orjson

from mixle_assets.deduping.arrow_files import offsets_of
from mixle_assets.deduping.hash_files import HashBatch, HashFile
from mixle_assets.deduping.paragraphs import is_compared, paragraph_spans
from mixle_assets.deduping.slices import MarkedDocument, read_slice
from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import codec_of, write_shard
from mixle_assets.formats.documents import encode_row
from mixle_assets.recipe import Dedupe
from mixle_assets.records import Attributes, Counts, Written

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
    texts = hashed.text_lengths.tolist()
    unmarked = {
        (takes_part, has_text): encode_row(_attributes(rules, takes_part, has_text))
        for takes_part in (False, True)
        for has_text in (False, True)
    }
    attributes = [
        unmarked[takes_part, length > 0] for takes_part, length in zip(compared, texts, strict=True)
    ]
    starts = offsets_of(hashed.paragraphs.counts).tolist()
    spans = (
        paragraph_spans(
            hashed.paragraphs.counts, hashed.paragraphs.lengths, len(rules.paragraphs.separator)
        ).tolist()
        if rules.paragraphs is not None and batch.marked
        else []
    )
    for document in batch.marked:
        at = document.document - batch.start
        if document.paragraphs and document.paragraphs[-1] >= starts[at + 1] - starts[at]:
            raise InputError(
                f"marks paragraph {document.paragraphs[-1]} of a document that has "
                f"{starts[at + 1] - starts[at]}",
                document_id=orjson.loads(hashed.ids[at].as_py()),
            )
        row = _attributes(rules, compared[at], texts[at] > 0)
        if document.first is not None and rules.documents is not None:
            row[rules.documents.attribute_name] = [[0, texts[at], 1]]
            counts.note("duplicate_documents")
        if document.paragraphs and rules.paragraphs is not None:
            row[rules.paragraphs.attribute_name] = [
                [*spans[starts[at] + paragraph], 1] for paragraph in document.paragraphs
            ]
            counts.note("duplicate_paragraphs", len(document.paragraphs))
        attributes[at] = encode_row(row)
    counts.num_in += len(texts)
    counts.num_out += len(texts)
    return [
        b'{"id":%b,"attributes":%b}\n' % pair for pair in zip(hashed.ids.to_pylist(), attributes, strict=True)
    ]


def _attributes(rules: Dedupe, takes_part: bool, has_text: bool) -> Attributes:
    """Return the attributes of a document of which nothing is marked."""
    attributes: Attributes = {}
    if rules.documents is not None and not takes_part:
        attributes[rules.documents.attribute_name] = []
    if rules.paragraphs is not None and has_text:
        attributes[rules.paragraphs.attribute_name] = []
    return attributes
