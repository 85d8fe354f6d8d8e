"""What doc arrays promise, looked at again from outside: nothing here is used to make them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from mixle_assets.errors import InputError
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.formats.documents import read_texts
from mixle_assets.records import Document, Violation
from mixle_assets.tokenizers import TextTokenizer, load_tokenizer
from mixle_assets.tokenizers.engines import describe_difference
from mixle_assets.tokenizers.tokenizer import run_guarded
from mixle_assets.tokenizing.tokenize import TokenizeTask, provenance_of

SAMPLE_SIZE = 64


def find_ids_outside_vocabulary(task: TokenizeTask) -> Iterator[Violation]:
    """Yield a violation for each document with an id the tokenizer does not have, and for wrong metadata.

    Args:
        task: What the doc arrays were made by; ``output`` is read.

    Raises:
        InputError: The doc arrays are missing or cut short.
    """
    arrays = DocArrays.open(task.output)
    tokenizer = load_tokenizer(task.tokenizer, task.base_folder, trained=task.trained)
    expected = {
        "tokenizer_hash": tokenizer.file_hash,
        "boundary_id": tokenizer.boundary_id,
        "bos_id": tokenizer.bos_id,
        "vocabulary_size": tokenizer.vocabulary_size,
        "dtype": tokenizer.dtype_for(task.pad_id),
    }
    for key, value in expected.items():
        if arrays.metadata[key] != value:
            yield Violation(f"{task.key}: {key}", f"{value!r}", f"{arrays.metadata[key]!r}")
    for index in range(arrays.num_documents):
        tokens = arrays.tokens(index)
        highest = int(tokens.max(initial=0))
        if highest >= tokenizer.vocabulary_size:
            place = int(np.flatnonzero(tokens >= tokenizer.vocabulary_size)[0])
            yield Violation(
                f"{task.key}: {arrays.provenance(index)}",
                f"ids below {tokenizer.vocabulary_size}",
                f"id {int(tokens[place])} at token {place}",
            )


def find_texts_encoded_differently(
    task: TokenizeTask, *, sample_size: int = SAMPLE_SIZE, seed: int = 0
) -> Iterator[Violation]:
    """Yield a violation for each document whose ids are not those of its text, and for lost or foreign ones.

    All documents are matched by provenance and id; a seeded sample is encoded again by the reference engine,
    and decoded where the tokenizer gives every text back.

    Args:
        task: What the doc arrays were made by; ``mixed_shard`` and ``output`` are read.
        sample_size: How many documents to encode again.
        seed: Which ones.

    Raises:
        InputError: A file is missing or broken.
    """
    arrays = DocArrays.open(task.output)
    tokenizer = load_tokenizer(task.tokenizer, task.base_folder, trained=task.trained)
    sampled = set(
        random.Random(seed).sample(range(len(arrays)), min(sample_size, len(arrays)))  # noqa: S311
    )
    row = 0
    for line, document in read_texts(task.mixed_shard):
        provenance = provenance_of(document, task.mixed_shard, line)
        if row == len(arrays) or arrays.provenance(row) != provenance:
            if _has_tokens(tokenizer, document):
                yield Violation(f"{task.key}: {provenance}", "its tokens", "not in the doc arrays")
            continue
        if arrays.id(row) != document.id:
            yield Violation(f"{task.key}: {provenance}", f"id {document.id!r}", f"id {arrays.id(row)!r}")
        if row in sampled:
            yield from _compare(task, tokenizer, arrays, row, document.text)
        row += 1
    for extra in range(row, len(arrays)):
        yield Violation(f"{task.key}: {arrays.provenance(extra)}", "a document of the shard", "none there")


def _compare(
    task: TokenizeTask, tokenizer: TextTokenizer, arrays: DocArrays, row: int, text: str
) -> Iterator[Violation]:
    where = f"{task.key}: {arrays.provenance(row)}"
    found = arrays.tokens(row).tolist()
    expected = run_guarded(tokenizer.reference, [text]).values.tolist()
    if tokenizer.bos_id is not None and expected[:1] != [tokenizer.bos_id]:
        expected = [tokenizer.bos_id, *expected]
    if found != expected:
        yield Violation(where, "the ids of its text", describe_difference(text, found, expected))
    body = found[1:] if tokenizer.bos_id is not None else found
    if tokenizer.lossless and tokenizer.decode(body) != text:
        yield Violation(where, "its text back from its ids", repr(tokenizer.decode(body)[:80]))


def _has_tokens(tokenizer: TextTokenizer, document: Document) -> bool:
    """Return whether a document that is not there should be: it has a text, and the text gives tokens."""
    if not document.text.strip():
        return False
    try:
        return len(run_guarded(tokenizer.reference, [document.text]).values) > 0
    except InputError:  # dropped as not encodable, and counted as that
        return False
