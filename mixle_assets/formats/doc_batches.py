"""Documents' token ids on their way into a file of doc arrays: range-checked, and cut into record batches.

Arithmetic on arrays in memory; nothing here reads or writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from mixle_assets.errors import InputError
from mixle_assets.records import DocumentId

MAX_BATCH_IN_BYTES = 16 * 2**20
"""Tokens of one record batch; a document longer than that is a batch of its own."""
MAX_BATCH_DOCUMENTS = 2**16
"""Bounds what a batch of very short documents holds in memory besides its tokens."""


class DocBatch(NamedTuple):
    """Some documents on their way into a file, in order.

    ``values`` are the token ids of all of them one after another, of any integer dtype; ``lengths`` says how
    many belong to each: ids ``["a", 7]``, values ``[5 6 7 8]``, lengths ``[3 1]``.
    """

    ids: Sequence[DocumentId]
    provenances: Sequence[str]
    values: NDArray[Any]
    lengths: NDArray[Any]


def encode_id(document_id: DocumentId) -> str:
    """Return an id as JSON text; every digit of a whole number is kept."""
    try:
        return orjson.dumps(document_id).decode()
    except TypeError:  # a whole number beyond 64 bits
        return json.dumps(document_id, ensure_ascii=False, separators=(",", ":"))


def check_batches(batches: Iterable[DocBatch], limit: int, dtype: str) -> Iterator[DocBatch]:
    """Yield the batches as they are stored: ids as JSON text, values in ``dtype``, lengths int64.

    Raises:
        InputError: A token id is not from 0 to ``limit`` - 1: the first such id, and its document.
        ValueError: The parts of a batch disagree.
    """
    for batch in batches:
        values, lengths = batch.values, np.ascontiguousarray(batch.lengths, np.int64)
        num_tokens = int(lengths.sum())
        if not len(batch.ids) == len(batch.provenances) == len(lengths) or num_tokens != len(values):
            raise ValueError(
                f"{len(batch.ids)} ids, {len(batch.provenances)} provenances and {len(lengths)} lengths "
                f"of {num_tokens} tokens do not go with {len(values)} values"
            )
        if num_tokens and (int(values.max()) >= limit or int(values.min()) < 0):
            place = int(np.flatnonzero((values >= limit) | (values < 0))[0])
            row = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
            raise InputError(
                f"token id {int(values[place])} at {batch.provenances[row]} is not from 0 to {limit - 1}, "
                f"to be stored as {dtype}",
                document_id=batch.ids[row],
            )
        ids = [encode_id(document_id) for document_id in batch.ids]
        yield DocBatch(ids, batch.provenances, np.ascontiguousarray(values, dtype), lengths)


def rebatch(batches: Iterable[DocBatch], max_batch_in_bytes: int = MAX_BATCH_IN_BYTES) -> Iterator[DocBatch]:
    """Yield the same documents in record batches whose borders depend on the documents alone.

    With room for 4 tokens, lengths ``[3] [1 2 9 1]`` become ``[3 1] [2] [9] [1]``.
    """
    held: list[DocBatch] = []
    num_documents = num_tokens = 0
    for batch in batches:
        room = max_batch_in_bytes // batch.values.itemsize
        ends = np.cumsum(batch.lengths)
        first = done = 0
        while first < len(ends):
            stop = int(np.searchsorted(ends, done + room - num_tokens, side="right"))
            stop = min(stop, first + MAX_BATCH_DOCUMENTS - num_documents)
            if stop <= first and held:
                yield _join(held)
                held, num_documents, num_tokens = [], 0, 0
                continue
            stop = max(stop, first + 1)  # the first document of a batch goes in, however long
            part = slice(first, stop)
            values = batch.values[done : int(ends[stop - 1])]
            held.append(DocBatch(batch.ids[part], batch.provenances[part], values, batch.lengths[part]))
            num_documents += stop - first
            num_tokens += len(values)
            first, done = stop, int(ends[stop - 1])
    if held:
        yield _join(held)


def _join(batches: list[DocBatch]) -> DocBatch:
    return DocBatch(
        [document_id for batch in batches for document_id in batch.ids],
        [name for batch in batches for name in batch.provenances],
        np.concatenate([batch.values for batch in batches]),
        np.concatenate([batch.lengths for batch in batches]),
    )
