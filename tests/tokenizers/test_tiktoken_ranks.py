"""Ranks files become the tokenizer.json that gives tiktoken's ids."""

import base64
import json
from pathlib import Path

import pytest
import tiktoken

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer, tiktoken_ranks
from mixle_assets.tokenizers.byte_level import byte_spelling
from mixle_assets.tokenizers.probes import probe_texts

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = GOLDEN / "tokens_small_tokenizer.json"

# tiktoken's own patterns for these encodings (tiktoken_ext.openai_public, 0.14), as an oracle for ours.
PATTERNS = {
    "gpt2": r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    "cl100k_base": (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"""
        r"""\s*[\r\n]|\s+(?!\S)|\s"""
    ),
    "o200k_base": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def ranks():
    """The vocabulary trained for the tests, with the rank of a token its id."""
    byte_of = {character: byte for byte, character in enumerate(byte_spelling())}
    vocabulary = json.loads(SMALL.read_text())["model"]["vocab"]
    return {bytes(byte_of[character] for character in token): rank for token, rank in vocabulary.items()}


@pytest.fixture(scope="module")
def path(ranks, tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks") / "own.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    return str(path)


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_the_ids_are_those_of_tiktoken(name, ranks, path):
    encoding = tiktoken.Encoding(
        "own", pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 464}
    )
    tokenizer = load_tokenizer(Tokenizer(tiktoken=path, pattern=name))

    for text in probe_texts(["<|endoftext|>"]):
        assert tokenizer.encode(text) == encoding.encode_ordinary(text)
    assert (tokenizer.boundary_id, tokenizer.vocabulary_size, tokenizer.lossless) == (464, 465, True)


def test_a_pattern_of_ones_own_splits_the_text(path):
    tokenizer = load_tokenizer(Tokenizer(tiktoken=path, pattern=r"[a-z]|[^a-z]+", boundary=None))

    assert len(tokenizer.encode("document")) == 8
    assert tokenizer.vocabulary_size == 464


def test_named_tokens_take_the_ids_after_the_ranks(path):
    tokenizer = load_tokenizer(Tokenizer(tiktoken=path, pattern="gpt2", boundary="<end>", bos="<begin>"))

    assert (tokenizer.boundary_id, tokenizer.bos_id) == (464, 465)
    assert tokenizer.decode([465, *tokenizer.encode("a<end>"), 464]) == "<begin>a<end><end>"


def test_ranks_that_are_not_published_need_a_pattern(path):
    with pytest.raises(
        RecipeError, match=r"own\.tiktoken: 464 ranks of no file known here \(gpt2, p50k_base, cl100k"
    ):
        load_tokenizer(Tokenizer(tiktoken=path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"IQ== 0\nIQ==\n", ":2: not a line of tiktoken ranks: b'IQ=='"),
        (b"IQ== zero\n", ":1: not a line of tiktoken ranks"),
        (b"I! 0\n", ":1: not a line of tiktoken ranks"),
        (b"IQ== 0\nIQ== 1\n", r":2: the token b'!' has two ranks"),
        (b"IQ== 0\n", "no tiktoken ranks: 255 of the 256 bytes have no rank"),
    ],
)
def test_a_broken_ranks_file_is_an_error_with_its_line(content, message):
    with pytest.raises(InputError, match=message):
        tiktoken_ranks.parse_ranks(content, "r.tiktoken")


def test_two_tokens_of_one_rank_are_refused():
    content = b"".join(base64.b64encode(bytes([byte])) + b" 0\n" for byte in range(256))

    with pytest.raises(InputError, match="two tokens share a rank"):
        tiktoken_ranks.parse_ranks(content, "r.tiktoken")


def test_merges_are_the_last_step_of_making_each_token():
    # "abc" could be a+bc or ab+c; ab ranks lower, so it is merged first and abc is made of ab and c.
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5, b"zz": 6}

    assert tiktoken_ranks.merges_of(ranks) == [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c")]


def test_a_published_file_is_recognised_by_its_content_not_its_name():
    assert tiktoken_ranks.digest_of_ranks({b"a": 0, b"b": 1}) == tiktoken_ranks.digest_of_ranks(
        {b"b": 1, b"a": 0}
    )
    assert tiktoken_ranks.digest_of_ranks({b"a": 0, b"b": 1}) != tiktoken_ranks.digest_of_ranks(
        {b"a": 1, b"b": 0}
    )
