"""The quality measures of the Gopher paper, as Dolma has them, and as they are meant.

Only what becomes of the counts stands here; counting is done in ``text_counts``.

Source of the idea: Rae et al., "Scaling Language Models", arXiv:2112.11446, appendix A1.
"""

from __future__ import annotations

from mixle_assets.tagging.counted import DUPLICATE_NGRAMS, TOP_NGRAMS, TextCounts
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_TOP = tuple(f"fraction_of_characters_in_most_common_{n}grams" for n in TOP_NGRAMS)
_DUPLICATE = tuple(f"fraction_of_characters_in_duplicate_{n}grams" for n in DUPLICATE_NGRAMS)
MEASURES = (
    *_TOP,
    *_DUPLICATE,
    "character_count",
    "word_count",
    "median_word_length",
    "symbol_to_word_ratio",
    "fraction_of_words_with_alpha_character",
    "required_word_count",
    "fraction_of_lines_starting_with_bullet_point",
    "fraction_of_lines_ending_with_ellipsis",
    "fraction_of_duplicate_lines",
    "fraction_of_characters_in_duplicate_lines",
)
"""In Dolma's order; an n-gram measure is absent where the text has fewer than n words."""


@tagger("gopher_v1", measures=MEASURES)
def measure_gopher_v1(document: DocumentView) -> Measures:
    """Gopher's measures with Dolma's values; blank lines are lines, and duplicates of each other."""
    counts = document.counts
    return _measures(document, counts, num_empty_lines=counts.num_empty_lines)


@tagger("gopher_v2", measures=MEASURES)
def measure_gopher_v2(document: DocumentView) -> Measures:
    """As ``gopher_v1``, but a run of line feeds is one end of a line."""
    text = document.text
    # Between runs no line is empty; before a leading and after a trailing run there is one.
    num_empty_lines = text.startswith("\n") + text.endswith("\n")
    return _measures(document, document.counts, num_empty_lines=num_empty_lines)


@tagger("gopher_v3", measures=MEASURES)
def measure_gopher_v3(document: DocumentView) -> Measures:
    """As ``gopher_v1`` over the lines that hold a word: a blank line is no line, so never a duplicate.

    The characters in duplicate lines are a share of those in all lines, so it never passes 1.
    """
    counts = document.counts
    num_lines = max(counts.num_worded_lines, 1)
    characters_in_lines = len(document.text) - counts.num_filled_lines - counts.num_empty_lines + 1
    return {
        **_measures(document, counts, num_empty_lines=0),
        "fraction_of_lines_starting_with_bullet_point": counts.bullet_lines / num_lines,
        "fraction_of_lines_ending_with_ellipsis": counts.ellipsis_lines / num_lines,
        "fraction_of_duplicate_lines": counts.duplicate_worded_lines / num_lines,
        "fraction_of_characters_in_duplicate_lines": counts.duplicate_worded_characters
        / max(characters_in_lines, 1),
    }


def _measures(document: DocumentView, counts: TextCounts, *, num_empty_lines: int) -> Measures:
    num_words = max(counts.num_words, 1)
    characters = max(counts.word_characters, 1)
    num_lines = max(counts.num_filled_lines + num_empty_lines, 1)
    # Two empty lines have the same text; their length, 0, adds nothing.
    duplicate_lines = counts.duplicate_filled_lines + (num_empty_lines if num_empty_lines > 1 else 0)
    scores: dict[str, float] = {}
    for name, least, top in zip(_TOP, TOP_NGRAMS, counts.top_ngram_characters, strict=True):
        if counts.num_words >= least:
            scores[name] = top / characters
    for name, least, duplicate, total in zip(
        _DUPLICATE, DUPLICATE_NGRAMS, counts.duplicate_ngram_characters, counts.ngram_characters, strict=True
    ):
        if counts.num_words >= least:
            scores[name] = duplicate / (total or 1)
    scores["character_count"] = len(document.text)
    scores["word_count"] = counts.num_words
    scores["median_word_length"] = counts.middle_lengths / 2
    scores["symbol_to_word_ratio"] = counts.symbol_words / num_words
    scores["fraction_of_words_with_alpha_character"] = counts.alpha_words / num_words
    scores["required_word_count"] = counts.required_words
    scores["fraction_of_lines_starting_with_bullet_point"] = counts.bullet_lines / num_lines
    scores["fraction_of_lines_ending_with_ellipsis"] = counts.ellipsis_lines / num_lines
    scores["fraction_of_duplicate_lines"] = duplicate_lines / num_lines
    scores["fraction_of_characters_in_duplicate_lines"] = counts.duplicate_line_characters / characters
    return scores
