"""Words, lines and n-grams are counted exactly, and alike by both ways of counting."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.tagging import text_counts_kernel
from mixle_assets.tagging.text_counts import count_text, count_text_plainly
from mixle_assets.tagging.text_counts_kernel import count_text_compiled

PIECES = [
    "a",
    "b",
    "the",
    "to",
    "…",
    "#",
    "*",
    "-",
    " ",
    "\n",
    "\t",
    "\x1c",
    "\u2028",
    "\u3000",
    "\x85",
    "é",
    "中",
    "😀",
    "\x00",
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join))


@settings(deadline=None, max_examples=200)
@example("\x00the")
@given(texts)
def test_both_ways_of_counting_agree(text):
    assert count_text_compiled(text) == count_text_plainly(text)


def test_a_text_is_counted_as_one_can_by_hand():
    counts = count_text("the cat sat\nthe cat sat\n\n* the end…")

    assert counts._asdict() == {
        "num_words": 9,
        "word_characters": 3 * 6 + 1 + 3 + 4,
        "middle_lengths": 6,
        "symbol_words": 1,
        "alpha_words": 8,
        "required_words": 3,
        "num_filled_lines": 3,
        "num_empty_lines": 1,
        "bullet_lines": 1,
        "ellipsis_lines": 1,
        "duplicate_filled_lines": 2,
        "duplicate_line_characters": 22,
        "num_worded_lines": 3,
        "duplicate_worded_lines": 2,
        "duplicate_worded_characters": 22,
        "top_ngram_characters": (2 * 6, 2 * 9, 12),  # "the cat" and "the cat sat" twice; no 4-gram twice
        "duplicate_ngram_characters": (0, 0, 0, 0, 0, 0),
        "ngram_characters": (70, 67, 58, 45, 26, 0),
    }


def test_of_two_equally_frequent_ngrams_the_one_seen_first_counts():
    assert count_text("aa bb x y aa bb x y").top_ngram_characters[0] == 2 * 4
    assert count_text("x y aa bb x y aa bb").top_ngram_characters[0] == 2 * 2


def test_white_space_is_what_split_takes_for_it_at_every_code_point():
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    text = "x" + "x".join(characters) + "x"

    assert count_text_compiled(text).num_words == len(text.split())


def test_alphabetic_is_what_python_takes_for_it_at_every_code_point():
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    words = [character for character in characters if not character.isspace()]

    assert count_text_compiled(" ".join(words)).alpha_words == sum(word.isalpha() for word in words)


def test_counts_stay_right_when_the_table_starts_over():
    text_counts_kernel._scratch.base[:] = 2**31 - 60

    for text in ["one two one two\none two", "two one", "one two one two"]:
        assert count_text_compiled(text) == count_text_plainly(text)
    assert text_counts_kernel._scratch.base[0] < 60


@pytest.mark.parametrize(
    "text",
    ["x" * 3_000_000, "x " * 1_000_000, "\n" * 2_000_000, "…" * 700_000, "word " * 500_000 + "end"],
    ids=["one word", "one word over and over", "line feeds", "ellipses", "one sentence"],
)
def test_a_pathological_text_takes_time_in_proportion_to_its_length(text):
    started = time.process_time()
    counts = count_text_compiled(text)

    assert time.process_time() - started < 3  # seconds; a quadratic way would take hours
    assert counts.num_words == len(text.split())
