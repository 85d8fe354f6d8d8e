"""A tokenizer from the corpus itself: a seeded sample of the mixed shards in, a ``tokenizer.json`` out."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import xxhash

from mixle_assets import storage
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.formats.doc_batches import encode_id
from mixle_assets.formats.documents import read_texts
from mixle_assets.manifest import hash_bytes
from mixle_assets.recipe import Tokenizer
from mixle_assets.records import Counts, Written
from mixle_assets.tokenizers.training import count_words, learn_merges, trained_json
from mixle_assets.tokenizing.tokenize import provenance_of

SAMPLE_IN_BYTES = 32 * 2**20
MAX_DOCUMENT_IN_CHARACTERS = 2**20
"""Of a longer document the beginning is taken, so that none outweighs the others."""


@dataclass(frozen=True)
class TrainTask:
    """What it takes to train a tokenizer.

    Attributes:
        mixed_shards: Locations of the documents; their order does not matter.
        tokenizer: The recipe's section, with ``train``.
        output: Location of the ``tokenizer.json``.
        seed: Decides which documents are sampled.
        sample_in_bytes: UTF-8 bytes of text to learn from, at most; all documents if they are fewer.
    """

    mixed_shards: tuple[str, ...]
    tokenizer: Tokenizer
    output: str
    seed: int = 0
    sample_in_bytes: int = SAMPLE_IN_BYTES


def train_tokenizer(task: TrainTask) -> Written:
    """Learn a byte-level BPE tokenizer; boundary and BOS of the recipe take its last ids.

    Memory is bounded by the sample. The result depends on the documents and the seed alone.

    Returns:
        Digest of the file, counts of documents (the others are dropped as ``not_sampled``), and as details
        the size reached, which is below ``vocab_size`` where the sample holds no more pairs that occur twice.

    Raises:
        RecipeError: The section does not say ``train``, or ``vocab_size`` leaves no room for special tokens.
        InputError: A shard is broken, or there is no text at all.
    """
    spec = task.tokenizer
    if spec.train is None:
        raise RecipeError("nothing to train: the section names a tokenizer", key="tokenizer.train")
    special = list(dict.fromkeys(name for name in (spec.boundary, spec.bos) if name is not None))
    num_tokens = spec.train.vocab_size - len(special)
    if num_tokens < 256:
        raise RecipeError(
            f"must be at least {256 + len(special)} for 256 bytes and {', '.join(map(repr, special))}, "
            f"got {spec.train.vocab_size}",
            key="tokenizer.train.vocab_size",
        )
    counts = Counts()
    texts = sample_texts(task.mixed_shards, task.sample_in_bytes, task.seed, counts)
    if not texts:
        raise InputError(f"none of {counts.num_in:,} documents has a text to learn from", path=task.output)
    words = count_words(texts)
    learned = learn_merges(words, num_tokens)
    parsed = trained_json(learned, special)
    content = json.dumps(parsed, ensure_ascii=False, indent=1).encode() + b"\n"
    with storage.write_whole(task.output) as file:
        file.write(content)
    return Written(
        rows_digest=hash_bytes(content),
        file_hash=hash_bytes(content),
        size_in_bytes=len(content),
        counts=counts,
        details={
            "vocabulary_size": len(learned.tokens) + len(special),
            "num_merges": len(learned.merges),
            "num_words": len(words),
            "sample_in_bytes": sum(len(text.encode()) for text in texts),
        },
    )


def sample_texts(paths: Sequence[str], max_bytes: int, seed: int, counts: Counts) -> list[str]:
    """Return the texts with the smallest hash of seed, id and provenance that fit into ``max_bytes``.

    The same documents whatever the order of files; more bytes add documents and take none away.
    """
    # A heap of the largest hash first, so that what no longer fits is the top.
    held: list[tuple[int, str, str, int]] = []
    held_in_bytes = 0
    for path in paths:
        for rank, provenance, text in _ranked_texts(path, seed, counts):
            size = len(text.encode())
            heapq.heappush(held, (-rank, provenance, text, size))
            held_in_bytes += size
            while held_in_bytes > max_bytes:
                held_in_bytes -= heapq.heappop(held)[3]
                counts.drop("not_sampled")
    counts.num_out = len(held)
    return [text for _, _, text, _ in sorted(held, reverse=True)]


def _ranked_texts(path: str, seed: int, counts: Counts) -> Iterator[tuple[int, str, str]]:
    for line, document in read_texts(path, counts=counts):
        counts.num_in += 1
        if not document.text or document.text.isspace():
            counts.drop("empty_text")
            continue
        provenance = provenance_of(document, path, line)
        name = f"{seed} {encode_id(document.id)} {provenance}".encode()
        yield xxhash.xxh3_64_intdigest(name), provenance, document.text[:MAX_DOCUMENT_IN_CHARACTERS]
