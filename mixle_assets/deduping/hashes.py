"""Hashing one shard: its documents are read once, and never again for deduping.

Which hashes repeat is decided over all shards, in ``index``; ids and lengths are kept beside the hashes, so
that the attributes can be written from this file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.deduping.arrow_files import ContentHasher, text_column, write_arrow
from mixle_assets.deduping.hash_files import HashBatch, schema_of
from mixle_assets.deduping.keys import MISSING, TEXT_KEY, hash_value, key_getter, parse_key
from mixle_assets.deduping.minhash import shingles, signature
from mixle_assets.deduping.ngrams import hash_ngrams
from mixle_assets.deduping.paragraphs import (
    HASH_IN_BYTES,
    NO_PARAGRAPHS,
    NOT_COMPARED,
    Paragraphs,
    hash_paragraphs,
    is_compared,
    num_not_compared,
)
from mixle_assets.errors import InputError
from mixle_assets.formats.documents import DocumentReader, TextReader, read_documents, read_texts
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Decontamination, Dedupe, DedupeParagraphs, NearDocuments
from mixle_assets.records import Counts, FileStamp, Written
from mixle_assets.segmentation.words import is_blank, num_words

BATCH_IN_CHARACTERS = 1 << 20
"""Text hashed, and written as one record batch, at a time."""
BATCH_IN_DOCUMENTS = 16_384
_encode_lines = msgspec.json.Encoder().encode_lines


class HashTask(msgspec.Struct, frozen=True):
    """What ``hash_shard`` is to do.

    Attributes:
        key: Key of the shard, such as ``prose/0000``.
        files: The shard's files, in plan order.
        rules: The stream's ``dedupe`` section.
        output: Where the hash file goes.
        codec: ``gz``, ``zst`` or ``""`` of the input files; None takes it from each extension.
        malformed_row: ``error``, or ``skip`` as tolerated by the recipe.
    """

    key: str
    files: tuple[PlannedFile, ...]
    rules: Dedupe
    output: str
    codec: str | None = None
    malformed_row: OnMalformed = "error"


_Row: TypeAlias = tuple[int, Any, str, Any]
"""Line, id, text and the value that documents are compared by."""


def hash_shard(task: HashTask) -> Written:
    """Read the documents of one shard and write the hash of each, and of each of its paragraphs.

    Returns:
        What was written; ``details["files"]`` lists name and number of documents of each file. Noted:
        ``paragraphs``, ``paragraphs_not_compared``, ``documents_not_compared`` and, of these,
        ``documents_without_key``.

    Raises:
        InputError: A file is missing, truncated, corrupt, or a row has no id or text.
        ExpressionError: The key of the documents is no plain path.
    """
    counts = Counts()
    content = ContentHasher()
    read: dict[str, FileStamp] = {}
    files: list[list[Any]] = []
    get_value = _value_getter(task.rules)
    with write_arrow(task.output, schema_of([file.name for file in task.files])) as writer:
        for number, file in enumerate(task.files):
            policy: Any = {"codec": task.codec, "malformed_row": task.malformed_row, "counts": counts}
            reader: DocumentReader | TextReader
            if get_value is None:
                reader = read_texts(file.path, **policy)
                rows = _text_rows(reader)
            else:
                reader = read_documents(file.path, **policy)
                rows = _value_rows(reader, get_value, task.malformed_row)
            num_before = counts.num_out
            for chunk in _chunks(rows):
                batch = _hash_chunk(chunk, number, task.rules, counts)
                writer.append(batch.columns())
                content.update(**batch.content())
                counts.num_in += len(chunk)
                counts.num_out += len(chunk)
            read[file.path] = reader.stamp
            files.append([file.name, counts.num_out - num_before])
    return Written(
        rows_digest=content.digest(files),
        file_hash=writer.file_hash,
        size_in_bytes=writer.size_in_bytes,
        counts=counts,
        read=read,
        details={"files": files},
    )


def _value_getter(rules: Dedupe) -> Callable[[Mapping[str, Any]], Any] | None:
    """Return what takes a row to the value documents are compared by; None where that is the text."""
    if rules.documents is None or parse_key(rules.documents.key) == TEXT_KEY:
        return None
    return key_getter(rules.documents.key)


def _text_rows(reader: TextReader) -> Iterator[_Row]:
    for line, document in reader:
        yield line, document.id, document.text, document.text


def _value_rows(
    reader: DocumentReader, get_value: Callable[[Mapping[str, Any]], Any], malformed_row: OnMalformed
) -> Iterator[_Row]:
    """Yield the rows that ``read_texts`` would take, and count those it would skip."""
    for line, row in reader:
        document_id, text = row.get("id", MISSING), row.get("text")
        if document_id is not MISSING and isinstance(text, str):
            yield line, document_id, text, get_value(row)
        elif malformed_row == "error":
            message = f"a document must have an id and a string under text, got the keys {sorted(row)}"
            raise InputError(message, path=reader.path, line=line)
        else:
            reader.counts.num_in += 1
            reader.counts.drop("malformed_row")


def _chunks(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    chunk: list[_Row] = []
    waiting = 0
    for row in rows:
        chunk.append(row)
        waiting += len(row[2])
        if waiting >= BATCH_IN_CHARACTERS or len(chunk) >= BATCH_IN_DOCUMENTS:
            yield chunk
            chunk, waiting = [], 0
    if chunk:
        yield chunk


def _hash_chunk(chunk: list[_Row], file_number: int, rules: Dedupe, counts: Counts) -> HashBatch:
    lines, ids, texts, values = zip(*chunk, strict=True)
    batch = HashBatch(
        # A JSON value holds no line feed, so many are encoded at once.
        ids=text_column(_encode_lines(ids)[:-1].split(b"\n"), pa.binary()),
        files=np.full(len(chunk), file_number, np.int32),
        lines=np.array(lines, np.int64),
        text_lengths=np.fromiter(map(len, texts), np.int64, len(chunk)),
        documents=_hash_documents(values, rules, counts),
        signatures=_sign(texts, rules.near_documents),
        paragraphs=_hash_paragraphs(texts, rules.paragraphs, rules),
        probes=_hash_paragraphs(texts, rules.decontamination, rules),
    )
    counts.note("paragraphs", len(batch.paragraphs.lengths))
    counts.note("paragraphs_not_compared", num_not_compared(batch.paragraphs))
    return batch


def _sign(texts: Sequence[str], rules: NearDocuments | None) -> NDArray[np.uint32]:
    if rules is None:
        return np.zeros((len(texts), 0), np.uint32)
    num_hashes = rules.num_bands * rules.rows_per_band
    return np.stack([signature(shingles(text, rules.ngram_length), num_hashes) for text in texts])


def _hash_documents(values: Sequence[Any], rules: Dedupe, counts: Counts) -> NDArray[np.uint8]:
    if rules.documents is None:
        return np.zeros((len(values), HASH_IN_BYTES), np.uint8)
    without_key = sum(value is MISSING or value is None for value in values)
    hashes = np.frombuffer(
        b"".join([hash_value(value) if _takes_part(value, rules) else NOT_COMPARED for value in values]),
        np.uint8,
    ).reshape(-1, HASH_IN_BYTES)
    counts.note("documents_without_key", without_key)
    counts.note("documents_not_compared", int(np.count_nonzero(~is_compared(hashes))))
    return hashes


def _takes_part(value: Any, rules: Dedupe) -> bool:
    if not isinstance(value, str):
        return value is not MISSING and value is not None
    if len(value) < rules.min_length or (rules.skip_empty and is_blank(value)):
        return False
    return not rules.min_words or num_words(value) >= rules.min_words


def _hash_paragraphs(
    texts: Sequence[str], kind: DedupeParagraphs | Decontamination | None, rules: Dedupe
) -> Paragraphs:
    if kind is None:
        return NO_PARAGRAPHS._replace(counts=np.zeros(len(texts), np.int64))
    whole = hash_paragraphs(
        texts,
        kind.separator,
        skip_empty=rules.skip_empty,
        min_length=rules.min_length,
        min_words=rules.min_words,
    )
    return whole if kind.by_ngram is None else hash_ngrams(texts, kind.separator, whole, kind.by_ngram)
