"""The compiled way to count a text: one pass over its UTF-8 bytes for words, one for lines. Needs numba.

Imported only by ``text_counts``, and only on first use: loading numba takes half a second. Words, lines and
n-grams are compared in full, never by hash alone, so the counts are exact.
"""

from __future__ import annotations

import functools

import numba
import numpy as np
from numpy.typing import NDArray

from mixle_assets.tagging.counted import DUPLICATE_NGRAMS, REQUIRED_WORDS, TOP_NGRAMS, TextCounts
from mixle_assets.tagging.ngram_kernel import count_ngrams

_ALPHA_LIMIT = 0x40000
"""No code point from here on is alphabetic (a test looks at all of them)."""
_HUGE_IN_BYTES = 1 << 20
_LENGTHS = 256
"""Word lengths below are counted, the rest sorted."""

# Places in the kernel's output: the fields of ``TextCounts``, in order.
_WORDS, _CHARACTERS, _MIDDLE, _SYMBOL, _ALPHA, _REQUIRED = range(6)
_FILLED, _EMPTY, _BULLET, _ELLIPSIS, _DUPLICATE, _DUPLICATE_CHARACTERS, _WORDED, _DUPLICATE_WORDED = range(
    6, 14
)
_DUPLICATE_WORDED_CHARACTERS = 14
_TOP = 15
_DUPLICATE_NGRAMS = _TOP + len(TOP_NGRAMS)
_ALL_NGRAMS = _DUPLICATE_NGRAMS + len(DUPLICATE_NGRAMS)
_SIZE = _ALL_NGRAMS + len(DUPLICATE_NGRAMS)


class _Scratch:
    """Arrays that every document reuses; grown for a longer one, never cleared.

    A table's slot is free if its value lies below ``base``, and ``base`` grows by what a document used.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.table = np.zeros(_capacity(limit), np.int32)
        self.base = np.ones(1, np.int32)
        self.columns = np.zeros((10, limit + 1), np.int32)
        self.output = np.zeros(_SIZE, np.int64)


def _capacity(limit: int) -> int:
    """Slots of a table that is at most two thirds full: a power of two."""
    return 1 << (limit + limit // 2).bit_length()


_scratch = _Scratch(1 << 14)


@functools.cache
def _alphabetic() -> NDArray[np.bool_]:
    return np.array([chr(point).isalpha() for point in range(_ALPHA_LIMIT)])


@functools.cache
def _required() -> NDArray[np.uint64]:
    """Return the required words as numbers: a 1, so that no leading zero is lost, then their bytes."""
    return np.array([int.from_bytes(b"\x01" + word.encode()) for word in REQUIRED_WORDS], np.uint64)


def count_text_compiled(text: str) -> TextCounts:
    """Return the counts of a text; see ``text_counts.count_text``."""
    global _scratch
    content = np.frombuffer(text.encode(), np.uint8)
    # Two bytes a word, or a filled line, is the least; of a huge document the words are counted first.
    limit = len(content) // 2 + 2
    if len(content) > _HUGE_IN_BYTES:
        limit = int(_count_at_most(content)) + 2
    if limit > _scratch.limit:
        _scratch = _Scratch(limit)
    scratch = _scratch
    if int(scratch.base[0]) + 12 * limit > np.iinfo(np.int32).max:
        scratch.table[:] = 0
        scratch.base[:] = 1
    table = scratch.table[: _capacity(limit)]
    output = scratch.output
    _count(content, table, scratch.base, scratch.columns, output, _alphabetic(), _required())
    num_words = int(output[_WORDS])
    words, lengths = scratch.columns[:2, :num_words]
    count_ngrams(
        words,
        lengths,
        table,
        scratch.base,
        scratch.columns[2:],
        output[_TOP:_DUPLICATE_NGRAMS],
        output[_DUPLICATE_NGRAMS:_ALL_NGRAMS],
        output[_ALL_NGRAMS:],
    )
    if scratch.limit > _HUGE_IN_BYTES:
        _scratch = _Scratch(1 << 14)  # one huge document must not keep its memory to the end of the file
    numbers = scratch.output.tolist()
    return TextCounts._make(
        [
            *numbers[:_TOP],
            tuple(numbers[_TOP:_DUPLICATE_NGRAMS]),
            tuple(numbers[_DUPLICATE_NGRAMS:_ALL_NGRAMS]),
            tuple(numbers[_ALL_NGRAMS:]),
        ]
    )


@numba.njit(cache=True, nogil=True)
def _same(content, a, b, length):  # type: ignore[no-untyped-def]
    for k in range(length):  # noqa: SIM110, numba compiles no generators into all()
        if content[a + k] != content[b + k]:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def _count(content, table, base, columns, output, alphabetic, required):  # type: ignore[no-untyped-def]
    size = content.size
    words = columns[0]  # number of each word, in order of first sight
    lengths = columns[1]  # characters of each word
    first_byte = columns[2]  # of each distinct word, then of each distinct line
    num_bytes = columns[3]
    flags = columns[4]  # of each distinct word: 1 symbol, 2 alphabetic, 4 required
    line_times = columns[5]
    line_characters = columns[6]
    output[:] = 0
    mask = np.int64(table.size - 1)
    empty = np.int64(base[0])
    num_words = 0
    num_distinct = 0
    total_characters = 0
    histogram = np.zeros(_LENGTHS, np.int64)

    # Words. Distinct words take the table's numbers empty + 0, empty + 1, ...
    i = 0
    while i < size:
        byte = content[i]
        # White space is skipped, with the bytes it takes.
        if byte < 128:
            if byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
                i += 1
                continue
        else:
            width = _space_width(content, i)
            if width:
                i += width
                continue
        start = i
        code = np.uint64(14695981039346656037)
        packed = np.uint64(1)
        characters = 0
        flag = 0
        while i < size:
            byte = content[i]
            if byte < 128:
                if byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
                    break
                lower = byte | 32
                if 97 <= lower <= 122:
                    flag |= 2
                elif byte == 35:
                    flag |= 1
                code = (code ^ np.uint64(byte)) * np.uint64(1099511628211)
                packed = (packed << np.uint64(8)) | np.uint64(byte)
                i += 1
            else:
                if _space_width(content, i):
                    break
                point, width = _decode(content, i)
                if point == 0x2026:
                    flag |= 1
                elif point < _ALPHA_LIMIT and alphabetic[point]:
                    flag |= 2
                code = (code ^ np.uint64(point)) * np.uint64(1099511628211)
                i += width
            characters += 1
        length = i - start
        if length <= 4:
            for one in required:
                if packed == one and characters == length:
                    flag |= 4
        code ^= code >> np.uint64(32)
        code *= np.uint64(0x9E3779B97F4A7C15)
        place = np.int64(code >> np.uint64(32)) & mask
        while True:
            found = table[place] - empty
            if found < 0:
                found = num_distinct
                table[place] = empty + found
                first_byte[found] = start
                num_bytes[found] = length
                flags[found] = flag
                num_distinct += 1
                break
            if num_bytes[found] == length and _same(content, first_byte[found], start, length):
                break
            place = (place + 1) & mask
        words[num_words] = found
        lengths[num_words] = characters
        num_words += 1
        total_characters += characters
        output[_SYMBOL] += flag & 1
        output[_ALPHA] += (flag >> 1) & 1
        output[_REQUIRED] += flag >> 2
        if characters < _LENGTHS:
            histogram[characters] += 1
    empty += num_distinct
    output[_WORDS] = num_words
    output[_CHARACTERS] = total_characters
    if num_words:
        output[_MIDDLE] = _nth(histogram, lengths, num_words, (num_words - 1) // 2)
        output[_MIDDLE] += _nth(histogram, lengths, num_words, num_words // 2)

    # Lines.
    num_lines = 0
    i = 0
    while i <= size:
        start = i
        code = np.uint64(14695981039346656037)
        characters = 0
        worded = False
        while i < size and content[i] != 10:
            byte = content[i]
            code = (code ^ np.uint64(byte)) * np.uint64(1099511628211)
            if byte & 0xC0 != 0x80:
                characters += 1
                if not worded:
                    if byte < 128:
                        worded = not (byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31))
                    else:
                        worded = _space_width(content, i) == 0
            i += 1
        length = i - start
        i += 1
        if not length:
            output[_EMPTY] += 1
            continue
        output[_FILLED] += 1
        output[_WORDED] += worded
        output[_BULLET] += content[start] == 42 or content[start] == 45
        stop = start + length
        if (
            length >= 3
            and content[stop - 3] == 0xE2
            and content[stop - 2] == 0x80
            and content[stop - 1] == 0xA6
        ):
            output[_ELLIPSIS] += 1
        code ^= code >> np.uint64(32)
        code *= np.uint64(0x9E3779B97F4A7C15)
        place = np.int64(code >> np.uint64(32)) & mask
        while True:
            found = table[place] - empty
            if found < 0:
                table[place] = empty + num_lines
                first_byte[num_lines] = start
                num_bytes[num_lines] = length
                line_times[num_lines] = 1
                line_characters[num_lines] = characters
                flags[num_lines] = worded
                num_lines += 1
                break
            if num_bytes[found] == length and _same(content, first_byte[found], start, length):
                line_times[found] += 1
                break
            place = (place + 1) & mask
    empty += num_lines
    for k in range(num_lines):
        if line_times[k] > 1:
            output[_DUPLICATE] += line_times[k]
            output[_DUPLICATE_CHARACTERS] += line_times[k] * line_characters[k]
            output[_DUPLICATE_WORDED] += line_times[k] * flags[k]
            output[_DUPLICATE_WORDED_CHARACTERS] += line_times[k] * line_characters[k] * flags[k]

    base[0] = empty


@numba.njit(cache=True, nogil=True)
def _count_at_most(content):  # type: ignore[no-untyped-def]
    """The words, or the lines if they are more."""
    words = 0
    lines = 1
    inside = False
    i = 0
    while i < content.size:
        byte = content[i]
        width = 0
        if byte >= 128:
            width = _space_width(content, i)
        elif byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
            width = 1
        lines += byte == 10
        if width:
            inside = False
            i += width
        else:
            words += not inside
            inside = True
            i += 1
    return max(words, lines)


@numba.njit(cache=True, nogil=True)
def _space_width(content, i):  # type: ignore[no-untyped-def]
    """Bytes of the non-ASCII white space at ``i``, 0 if there is none: what ``str.split`` splits at."""
    byte = content[i]
    if byte == 0xC2:
        return 2 if content[i + 1] == 0x85 or content[i + 1] == 0xA0 else 0
    if byte == 0xE1:
        return 3 if content[i + 1] == 0x9A and content[i + 2] == 0x80 else 0
    if byte == 0xE2:
        second = content[i + 1]
        third = content[i + 2]
        if second == 0x80 and (0x80 <= third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF):
            return 3
        return 3 if second == 0x81 and third == 0x9F else 0
    if byte == 0xE3:
        return 3 if content[i + 1] == 0x80 and content[i + 2] == 0x80 else 0
    return 0


@numba.njit(cache=True, nogil=True)
def _decode(content, i):  # type: ignore[no-untyped-def]
    """Code point and bytes of the non-ASCII character at ``i``; the bytes are valid UTF-8."""
    byte = np.int64(content[i])
    point = np.int64(content[i + 1]) & 0x3F
    if byte < 0xE0:
        return (byte & 0x1F) << 6 | point, 2
    point = point << 6 | (np.int64(content[i + 2]) & 0x3F)
    if byte < 0xF0:
        return (byte & 0x0F) << 12 | point, 3
    return (byte & 0x07) << 18 | point << 6 | (np.int64(content[i + 3]) & 0x3F), 4


@numba.njit(cache=True, nogil=True)
def _nth(histogram, lengths, num_words, n):  # type: ignore[no-untyped-def]
    """The n-th smallest word length, from 0."""
    seen = 0
    for length in range(histogram.size):
        seen += histogram[length]
        if seen > n:
            return length
    return np.sort(lengths[:num_words])[n]
