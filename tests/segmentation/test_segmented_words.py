"""Words by UAX 29, as a second implementation cuts them, and runs of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.deduping.ngrams import hash_ngram, ngram_starts
from mixle_assets.segmentation.words import is_blank, num_words, split_by_classes, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("can't stop, U.S.A. 3.14 and 1,000.5!", "can't|stop|,|U.S.A|.|3.14|and|1,000.5|!"),
        ("foo@bar.com a_b x-y a:b 12:30", "foo|@|bar.com|a_b|x|-|y|a:b|12|:|30"),
        ("L'école d’été nai\u0308ve", "L'école|d’été|nai\u0308ve"),
        ("中文字 ひら カタカナ_x", "中|文|字|ひ|ら|カタカナ_x"),
        ("สวัสดี नमस्ते مرحبا", "ส|วั|ส|ดี|नमस्ते|مرحبا"),
        ("👋🏽 👨\u200d👩\u200d👧 🇩🇪🇫🇷🇵", "👋🏽|👨\u200d👩\u200d👧|🇩🇪|🇫🇷|🇵"),
        ("צה״ל צה\"ל ג'", "צה״ל|צה\"ל|ג'"),
        (" \n\u3000\u2028", ""),
        ("a\u200bb\x1cc", "a|\u200b|b|\x1c|c"),
    ],
)
def test_words_are_the_segments_of_uax_29_that_are_not_blank(text, words):
    # As the package regex 2026.11.19 cuts at (?w)\b, blank pieces left out.
    assert split_words(text) == (words.split("|") if words else [])


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_the_short_way_for_ascii_gives_the_same_words(text):
    assert split_words(text) == split_by_classes(text)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_words_hold_all_that_is_not_blank(text):
    assert "".join("".join(split_words(text)).split()) == "".join(
        "".join(c for c in text if not is_blank(c)).split()
    )


def test_only_words_with_a_letter_or_a_digit_are_counted():
    assert num_words("Hello, world! 中文 42 ...") == 5


@pytest.mark.parametrize(
    ("num_words", "length", "stride", "starts"),
    [
        (9, 3, 2, [0, 1, 3, 5]),
        (9, 3, 0, [0, 1, 2, 3, 4, 5, 6]),
        (3, 3, 1, [0]),
        (2, 3, 1, []),
        (8, 2, 3, [0, 1, 4]),
    ],
)
def test_runs_start_where_those_of_dolma_do(num_words, length, stride, starts):
    assert ngram_starts(num_words, length, stride) == starts


def test_a_run_is_not_the_text_of_its_words_unless_it_is_one_word():
    assert hash_ngram(["a", "b"]) != hash_ngram(["a b"])
    assert hash_ngram(["a", "b"]) != hash_ngram(["a", "b", "c"][:1])
