"""Repetitions are found as a backtracking engine finds them, in linear time."""

import functools
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.registry import resolve_tagger
from mixle_assets.tagging.repetition_kernel import find_repeated_units
from mixle_assets.tagging.token_periods import PeriodicTokens, find_periods
from mixle_assets.tagging.views import view_of_text

PATTERN = re.compile(r"(.+?)(?:\s?\1){3,}")
TOKENIZER = str(Path(__file__).parent.parent / "golden" / "repetition_tokenizer.json")

repetitive = st.one_of(
    *(
        st.lists(st.sampled_from(pieces), max_size=25).map("".join)
        for pieces in (
            ["a", " "],
            ["a", "b", " ", "\n"],
            ["ab", "c", "\x1c", "\u2003"],
            ["hello", "world", " "],
            ["0123456789" * 9, "x", "\n", " "],
            ["é", "😀", "\t"],
        )
    )
)


def by_pattern(text):
    return [
        (found.start(), found.end(), found.group().count(found.group(1))) for found in PATTERN.finditer(text)
    ]


@settings(deadline=None, max_examples=500)
@given(repetitive)
def test_repeated_units_are_found_as_the_pattern_finds_them(text):
    assert find_repeated_units(text) == by_pattern(text)


def test_a_long_unit_is_found_and_one_beyond_the_limit_is_not():
    def unit_of(length):
        return np.random.RandomState(length).choice(list("abcdefgh"), length).tolist()

    for length in (7, 8, 63, 64, 65, 511, 512, 5000, 32_767):
        text = "xyz " + "".join(unit_of(length)) * 4 + " end"
        assert find_repeated_units(text)[-1] == (4, 4 + 4 * length, 4), length
    assert all(end - start < 1000 for start, end, _ in find_repeated_units("".join(unit_of(33_000)) * 4))


def test_windows_of_a_long_text_change_nothing():
    text = ("word " * 4 + "and more of it. " + "go\n" * 5) * 30_000
    expected = by_pattern(text[:52])

    found = find_repeated_units(text)

    assert len(text) > 1_500_000
    assert found[: len(expected)] == expected
    assert len({end - start for start, end, _ in found[:-1]}) <= 3


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "ab" * 1_000_000,
        ("lorem ipsum dolor " * 3 + "sit ") * 50_000,
        "abc def ghi jkl " * 3 + "m" * 9,
    ],
)
def test_a_pathological_text_takes_time_in_proportion_to_its_length(text):
    find_repeated_units("aaaa")
    started = time.process_time()
    find_repeated_units(text)

    assert time.process_time() - started < 5  # seconds


def test_plain_python_finds_the_same_without_numba():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from mixle_assets.tagging.repetition_kernel import find_repeated_units\n"
        "from mixle_assets.tagging.text_counts import count_text, count_text_plainly\n"
        "text = 'no no no no end ' + 'abcdefghij' * 5 + ' x'\n"
        "assert count_text(text) == count_text_plainly(text)\n"
        "print(find_repeated_units(text))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.stdout.strip(), done.returncode) == ("[(0, 11, 4), (16, 66, 5)]", 0), done.stderr


def by_definition(ids):
    rows = []
    for period in range(1, min(13, len(ids) // 3) + 1):
        run = 0
        for place in range(period, len(ids) + 1):
            if place < len(ids) and ids[place] == ids[place - period]:
                run += 1
                continue
            if run >= 2 * period:
                rows.append([place - run - period, place, (run + period) // period])
            run = 0
    return rows


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=120), max_size=4))
def test_periods_of_tokens_are_those_of_the_definition(texts):
    ids = np.array([one for text in texts for one in text], np.uint32)

    found = find_periods(ids, np.array([len(text) for text in texts], np.int64))

    assert found.tolist() == [
        [number, *row] for number, text in enumerate(texts) for row in by_definition(text)
    ]


@functools.cache
def loaded():
    return Tokenizer.from_file(TOKENIZER), PeriodicTokens(TOKENIZER)


@settings(deadline=None)
@given(st.text(st.sampled_from(list("go 1=é中👍\n\t…")), max_size=40))
def test_offsets_reckoned_from_ids_are_those_of_the_library(text):
    library, tokens = loaded()
    encoding = library.encode(text, add_special_tokens=False)

    found = tokens._offsets.of(text, np.array(encoding.ids, np.int64))

    if found is not None:
        assert list(zip(*(places.tolist() for places in found), strict=True)) == encoding.offsets
    else:
        assert not text or not text.isascii()


def test_of_sequences_inside_another_only_the_outer_is_kept():
    text = view_of_text("x go go go go go go go go")
    use = {"tokenizer": TOKENIZER}

    def spans(name):
        return resolve_tagger(TaggerUse(tagger=name, parameters=use)).measure(text).get("repetition")

    assert spans("tokenizer_repetitions_v1") == [[2, 25, 8], [2, 25, 4]]
    assert spans("tokenizer_repetitions_v2r2") == [[2, 25, 8]]


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["go ", "no", "1", "=", "\n", "é"]), max_size=30).map("".join), max_size=5
    )
)
@pytest.mark.parametrize("kind", ["tokenizer_repetitions_v1", "paragraph_tokenizer_repetitions_v1"])
def test_documents_measured_together_are_measured_as_alone(kind, texts):
    measure = resolve_tagger(TaggerUse(tagger=kind, parameters={"tokenizer": TOKENIZER})).measure
    views = [view_of_text(text) for text in texts]

    assert measure.measure_all(views) == [measure(view) for view in views]
