"""What the Gopher rules look at in a text, as integers; ``text_counts`` counts it."""

from __future__ import annotations

from typing import NamedTuple

REQUIRED_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
TOP_NGRAMS = range(2, 5)
DUPLICATE_NGRAMS = range(5, 11)


class TextCounts(NamedTuple):
    """Integers of one text; lengths are code points.

    Attributes:
        num_words: Runs between Unicode white space.
        word_characters: Sum of the words' lengths.
        middle_lengths: The two middle word lengths added (one middle length twice), 0 without words.
        symbol_words: Words that hold ``#`` or U+2026.
        alpha_words: Words that hold an alphabetic character.
        required_words: Words equal to one of the eight.
        num_filled_lines: Lines with at least one character.
        num_empty_lines: Lines with none; n line feeds make n + 1 lines.
        bullet_lines: Lines that begin with ``*`` or ``-``.
        ellipsis_lines: Lines that end with U+2026.
        duplicate_filled_lines: Filled lines whose text occurs more than once, all occurrences.
        duplicate_line_characters: Their lengths.
        num_worded_lines: Lines that hold a word.
        duplicate_worded_lines: Of those, the ones whose text occurs more than once.
        duplicate_worded_characters: Their lengths.
        top_ngram_characters: For n = 2, 3, 4: occurrences of the most frequent n-gram (of several, the one
            seen first) times its length.
        duplicate_ngram_characters: For n = 5 to 10: lengths of all occurrences of n-grams seen more than
            once.
        ngram_characters: For n = 5 to 10: lengths of all n-grams.
    """

    num_words: int
    word_characters: int
    middle_lengths: int
    symbol_words: int
    alpha_words: int
    required_words: int
    num_filled_lines: int
    num_empty_lines: int
    bullet_lines: int
    ellipsis_lines: int
    duplicate_filled_lines: int
    duplicate_line_characters: int
    num_worded_lines: int
    duplicate_worded_lines: int
    duplicate_worded_characters: int
    top_ngram_characters: tuple[int, ...]
    duplicate_ngram_characters: tuple[int, ...]
    ngram_characters: tuple[int, ...]
