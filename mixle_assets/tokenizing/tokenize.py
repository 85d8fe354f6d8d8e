"""One mixed shard in, one file of doc arrays out.

Boundaries are added when rows are packed, never here. How text becomes ids is known in ``tokenizers``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.doc_arrays import write_doc_arrays
from mixle_assets.formats.doc_batches import DocBatch
from mixle_assets.formats.documents import read_texts
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.recipe import Tokenizer
from mixle_assets.records import Counts, Document, DocumentId, FileStamp, Written
from mixle_assets.tokenizers import Encoded, TextTokenizer, load_tokenizer, tokenizer_path
from mixle_assets.tokenizers.engines import describe_difference
from mixle_assets.tokenizers.tokenizer import EncodingError, run_guarded
from mixle_assets.tokenizing.statistics import ShardStatistics

MAX_BATCH_IN_CHARACTERS = 2**20
MAX_BATCH_DOCUMENTS = 1024
CHECK_EVERY = 512
"""A fast engine's ids are compared with the reference's on every 512th document of a shard."""
MAX_LISTED = 100


@dataclass(frozen=True)
class TokenizeTask:
    """What it takes to tokenize one shard; only paths and the recipe's words, so that it can travel.

    Attributes:
        key: The shard, such as ``prose/0000``.
        mixed_shard: Location of the documents.
        tokenizer: The recipe's section.
        base_folder: Where a relative path of the tokenizer starts.
        trained: Location of the tokenizer trained here, if it is one.
        pad_id: Only widens the dtype.
        output: Location of the doc arrays, ending in ``.arrow``.
        malformed_row: ``skip`` drops and counts a document that no engine can encode.
    """

    key: str
    mixed_shard: str
    tokenizer: Tokenizer
    output: str
    base_folder: str = ""
    trained: str | None = None
    pad_id: int | None = None
    malformed_row: OnMalformed = "error"


@dataclass
class _Batch:
    """Texts waiting to be encoded, and whose they are."""

    ids: list[DocumentId] = field(default_factory=list)
    provenances: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    num_characters: int = 0

    def add(self, document_id: DocumentId, provenance: str, line: int, text: str) -> None:
        self.ids.append(document_id)
        self.provenances.append(provenance)
        self.lines.append(line)
        self.texts.append(text)
        self.num_characters += len(text)

    @property
    def is_full(self) -> bool:
        return self.num_characters >= MAX_BATCH_IN_CHARACTERS or len(self.texts) >= MAX_BATCH_DOCUMENTS

    def remove(self, row: int) -> None:
        for column in (self.ids, self.provenances, self.lines, self.texts):
            del column[row]


def tokenize_shard(task: TokenizeTask) -> Written:
    """Tokenize the documents of one mixed shard.

    A text that is empty but for white space is dropped as ``empty_text``, one that gives no token at all as
    ``no_tokens``. Text is otherwise taken as it is, not stripped. With a BOS every document begins with
    exactly one; no document ends with a boundary.

    Returns:
        Digests, counts, and as details the tokens, the bytes of text to a token, the special strings seen in
        texts, a histogram of lengths, and the longest documents.

    Raises:
        RecipeError: The tokenizer cannot be had.
        InputError: The shard is broken, a document cannot be encoded, or a fast engine gave other ids than
            the reference.
    """
    tokenizer = load_tokenizer(task.tokenizer, task.base_folder, trained=task.trained)
    dtype = tokenizer.dtype_for(task.pad_id)
    work = _ShardTokenizer(task, tokenizer)
    written = write_doc_arrays(
        task.output,
        work.batches(),
        dtype=dtype,
        metadata={
            "tokenizer_hash": tokenizer.file_hash,
            "boundary": task.tokenizer.boundary,
            "boundary_id": tokenizer.boundary_id,
            "bos": task.tokenizer.bos,
            "bos_id": tokenizer.bos_id,
            "special_strings": tokenizer.special_strings,
            "vocabulary_size": tokenizer.vocabulary_size,
        },
    )
    if written.num_documents != work.counts.num_out or work.counts.num_missing:
        raise AssertionError(f"{task.key}: {written.num_documents} documents written, {work.counts}")
    work.counts.note("special_strings", work.statistics.num_special_strings)
    work.counts.note("unknown_tokens", work.statistics.num_unknown)
    return Written(
        rows_digest=written.rows_digest,
        file_hash=written.file_hash,
        size_in_bytes=written.size_in_bytes,
        counts=work.counts,
        read=_stamp_of_tokenizer(task, tokenizer),
        details={
            "dtype": dtype,
            "lengths_hash": written.lengths_hash,
            "num_tokens": written.num_tokens,
            **work.statistics.as_details(),
            "not_encodable": work.not_encodable,
            "engine": tokenizer.engine.name,
            "engine_note": tokenizer.engine_note,
            "documents_compared_with_reference": work.num_compared,
        },
    )


def provenance_of(document: Document, path: str, line: int) -> str:
    """Return what mixing stamped into the metadata or, in files it never saw, the file's name and line."""
    stamped = document.metadata.get("provenance")
    return stamped if isinstance(stamped, str) else f"{path.rpartition('/')[2]}:{line}"


class _ShardTokenizer:
    """Reads a shard's documents, encodes them in batches and gathers what is told of them."""

    def __init__(self, task: TokenizeTask, tokenizer: TextTokenizer) -> None:
        self.counts = Counts()
        self._task = task
        self._tokenizer = tokenizer
        self.statistics = ShardStatistics(tokenizer)
        self.num_compared = 0
        self.not_encodable: list[dict[str, Any]] = []

    def batches(self) -> Iterator[DocBatch]:
        batch = _Batch()
        for line, document in read_texts(self._task.mixed_shard, counts=self.counts):
            self.counts.num_in += 1
            text = document.text
            if not text or text.isspace():
                self.counts.drop("empty_text")
                continue
            batch.add(document.id, provenance_of(document, self._task.mixed_shard, line), line, text)
            if batch.is_full:
                yield self._encode(batch)
                batch = _Batch()
        if batch.texts:
            yield self._encode(batch)

    def _encode(self, batch: _Batch) -> DocBatch:
        try:
            encoded = self._tokenizer.encode_flat(batch.texts)
        except EncodingError as error:
            if self._task.malformed_row != "skip":
                raise self._located(error, batch, error.row) from error
            self._drop(batch, error.row, error.message)
            return self._encode(batch)
        if self._tokenizer.engine is not self._tokenizer.reference:
            self._compare_some(batch, encoded)
        if not encoded.lengths.all():
            for row in np.flatnonzero(encoded.lengths == 0)[::-1].tolist():
                self.counts.drop("no_tokens")
                batch.remove(row)
            encoded = Encoded(encoded.values, encoded.lengths[encoded.lengths > 0])
        self.statistics.add(batch.texts, batch.provenances, encoded)
        self.counts.num_out += len(batch.texts)
        values, lengths = self._with_bos(encoded)
        return DocBatch(batch.ids, batch.provenances, values, lengths)

    def _with_bos(self, encoded: Encoded) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        bos_id = self._tokenizer.bos_id
        if bos_id is None or not len(encoded.lengths):
            return encoded
        starts = np.cumsum(encoded.lengths) - encoded.lengths
        lacking = encoded.values[starts] != bos_id  # a text may begin with it where special strings are ids
        return np.insert(encoded.values, starts[lacking], bos_id), encoded.lengths + lacking

    def _compare_some(self, batch: _Batch, encoded: Encoded) -> None:
        first = -self.counts.num_out % CHECK_EVERY
        rows = range(first, len(batch.texts), CHECK_EVERY)
        starts = np.cumsum(encoded.lengths) - encoded.lengths
        for row in rows:
            text = batch.texts[row]
            found = encoded.values[starts[row] : starts[row] + encoded.lengths[row]]
            expected = run_guarded(self._tokenizer.reference, [text]).values
            if not np.array_equal(found, expected):
                raise self._located(
                    InputError(
                        f"the engine {self._tokenizer.engine.name} gives other ids than "
                        f"{self._tokenizer.reference.name}: "
                        f"{describe_difference(text, found.tolist(), expected.tolist())}; "
                        f"set tokenizer.engine: {self._tokenizer.reference.name}"
                    ),
                    batch,
                    row,
                )
        self.num_compared += len(rows)

    def _located(self, error: InputError, batch: _Batch, row: int) -> InputError:
        located = InputError(error.message)
        located.at(path=self._task.mixed_shard, line=batch.lines[row], document_id=batch.ids[row])
        return located

    def _drop(self, batch: _Batch, row: int, reason: str) -> None:
        self.counts.drop("not_encodable")
        if len(self.not_encodable) < MAX_LISTED:
            self.not_encodable.append(
                {"id": batch.ids[row], "provenance": batch.provenances[row], "reason": reason}
            )
        batch.remove(row)


def _stamp_of_tokenizer(task: TokenizeTask, tokenizer: TextTokenizer) -> dict[str, FileStamp]:
    path = tokenizer_path(task.tokenizer, task.base_folder)
    if path is None:
        return {}
    status = storage.stat(path)
    return {
        path: FileStamp(
            digest=tokenizer.file_hash,
            size_in_bytes=status.size_in_bytes if status else None,
            modified=status.modified if status else None,
        )
    }
