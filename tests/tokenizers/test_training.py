"""Merges depend on the counts of words alone, and are those of the tokenizers library."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer
from mixle_assets.tokenizers.training import count_words, learn_merges, trained_json

GOLDEN = Path(__file__).parents[1] / "golden"
LINES = (GOLDEN / "tokens_small_documents.jsonl").read_text().splitlines()
DOCUMENTS = [json.loads(line)["text"] for line in LINES]


def test_the_most_frequent_pair_is_merged_first():
    learned = learn_merges({"aab": 2, "ab": 1, "x": 9}, 300)

    assert learned.merges == [("a", "b"), ("a", "ab")]
    assert learned.tokens[256:] == ["ab", "aab"]


def test_of_equally_frequent_pairs_the_older_tokens_go_first():
    learned = learn_merges({"cd": 2, "ab": 2, "ba": 3}, 300)

    assert learned.merges == [("b", "a"), ("a", "b"), ("c", "d")]


def test_overlapping_pairs_are_merged_from_the_left():
    assert learn_merges({"aaaaa": 2}, 300).merges == [("a", "a"), ("aa", "a"), ("aa", "aaa")]


def test_a_token_made_in_two_ways_is_one_token():
    learned = learn_merges({"abc": 2, "ab": 9, "bc": 8, "bcabc": 5, "zbc": 7, "z": 1, "abcabc": 3}, 300)

    assert len(set(learned.tokens)) == len(learned.tokens)
    assert {left + right for left, right in learned.merges} == set(learned.tokens[256:])


def test_learning_stops_at_the_size_or_when_no_pair_occurs_twice():
    assert len(learn_merges({"abcdef": 2}, 258).tokens) == 258
    assert learn_merges({"abc": 1, "xyz": 1}, 300).merges == []
    assert learn_merges({}, 300).merges == []


def library_merges(texts, num_tokens):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=num_tokens,
        min_frequency=2,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def test_the_merges_are_those_of_the_library():
    texts = [path.read_text() for path in sorted((Path(__file__).parents[1]).rglob("test_*.py"))]

    assert learn_merges(count_words(texts), 3000).merges == library_merges(texts, 3000)


@given(texts=st.lists(st.text(alphabet="abcé ", max_size=12), max_size=12))
@settings(deadline=None, max_examples=60)
def test_the_order_of_texts_does_not_matter_and_nothing_is_lost(texts):
    learned = learn_merges(count_words(texts), 280)

    assert learned == learn_merges(count_words(reversed(texts)), 280)
    assert learned == learn_merges(Counter(dict(sorted(count_words(texts).items()))), 280)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(trained_json(learned, ["<|endoftext|>"])))
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


TRAIN = """
import hashlib, json, pathlib, sys
from mixle_assets.tokenizers.training import count_words, learn_merges, trained_json
texts = [json.loads(line)["text"] for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
parsed = trained_json(learn_merges(count_words(texts), 400), ["<|endoftext|>"])
print(hashlib.sha256(json.dumps(parsed).encode()).hexdigest())
"""


def test_hash_seeds_and_threads_leave_no_trace():
    found = set()
    for seed, threads in (("0", "1"), ("1", "4"), ("271828", "2")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", TRAIN, str(GOLDEN / "tokens_small_documents.jsonl")],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        found.add(done.stdout)

    assert len(found) == 1


def test_special_tokens_take_the_last_ids(tmp_path):
    path = tmp_path / "tokenizer.json"
    learned = learn_merges(count_words(DOCUMENTS), 300)
    path.write_text(json.dumps(trained_json(learned, ["<end>", "<begin>", "<end>"])))

    tokenizer = load_tokenizer(Tokenizer(file=str(path), boundary="<end>", bos="<begin>"))

    assert (tokenizer.boundary_id, tokenizer.bos_id, tokenizer.vocabulary_size) == (300, 301, 302)
    assert tokenizer.lossless
    assert tokenizer.decode(tokenizer.encode(DOCUMENTS[15])) == DOCUMENTS[15]
