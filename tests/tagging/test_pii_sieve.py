"""The sieve before the PII taggers: it misses nothing, and no row differs for it."""

import gzip
import json
import re
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import EvaluationError
from mixle_assets.formats.codecs import write_shard
from mixle_assets.formats.documents import read_texts
from mixle_assets.formats.lines import read_lines
from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging import pii_sieve
from mixle_assets.tagging.entries import Sieve
from mixle_assets.tagging.pii_sieve import EMAIL, IP, OTHER_DIGITS, PHONE, CandidateFinder
from mixle_assets.tagging.registry import Tagger, registered_taggers
from mixle_assets.tagging.set_pass import make_pass
from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file
from mixle_assets.tagging.views import view_of_text

SIEVED = [name for name, entry in registered_taggers().items() if entry.sieve is not None]
BIT_OF = {"EMAIL_ADDRESS": EMAIL, "PHONE_NUMBER": PHONE, "IP_ADDRESS": IP}

# What the patterns are made of, and what stands around it; in pieces, so that many a text holds something.
PIECES = st.sampled_from(
    [
        *' \n\t\r\\"/()-.,:@?#ntx1',
        *("\u00a0", "\u2003", "\u3000", "\x1c", "\x85", "é", "，", "👍"),
        *("\u0660\u0661\u0662", "\uff11\uff12\uff13", "\U0001d7ce" * 4),
        *("12", "123", "1234", "1234567890", "555-123-4567", "(555) 123", "10.0.0.1", ".1"),
        *("me", "me@x.org", "ab.cd", "isbn", "\\n"),
    ]
)
LONG = 300_000
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def lines_of(tmp_path, *lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def bits_of(tmp_path, *lines):
    finder = CandidateFinder()
    return [bits for block in read_lines(str(lines_of(tmp_path, *lines))).blocks() for bits in finder(block)]


def as_line(text, *, escaped=False):
    return json.dumps({"id": "a", "text": text}, ensure_ascii=escaped).encode()


def test_lines_are_told_by_what_they_may_hold(tmp_path):
    texts = ["me@x.org ", "3.14", "call 555-123-4567", "at 10.0.0.1", "\u0661", "from me@x.org to 10.0.0.1"]

    assert bits_of(tmp_path, *map(as_line, texts)) == [EMAIL, 0, PHONE, IP, PHONE | OTHER_DIGITS, EMAIL | IP]


@pytest.mark.parametrize(
    "text",
    [
        "@decorator\ndef f(): pass",
        "a line\n@node Top",
        "at @ home",
        "the years 2004-2005, 20041234",
        "00000006-6991a7-1234567",
        "version 1.2.3",
        "，。！ 中文字 👍🏽 naïve café שלום",
    ],
)
def test_a_line_with_nothing_alike_is_passed_over(text, tmp_path):
    assert bits_of(tmp_path, as_line(text), as_line(text, escaped=True)) == [0, 0]


def test_what_is_escaped_and_may_be_a_digit_or_an_at_is_looked_at(tmp_path):
    lines = [
        rb'{"id":1,"text":"me\u0040x.org "}',
        rb'{"id":2,"text":" 555-123-456\u0037"}',
        rb'{"text":"\u0661"}',
    ]

    assert [bits > 0 for bits in bits_of(tmp_path, *lines)] == [True, True, True]


@pytest.mark.parametrize("distance", range(-20, 4))
def test_what_lies_across_the_end_of_a_piece_is_found(distance, tmp_path):
    end_of_piece = 128 * 1024
    for text, bit in (
        (" 555-123-4567", PHONE),
        ("10.20.30.40", IP),
        ("me@x.org ", EMAIL),
        ("\u0661", OTHER_DIGITS),
    ):
        start = b'{"id":"a","text":"'
        line = start + b"x" * (end_of_piece - len(start) + distance) + text.encode() + b'"}'

        assert bits_of(tmp_path, line)[0] & bit


@settings(deadline=None, max_examples=200)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6), escaped=st.booleans())
def test_no_line_with_a_span_is_passed_over(texts, escaped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")

    for bits, text in zip(
        bits_of(folder, *(as_line(text, escaped=escaped) for text in texts)), texts, strict=True
    ):
        for name in SIEVED:
            found = registered_taggers()[name].make(view_of_text(text))
            missed = [measure for measure, bit in BIT_OF.items() if found.get(measure) and not bits & bit]
            assert missed == []


@pytest.mark.parametrize("name", SIEVED)
@settings(deadline=None, max_examples=60)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_rows_and_distributions_are_those_without_a_sieve(name, texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    ids = ["a", 'quote"', "back\\slash", 7, None, "é\n"]
    rows = [{"id": id_, "text": text, "source": "s"} for id_, text in zip(ids, texts, strict=False)]
    path = lines_of(folder, *(json.dumps(row).encode() for row in rows))
    alone, beside = (TaggerUse(tagger=name),), (TaggerUse(tagger=name), TaggerUse(tagger="char_length_v1"))
    sets = tuple(
        TaggerSet("s", uses, str(folder / f"{number}.jsonl.gz"))
        for number, uses in enumerate((alone, beside))
    )
    (sieved,) = tag_file(TagTask(str(path), "a", "s", sets[:1])).values()
    (general,) = tag_file(TagTask(str(path), "a", "s", sets[1:])).values()

    def without_length(row):
        row["attributes"].pop("s__char_length_v1__length", None)
        return row

    of_sieved, of_general = (
        [
            without_length(json.loads(row))
            for row in gzip.decompress(Path(one.output).read_bytes()).splitlines()
        ]
        for one in sets
    )
    assert of_sieved == of_general
    general.details["measures"].pop("s__char_length_v1__length")
    assert sieved.details["measures"] == general.details["measures"]


def test_every_digit_beyond_ascii_begins_as_the_table_says():
    pairs = {first for first in pii_sieve.DIGITS.split() if "-" not in first}
    for run in (one for one in pii_sieve.DIGITS.split() if "-" in one):
        first, last = (int(end, 16) for end in run.split("-"))
        pairs |= {f"{pair:04x}" for pair in range(first, last + 1)}
    wide = {f"{pair:04x}" for pair in (*range(0xBC90, 0xBC9A), 0x9FAF)}
    digits = [chr(code) for code in range(0x80, sys.maxunicode) if unicodedata.category(chr(code)) == "Nd"]
    begins = {digit.encode().hex() for digit in digits}

    assert len(begins) >= 650
    assert [one for one in begins if one[:4] not in pairs and one[2:6] not in wide] == []


def test_no_escape_that_is_passed_over_is_a_digit_or_white_space_or_ascii():
    passed_over = [
        chr(code)
        for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1))
        if not pii_sieve.DOUBTFUL_ESCAPE.match(json.dumps(chr(code))[1:7].encode())
        and json.dumps(chr(code)).startswith('"\\u')
    ]

    assert len(passed_over) > 30_000
    assert [one for one in passed_over if one.isascii() or re.match(r"[\d\s]", one)] == []


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            lambda view, may_hold: {"it": [[0, 99, 1.0]]},
            r"\[0, 99, 1.0\] is not inside the text of 5 characters",
        ),
        (lambda view, may_hold: {"it": 1 / (may_hold - 3)}, "the tagger failed: ZeroDivisionError"),
    ],
)
def test_a_fault_behind_a_sieve_is_named_with_its_place(measure, message, tmp_path):
    path = lines_of(tmp_path, as_line("first"), b"", as_line("third"), as_line("other"))
    sieve = Sieve(lambda: lambda block: [0, 0, 3, 0], measure, lambda text: (0.0,), ("it",))
    tagger = Tagger("mine", "mine", view_of_text, ("it",), (), 0, sieve, None)

    with (
        pytest.raises(EvaluationError, match=message) as raised,
        write_shard(str(tmp_path / "out"), "") as writer,
    ):
        rows = make_pass("s", (tagger,), writer)
        for block, documents in read_texts(str(path)).blocks():
            rows.write_block(block, list(documents), str(path))

    error = raised.value
    assert (error.rule, error.document_id, error.path, error.line) == ("mine", "a", str(path), 3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text", ["@" * LONG, "a@" * LONG, "1" * LONG, "1.1." * LONG, "\u0661" * LONG, "? 555" * LONG]
)
def test_a_pathological_line_takes_time_in_proportion_to_its_length(text, tmp_path):
    path = lines_of(tmp_path, as_line(text), as_line(text[: 10**5], escaped=True))
    task = TagTask(
        str(path), "a", "s", (TaggerSet("s", (TaggerUse(tagger=SIEVED[2]),), str(tmp_path / "out.jsonl")),)
    )
    started = time.process_time()
    tag_file(task)

    assert time.process_time() - started < 5  # seconds


def test_a_tagger_alone_in_its_set_goes_behind_its_sieve():
    taggers = registered_taggers()

    assert SIEVED == [
        "pii_regex_v1",
        "pii_regex_v2",
        "pii_regex_with_counts_fast_v2",
        "pii_regex_with_counts_v2",
    ]
    assert all(taggers[name].sieve.make is CandidateFinder for name in SIEVED)
