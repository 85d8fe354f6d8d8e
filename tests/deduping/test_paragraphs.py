"""Where paragraphs lie and what they hash to."""

from __future__ import annotations

import numpy as np
import pytest
import xxhash
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.deduping.paragraphs import (
    hash_paragraphs,
    is_blank,
    is_compared,
    num_words,
    paragraph_spans,
)

texts = st.lists(st.text(alphabet="ab\n é中👋\x85\u2028\x1c", max_size=12), max_size=6)


def spans_one_by_one(text: str, separator: str) -> list[list[int]]:
    if not text:
        return []
    pieces, start, spans = text.split(separator), 0, []
    for number, piece in enumerate(pieces):
        end = start + len(piece)
        if number < len(pieces) - 1 and end + len(separator) < len(text):
            end += len(separator)
        spans.append([start, end])
        start = end
    return spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        ("ab", [[0, 2]]),
        ("ab\nc", [[0, 3], [3, 4]]),
        ("ab\nc\n", [[0, 3], [3, 4], [4, 4]]),
        ("\n", [[0, 0], [0, 0]]),
        ("\n\n", [[0, 1], [1, 1], [1, 1]]),
        ("é👋\n中", [[0, 3], [3, 4]]),
        ("\nab", [[0, 1], [1, 3]]),
    ],
)
def test_a_paragraph_takes_its_newline_along_except_the_one_that_ends_the_text(text, spans):
    found = hash_paragraphs([text])

    assert paragraph_spans(found.counts, found.lengths).tolist() == spans


@settings(deadline=None)
@given(texts=texts, separator=st.sampled_from(["\n", "a", "\n\n", "é\n", "👋"]))
@example(texts=["x\n\n\ny", "", "\n\n", "x\n\n"], separator="\n\n")
def test_spans_of_many_texts_are_those_of_each(texts, separator):
    found = hash_paragraphs(texts, separator)

    spans = [span for text in texts for span in spans_one_by_one(text, separator)]
    assert paragraph_spans(found.counts, found.lengths, len(separator)).tolist() == spans
    assert found.counts.tolist() == [len(text.split(separator)) if text else 0 for text in texts]


@settings(deadline=None)
@given(texts=texts, min_length=st.integers(0, 3), min_words=st.integers(0, 2), skip_empty=st.booleans())
def test_each_paragraph_is_hashed_unless_it_is_left_out(texts, min_length, min_words, skip_empty):
    found = hash_paragraphs(texts, skip_empty=skip_empty, min_length=min_length, min_words=min_words)

    expected = [
        bytes(16)
        if len(piece) < min_length or num_words(piece) < min_words or (skip_empty and is_blank(piece))
        else xxhash.xxh3_128_digest(piece.encode())
        for text in texts
        if text
        for piece in text.split("\n")
    ]
    assert [bytes(row) for row in found.hashes] == expected
    assert is_compared(found.hashes).tolist() == [row != bytes(16) for row in expected]


def test_unicode_white_space_is_blank_and_control_characters_are_not():
    assert is_blank("\u3000\x85\u2028 \t")
    assert not is_blank("\x1c")


def test_texts_without_paragraphs_give_empty_arrays():
    found = hash_paragraphs(["", ""])

    assert found.counts.tolist() == [0, 0]
    assert found.hashes.shape == (0, 16)
    assert paragraph_spans(found.counts, found.lengths).shape == (0, 2)
    assert np.array_equal(paragraph_spans(np.array([0, 1]), np.array([3], np.uint32)), [[0, 3]])
