"""Count what the Gopher rules look at: words, lines and repeated n-grams, as exact integers.

Two ways with the same numbers: a compiled pass over the UTF-8 bytes (``text_counts_kernel``, needs numba),
and NumPy where that is missing. Which number makes which measure is ``gopher``'s business.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixle_assets.tagging.counted import DUPLICATE_NGRAMS, REQUIRED_WORDS, TOP_NGRAMS, TextCounts

SYMBOLS = ("#", "…")
BULLETS = ("*", "-")
ELLIPSIS = "…"


def count_text(text: str) -> TextCounts:
    """Return the counts of a text by the fastest way there is."""
    return _fastest_way()(text)


@functools.cache
def _fastest_way() -> Callable[[str], TextCounts]:
    try:
        from mixle_assets.tagging.text_counts_kernel import count_text_compiled
    except ImportError:
        return count_text_plainly
    return count_text_compiled


def count_text_plainly(text: str) -> TextCounts:
    """Return the counts of a text with Python and NumPy alone."""
    numbers: dict[str, int] = {}
    words = np.array([numbers.setdefault(word, len(numbers)) for word in text.split()], np.int64)
    distinct = list(numbers)
    times = np.bincount(words, minlength=len(distinct))
    lengths_of_distinct = np.array([len(word) for word in distinct], np.int64)
    lengths = lengths_of_distinct[words] if len(words) else words
    ordered = np.sort(lengths)
    top, duplicate, total = _count_ngrams(words, len(distinct), lengths)

    def words_where(holds: Callable[[str], bool]) -> int:
        return sum(count for word, count in zip(distinct, times.tolist(), strict=True) if holds(word))

    lines = text.split("\n")
    times_of_line = Counter(line for line in lines if line)
    repeated = {line: count for line, count in times_of_line.items() if count > 1}
    return TextCounts(
        num_words=len(words),
        word_characters=int(lengths.sum()),
        middle_lengths=int(ordered[(len(words) - 1) // 2] + ordered[len(words) // 2]) if len(words) else 0,
        symbol_words=words_where(lambda word: any(symbol in word for symbol in SYMBOLS)),
        alpha_words=words_where(lambda word: any(map(str.isalpha, word))),
        required_words=words_where(REQUIRED_WORDS.__contains__),
        top_ngram_characters=top,
        duplicate_ngram_characters=duplicate,
        ngram_characters=total,
        num_filled_lines=sum(times_of_line.values()),
        num_empty_lines=len(lines) - sum(times_of_line.values()),
        bullet_lines=sum(line.startswith(BULLETS) for line in lines),
        ellipsis_lines=sum(line.endswith(ELLIPSIS) for line in lines),
        duplicate_filled_lines=sum(repeated.values()),
        duplicate_line_characters=sum(len(line) * count for line, count in repeated.items()),
        num_worded_lines=sum(count for line, count in times_of_line.items() if not line.isspace()),
        duplicate_worded_lines=sum(count for line, count in repeated.items() if not line.isspace()),
        duplicate_worded_characters=sum(
            len(line) * count for line, count in repeated.items() if not line.isspace()
        ),
    )


def _count_ngrams(
    words: NDArray[np.int64], num_distinct: int, lengths: NDArray[np.int64]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return characters of top n-grams, of duplicate n-grams, and of all n-grams.

    An n-gram is the pair (number of its first n - 1 words, its last word), so equal numbers mean equal
    n-grams. It can only be repeated where both (n-1)-grams in it are, so each round looks at what the last
    one left::

        words      0 1 2 0 1 3     2-grams (0 1) (1 2) (2 0) (0 1) (1 3): repeated at 0 and 3
        3-grams    only where starts i and i + 1 are both repeated: none
    """
    top, duplicate, total = [], [], []
    ends = np.concatenate(([0], np.cumsum(lengths)))  # ends[i] = characters before word i
    starts = np.arange(max(len(words) - 1, 0))
    previous = words
    for n in range(2, DUPLICATE_NGRAMS.stop):
        num_ngrams = len(words) - n + 1
        if num_ngrams < 1:
            starts = starts[:0]
        _, first, where, times = np.unique(
            previous[starts] * num_distinct + words[starts + n - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        characters = ends[starts + n] - ends[starts]
        if n in TOP_NGRAMS:
            # Of equally frequent n-grams the one seen first counts; if none is repeated, the very first.
            if num_ngrams < 1:
                top.append(0)
            elif not len(times) or times.max() == 1:
                top.append(int(ends[n]))
            else:
                most = np.flatnonzero(times == times.max())
                best = most[np.argmin(first[most])]
                top.append(int(times[best] * characters[first[best]]))
        else:
            duplicate.append(int(characters[times[where] > 1].sum()))
            total.append(int((ends[n:] - ends[: max(num_ngrams, 0)]).sum()) if num_ngrams > 0 else 0)
        previous = np.full(len(words), -1, np.int64)
        repeated = times[where] > 1
        previous[starts[repeated]] = where[repeated]
        starts = starts[repeated]
        starts = starts[starts + n < len(words)]
        starts = starts[previous[starts + 1] >= 0]
    return tuple(top), tuple(duplicate), tuple(total)
