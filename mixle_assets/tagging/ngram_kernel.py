"""Repeated n-grams of word numbers, chained: an n-gram is its first n - 1 words, as one number, and its last.

Imported by ``text_counts_kernel`` alone. A module of its own, since a compiled function in the cache does not
notice that one it calls from another module has changed; so none does.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def count_ngrams(words, lengths, table, base, columns, top, duplicate_characters, all_characters):  # type: ignore[no-untyped-def]
    """Fill in what ``text_counts.TextCounts`` says of n-grams.

    Args:
        words: Number of every word, equal words having equal numbers.
        lengths: Characters of every word.
        table: Hash table; a slot is free if its value is below ``base[0]``.
        base: One number, raised by as many as are used.
        columns: Eight rows of scratch, each longer than ``words``.
        top: For n = 2, 3, 4.
        duplicate_characters: For n = 5 to 10.
        all_characters: For n = 5 to 10.
    """
    mask = np.int64(table.size - 1)
    empty = np.int64(base[0])
    num_words = words.size
    top[:] = 0
    duplicate_characters[:] = 0
    all_characters[:] = 0
    # Looked at are only the starts where both (n-1)-grams in the n-gram are repeated.
    previous = columns[0]
    starts = columns[1]
    head = columns[2]
    tail = columns[3]
    times = columns[4]
    first_start = columns[5]
    gram_at = columns[6]
    ends = columns[7]
    ends[0] = 0
    for k in range(num_words):
        ends[k + 1] = ends[k] + lengths[k]
        previous[k] = words[k]
    num_starts = max(num_words - 1, 0)
    for k in range(num_starts):
        starts[k] = k
    for n in range(2, 11):
        if num_words < n:
            break
        num_grams = 0
        for k in range(num_starts):
            start = starts[k]
            a = previous[start]
            b = words[start + n - 1]
            code = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
            code ^= code >> np.uint64(29)
            code *= np.uint64(0xBF58476D1CE4E5B9)
            place = np.int64(code >> np.uint64(32)) & mask
            while True:
                found = table[place] - empty
                if found < 0:
                    table[place] = empty + num_grams
                    head[num_grams] = a
                    tail[num_grams] = b
                    times[num_grams] = 1
                    first_start[num_grams] = start
                    gram_at[k] = num_grams
                    num_grams += 1
                    break
                if head[found] == a and tail[found] == b:
                    times[found] += 1
                    gram_at[k] = found
                    break
                place = (place + 1) & mask
        empty += num_grams
        if n <= 4:
            best = -1
            most = 1
            for k in range(num_grams):
                if times[k] > most:
                    most = times[k]
                    best = first_start[k]
            if best < 0:
                top[n - 2] = ends[n]
            else:
                top[n - 2] = most * (ends[best + n] - ends[best])
        else:
            total = 0
            for k in range(num_words - n + 1):
                total += ends[k + n] - ends[k]
            all_characters[n - 5] = total
            duplicate = 0
            for k in range(num_starts):
                if times[gram_at[k]] > 1:
                    duplicate += ends[starts[k] + n] - ends[starts[k]]
            duplicate_characters[n - 5] = duplicate
        # Keep the starts whose n-gram and the next one's are repeated; they lie side by side in ``starts``.
        kept = 0
        for k in range(num_starts):
            start = starts[k]
            if times[gram_at[k]] > 1:
                previous[start] = gram_at[k]
                if (
                    start + n < num_words
                    and k + 1 < num_starts
                    and starts[k + 1] == start + 1
                    and times[gram_at[k + 1]] > 1
                ):
                    starts[kept] = start
                    kept += 1
        num_starts = kept
    base[0] = empty
