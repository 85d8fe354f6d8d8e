"""What our own taggers do better than the names they replace, and what every tagger must do."""

import math
import random
from pathlib import Path

import pytest
from small_model import write_model

from mixle_assets.recipe import TaggerUse
from mixle_assets.segmentation.word_breaks import count_segments
from mixle_assets.tagging.registry import keys_of, registered_taggers, resolve_tagger
from mixle_assets.tagging.views import view_of_text

TOKENIZER = str(Path(__file__).parent.parent / "golden" / "repetition_tokenizer.json")


def measure(name, text, metadata=None, **parameters):
    return resolve_tagger(TaggerUse(tagger=name, parameters=parameters)).measure(view_of_text(text, metadata))


@pytest.fixture
def required(tmp_path):
    """Return the parameters a tagger cannot do without."""

    def parameters_of(name):
        if "repetitions" in name and "token" in name:
            return {"tokenizer": TOKENIZER}
        if any(part in name for part in ("list", "_abp_", "filter_rules")):
            (tmp_path / "list").write_text("bad.org\n", encoding="utf-8")
            return {"url_list": str(tmp_path / "list")}
        if any(part in name for part in ("ft_lang", "fasttext", "dclm", "dolma17", "jigsaw")):
            return {"model": write_model(tmp_path / "model.bin")}
        return {}

    return parameters_of


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "!!!", "a", "日本語", "\x00", "👨‍👩‍👧"])
def test_every_tagger_gives_finite_numbers_and_spans_inside_the_text(text, required):
    for name, entry in registered_taggers().items():
        tagger = resolve_tagger(TaggerUse(tagger=name, parameters=required(name)))
        for measured, spans in tagger.measure(view_of_text(text)).items():
            assert tagger.measures is None or measured in tagger.measures, name
            for start, end, score in [[0, 0, spans]] if isinstance(spans, int | float) else spans:
                assert 0 <= start <= end <= len(text), (name, entry)
                assert math.isfinite(score), (name, measured)


def test_every_tagger_measures_a_text_alike_each_time(required):
    text = " ".join(random.Random(0).choices(["word", "a@b.co", "…", "\n", "12.3.4.5", "{", "é"], k=200))
    for name in registered_taggers():
        use = TaggerUse(tagger=name, parameters=required(name))
        assert resolve_tagger(use).measure(view_of_text(text)) == resolve_tagger(use).measure(
            view_of_text(text)
        ), name


def test_blank_lines_are_duplicates_for_gopher_v1_and_none_for_gopher_v3():
    text = "a\n\nb\n\nc"

    assert measure("gopher_v1", text)["fraction_of_duplicate_lines"] == 2 / 5
    assert measure("gopher_v3", text)["fraction_of_duplicate_lines"] == 0
    assert measure("gopher_v3", "a b\n \na b\n \n")["fraction_of_duplicate_lines"] == 1
    assert measure("gopher_v3", "a b\n \na b\n \n")["fraction_of_characters_in_duplicate_lines"] == 6 / 8


def test_c4_v3_measures_the_text_and_not_its_lower_case():
    text = "İSTANBUL İİİ line one\nsecond LİNE here now.\n"

    assert measure("c4_v3", text) == {"lines_with_no_ending_punctuation": [[0, 22, 1.0]], "line_count": 2}
    assert measure("c4_v2", text)["lines_with_no_ending_punctuation"] == [[0, 26, 1.0], [44, 44, 1.0]]
    assert measure("c4_v3", "")["line_count"] == 0


def test_c4_without_a_word_list_says_that_it_will_find_no_naughty_word(tmp_path):
    (tmp_path / "words").write_text("\ufeffSex\r\nbarely legal\r\n", encoding="utf-8")
    without, with_list = (
        TaggerUse(tagger="c4_v2", parameters=given) for given in ({}, {"word_list": str(tmp_path / "words")})
    )

    assert "s__c4_v2__has_naughty_word" not in keys_of("s", without)
    assert "s__c4_v2__has_naughty_word" in keys_of("s", with_list)
    assert resolve_tagger(with_list).measure(view_of_text("about SEX here"))["has_naughty_word"] == 1.0
    assert resolve_tagger(with_list).measure(view_of_text("a Barely Legal line"))["has_naughty_word"] == 1.0


def test_a_host_is_found_below_its_domain_and_not_by_letters_left_out(tmp_path):
    (tmp_path / "list").write_text("www.wikipedia.org\nbad.example\n", encoding="utf-8")

    def blocked(name, url):
        return bool(measure(name, "body", {"url": url}, url_list=str(tmp_path / "list")))

    assert blocked("domain_list_v1", "http://ikipedia.org/x")
    assert not blocked("domain_list_v2", "http://ikipedia.org/x")
    assert not blocked("domain_list_v1", "http://en.wikipedia.org/x")
    assert blocked("domain_list_v2", "http://en.wikipedia.org/x")
    assert blocked("domain_list_v2", "https://bad.example:8080")
    assert not blocked("domain_list_v2", "https://notbad.example")


@pytest.mark.parametrize(
    ("text", "segments", "words"),
    [
        ("can't stop", 3, 2),
        ("3.14 and 1,000", 5, 3),
        ("👨‍👩‍👧‍👦🇺🇸🇫🇷", 3, 3),
        ("中文 カタカナ", 4, 3),
        ("צה\"ל ג'", 3, 2),
        ("a  b\r\nc", 5, 3),
        ("", 0, 0),
    ],
)
def test_words_are_cut_by_unicodes_default_rules(text, segments, words):
    assert count_segments(text) == (segments, words)
