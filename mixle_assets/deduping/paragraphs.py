r"""Where the paragraphs of a text lie, and what each hashes to.

A paragraph is what stands between two separators (newlines, unless the recipe says otherwise); a text with n
separators has n + 1 of them, some may be empty, and an empty text has none. Its span takes the separator
behind it along, so that removing the span closes the gap, except a separator that ends the text::

    "ab\nc\n"   paragraphs "ab" "c" ""   spans [0 3] [3 4] [4 4]

That is Dolma's rule, in code points throughout. What repeats what is decided in ``index``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_digest

from mixle_assets.segmentation.words import is_blank, num_words

HASH_IN_BYTES = 16
NOT_COMPARED = bytes(HASH_IN_BYTES)
"""Stands for what takes no part, since it is too short or empty; as a hash it would be a 2^-128 accident."""


class Paragraphs(NamedTuple):
    """The paragraphs of several texts, one after the other.

    Attributes:
        counts: Paragraphs of each text, int64.
        lengths: Code points of each paragraph without its separator, uint32.
        hashes: XXH3-128 of each paragraph's UTF-8 bytes, or of each of its n-grams, uint8 of shape
            (hashes, 16); zeros where it is not compared.
        num_hashes: Hashes of each paragraph, uint32; None: one each.
        num_counted: How many of them, the last ones, count for its score, uint32; None: one each.
    """

    counts: NDArray[np.int64]
    lengths: NDArray[np.uint32]
    hashes: NDArray[np.uint8]
    num_hashes: NDArray[np.uint32] | None = None
    num_counted: NDArray[np.uint32] | None = None


NO_PARAGRAPHS = Paragraphs(
    np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros((0, HASH_IN_BYTES), np.uint8)
)


def is_compared(hashes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which hashes, uint8 of shape (n, 16), take part: those that are not zeros."""
    halves = np.ascontiguousarray(hashes).view("<u8")
    compared: NDArray[np.bool_] = (halves[:, 0] != 0) | (halves[:, 1] != 0)
    return compared


def are_compared(paragraphs: Paragraphs) -> NDArray[np.bool_]:
    """Return which of the paragraphs take part."""
    if paragraphs.num_hashes is not None:
        return paragraphs.num_hashes > 0
    return is_compared(paragraphs.hashes)


def num_not_compared(paragraphs: Paragraphs) -> int:
    """Return how many of the paragraphs take no part."""
    return int(np.count_nonzero(~are_compared(paragraphs)))


def hash_paragraphs(
    texts: Sequence[str],
    separator: str = "\n",
    *,
    skip_empty: bool = True,
    min_length: int = 0,
    min_words: int = 0,
) -> Paragraphs:
    """Cut texts into paragraphs and hash each.

    Args:
        texts: Whole texts; many at a time are faster than one.
        separator: What stands between two paragraphs; not empty.
        skip_empty: Do not compare paragraphs of white space alone.
        min_length: Do not compare paragraphs of fewer code points.
        min_words: Do not compare paragraphs of fewer words, as ``words.num_words`` counts them.

    Returns:
        Counts, lengths and hashes.
    """
    mark = separator.encode()
    cut = _cut_at_bytes if len(mark) == 1 else _cut_at_strings
    pieces, counts, lengths = cut([text.encode() for text in texts], mark)
    hashes = np.frombuffer(b"".join(map(xxh3_128_digest, pieces)), np.uint8).reshape(-1, HASH_IN_BYTES)
    skipped = lengths < min_length
    if skip_empty:
        skipped |= _blank(pieces, lengths)
    if min_words:
        for position in np.flatnonzero(~skipped).tolist():
            skipped[position] = num_words(pieces[position].decode()) < min_words
    if skipped.any():
        hashes = hashes.copy()
        hashes[skipped] = 0
    return Paragraphs(counts, lengths, hashes)


def split_paragraphs(texts: Sequence[str], separator: str) -> list[bytes]:
    """Return the paragraphs of all texts as UTF-8, one after the other; an empty text has none."""
    return _cut_at_strings([text.encode() for text in texts], separator.encode()).pieces


class _Cut(NamedTuple):
    """Paragraphs as UTF-8, how many each text has, and their code points."""

    pieces: list[bytes]
    counts: NDArray[np.int64]
    lengths: NDArray[np.uint32]


def _cut_at_strings(texts: list[bytes], separator: bytes) -> _Cut:
    """Cut each text by itself: right for any separator."""
    by_text = [text.split(separator) if text else [] for text in texts]
    pieces = [piece for some in by_text for piece in some]
    return _Cut(
        pieces,
        np.fromiter(map(len, by_text), np.int64, len(texts)),
        np.fromiter((len(piece.decode()) for piece in pieces), np.uint32, len(pieces)),
    )


def _cut_at_bytes(texts: list[bytes], separator: bytes) -> _Cut:
    """Cut all texts at once, joined by the separator, which is one byte and so cannot overlap itself.

    What else would be asked of each paragraph is read off positions in the whole.
    """
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    whole = separator.join([text for text in texts if text])
    codes = np.frombuffer(whole, np.uint8)
    if not len(codes):
        return _Cut([], np.zeros(len(texts), np.int64), np.zeros(0, np.uint32))
    ends = np.append(np.flatnonzero(codes == separator[0]), len(codes))
    lengths = np.diff(ends, prepend=-1) - 1
    text_ends = np.cumsum(sizes + (sizes > 0)) - 1
    counts = np.diff(np.searchsorted(ends, text_ends, "right"), prepend=0)
    if not whole.isascii():
        # Of the bytes of a character all but the first are 10xxxxxx: below -64, taken as signed.
        inside = np.flatnonzero(codes.view(np.int8) < -64)
        lengths -= np.diff(np.searchsorted(inside, ends), prepend=0)
    return _Cut(whole.split(separator), counts, lengths.astype(np.uint32))


def paragraph_spans(
    counts: NDArray[np.int64], lengths: NDArray[np.uint32], separator_length: int = 1
) -> NDArray[np.int64]:
    """Return the spans of all paragraphs of several texts, in code points, shape (paragraphs, 2).

    Args:
        counts: Paragraphs of each text, as ``hash_paragraphs`` gives them.
        lengths: Code points of each paragraph, without its separator.
        separator_length: Code points of the separator.
    """
    if not len(lengths):
        return np.zeros((0, 2), np.int64)
    last = np.cumsum(counts)[counts > 0] - 1  # the last paragraph of each text
    ends = np.cumsum(lengths.astype(np.int64) + separator_length)
    spans = np.stack([np.concatenate([[0], ends[:-1]]), ends], axis=1)
    starts = np.concatenate([[0], ends[last[:-1]]])  # of the texts, when laid end to end
    spans -= np.repeat(starts, counts[counts > 0])[:, None]
    spans[last, 1] -= separator_length
    # The separator that ends a text belongs to no paragraph, so the empty one behind it lies before it.
    closed = last[(lengths[last] == 0) & (counts[counts > 0] > 1)]
    spans[closed - 1, 1] -= separator_length
    spans[closed] -= separator_length
    return spans


def _blank(pieces: list[bytes], lengths: NDArray[np.uint32]) -> NDArray[np.bool_]:
    blank: NDArray[np.bool_] = lengths == 0
    # Nearly every other paragraph starts with a printable ASCII character and needs no look.
    first = np.frombuffer(b"".join([piece[:1] or b"x" for piece in pieces]), np.uint8)
    for position in np.flatnonzero((first <= 32) | (first >= 128)).tolist():
        blank[position] = is_blank(pieces[position].decode())
    return blank
