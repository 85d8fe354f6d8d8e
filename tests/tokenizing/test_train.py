"""A tokenizer trained on the corpus: the sample, the file, and the same bytes each time."""

import json
from pathlib import Path

import pytest

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Tokenizer
from mixle_assets.records import Counts
from mixle_assets.tokenizers import load_tokenizer
from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard
from mixle_assets.tokenizing.train import TrainTask, sample_texts, train_tokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
DOCUMENTS = str(GOLDEN / "tokens_small_documents.jsonl")
SMALL = GOLDEN / "tokens_small_tokenizer.json"
SPEC = Tokenizer(train={"vocab_size": 512}, bos="<|bos|>")


def test_training_gives_the_recorded_file(tmp_path):
    output = tmp_path / "tokenizer.json"

    written = train_tokenizer(TrainTask((DOCUMENTS,), SPEC, str(output)))

    assert output.read_bytes() == SMALL.read_bytes()
    # The sample has no more pairs that occur twice, so it ends below 512.
    assert written.details == {
        "vocabulary_size": 466,
        "num_merges": 208,
        "num_words": 170,
        "sample_in_bytes": 1285,
    }
    assert (written.counts.num_in, written.counts.num_out, written.counts.num_missing) == (24, 24, 0)
    assert written.size_in_bytes == output.stat().st_size


def split_into(tmp_path, parts):
    lines = Path(DOCUMENTS).read_text().splitlines(keepends=True)
    paths = []
    for part in range(parts):
        path = tmp_path / f"part{part}.jsonl"
        path.write_text("".join(lines[part::parts]))
        paths.append(str(path))
    return paths


def test_the_order_and_number_of_shards_leave_no_trace(tmp_path):
    output = tmp_path / "tokenizer.json"
    paths = split_into(tmp_path, 3)
    found = set()
    for order in (paths, paths[::-1], [DOCUMENTS]):
        train_tokenizer(TrainTask(tuple(order), SPEC, str(output), sample_in_bytes=700))
        found.add(output.read_bytes())

    assert len(found) == 1


def test_the_sample_is_bounded_seeded_and_grows_without_losing_a_document(tmp_path):
    counts = Counts()
    small = sample_texts([DOCUMENTS], 300, 0, counts)
    large = sample_texts([DOCUMENTS], 600, 0, Counts())
    other = sample_texts([DOCUMENTS], 300, 1, Counts())

    assert sum(len(text.encode()) for text in small) <= 300
    assert sum(len(text.encode()) for text in large) > 300
    assert large[: len(small)] == small
    assert set(other) != set(small)
    assert counts.num_out == len(small)
    assert counts.dropped == {"not_sampled": 24 - len(small)}


def test_special_tokens_have_the_last_ids_and_never_come_out_of_a_text(tmp_path):
    shard = tmp_path / "a.jsonl"
    shard.write_text(json.dumps({"id": 1, "text": "<|endoftext|> <|endoftext|> <|endoftext|>"}) + "\n")
    output = str(tmp_path / "tokenizer.json")
    spec = Tokenizer(train={"vocab_size": 300})
    train_tokenizer(TrainTask((str(shard),), spec, output))

    tokenizer = load_tokenizer(spec, trained=output)
    written = tokenize_shard(
        TokenizeTask(
            key="prose/0000",
            mixed_shard=str(shard),
            tokenizer=spec,
            trained=output,
            output=str(tmp_path / "a.arrow"),
        )
    )

    assert tokenizer.boundary_id == tokenizer.vocabulary_size - 1
    assert tokenizer.boundary_id not in tokenizer.encode("<|endoftext|>")
    assert written.read == {}  # the trained file is one of our own outputs
    assert written.counts.noted == {"special_strings": 3}


@pytest.mark.parametrize("vocab_size", [258, 260, 300])
def test_the_size_is_reached_exactly_where_the_sample_allows(tmp_path, vocab_size):
    spec = Tokenizer(train={"vocab_size": vocab_size}, bos="<|bos|>")
    output = str(tmp_path / "tokenizer.json")

    written = train_tokenizer(TrainTask((DOCUMENTS,), spec, output))

    assert written.details["vocabulary_size"] == vocab_size
    assert load_tokenizer(spec, trained=output).vocabulary_size == vocab_size


def test_no_room_for_the_special_tokens_is_refused(tmp_path):
    spec = Tokenizer(train={"vocab_size": 257}, bos="<|bos|>")

    with pytest.raises(
        RecipeError, match=r"vocab_size: must be at least 258 for 256 bytes and '<\|endoftext\|>'"
    ):
        train_tokenizer(TrainTask((DOCUMENTS,), spec, str(tmp_path / "tokenizer.json")))


def test_nothing_to_learn_from_is_an_error(tmp_path):
    shard = tmp_path / "a.jsonl"
    shard.write_text('{"id": 1, "text": " "}\n')

    with pytest.raises(InputError, match="none of 1 documents has a text to learn from"):
        train_tokenizer(TrainTask((str(shard),), SPEC, str(tmp_path / "tokenizer.json")))
    assert not (tmp_path / "tokenizer.json").exists()


def test_a_tokenizer_that_is_named_is_not_trained(tmp_path):
    with pytest.raises(RecipeError, match="nothing to train"):
        train_tokenizer(TrainTask((DOCUMENTS,), Tokenizer(bytes=True), str(tmp_path / "tokenizer.json")))
