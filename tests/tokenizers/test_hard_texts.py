"""Texts that made tokenizers hang, panic or swell end in time, in every engine, and memory levels off."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")
ENGINES = ["tokenizers", "fastokens", "gigatoken", "pieces"]

RUNS = {
    "carets": "^" * 1_000_000,
    "letters": "a" * 100_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "digits": "0123456789" * 50_000,
    "ideographs": "漢字" * 100_000,
    "one word": "tokenizer" * 50_000,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", list(RUNS))
def test_a_run_of_one_kind_takes_no_more_than_linear_time(engine, name):
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, engine=engine))
    text = RUNS[name]
    eighth = text[: len(text) // 8]

    def seconds(part):
        before = time.process_time()
        tokenizer.encode_flat([part])
        return time.process_time() - before

    small = min(seconds(eighth) for _ in range(2))
    whole = min(seconds(text) for _ in range(2))

    # Quadratic time would be 64 times as much; noise and n log n stay far below.
    assert whole < 24 * small + 0.5


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_comes_back_as_it_was(engine):
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, engine=engine))

    for text in RUNS.values():
        part = text[:50_000]
        assert tokenizer.decode(tokenizer.encode(part)) == part


MEASURE = """
import random, resource, sys
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer
tokenizer = load_tokenizer(Tokenizer(file=sys.argv[1], engine=sys.argv[2]))
words = random.Random(0)
for number in range(100):
    tokenizer.encode_flat([" ".join(format(words.getrandbits(40), "x") for _ in range(5_000))])
    if number in (9, 99):
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_memory_levels_off_on_texts_of_ever_new_words(engine):
    # 100 documents of 50 kB, no word twice: a cache without bound would keep half a million of them.
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, SMALL, engine], capture_output=True, text=True, check=True
    )
    early, late = map(int, done.stdout.split())

    assert late < 1.5 * early
