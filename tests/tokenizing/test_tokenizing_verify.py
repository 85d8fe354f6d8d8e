"""Each promise of doc arrays, kept and broken."""

from pathlib import Path

import numpy as np
import pytest

from mixle_assets.formats.doc_arrays import DocArrays, write_doc_arrays
from mixle_assets.formats.doc_batches import DocBatch
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard
from mixle_assets.tokenizing.verify import find_ids_outside_vocabulary, find_texts_encoded_differently

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")
DOCUMENTS = GOLDEN / "tokens_small_documents.jsonl"


@pytest.fixture
def task(tmp_path):
    shard = tmp_path / "prose-0000.jsonl"
    shard.write_text(DOCUMENTS.read_text() + '{"id": "e", "text": " "}\n')
    task = TokenizeTask(
        key="prose/0000",
        mixed_shard=str(shard),
        tokenizer=Tokenizer(file=SMALL, bos="<|bos|>"),
        output=str(tmp_path / "prose-0000.arrow"),
    )
    tokenize_shard(task)
    return task


def rewrite(task, change, **metadata):
    """Write the doc arrays again after ``change`` was made to (ids, provenances, token lists)."""
    arrays = DocArrays.open(task.output)
    ids, provenances = list(arrays.ids()), list(arrays.provenances())
    tokens = [array.tolist() for array in arrays]
    facts = {**arrays.metadata, **metadata}
    change(ids, provenances, tokens)
    values = np.array([token for document in tokens for token in document])
    lengths = np.array([len(document) for document in tokens])
    dtype = facts.pop("dtype")
    write_doc_arrays(task.output, [DocBatch(ids, provenances, values, lengths)], dtype=dtype, metadata=facts)


def found_by(find, task, **options):
    return [(one.where, one.expected, one.found) for one in find(task, **options)]


def test_doc_arrays_as_they_are_made_keep_every_promise(task):
    assert found_by(find_ids_outside_vocabulary, task) == []
    assert found_by(find_texts_encoded_differently, task, sample_size=10**6) == []


def test_an_id_the_tokenizer_does_not_have_is_found(task):
    def change(ids, provenances, tokens):
        tokens[3][2] = 466

    rewrite(task, change, vocabulary_size=None)

    assert found_by(find_ids_outside_vocabulary, task) == [
        ("prose/0000: vocabulary_size", "466", "None"),
        ("prose/0000: small/0000.jsonl:4", "ids below 466", "id 466 at token 2"),
    ]


def test_another_tokenizer_or_boundary_is_found(task):
    rewrite(task, lambda *_: None, tokenizer_hash="c0ffee", boundary_id=7, bos_id=None, dtype="uint32")

    where = [violation[0] for violation in found_by(find_ids_outside_vocabulary, task)]
    assert where == [
        "prose/0000: tokenizer_hash",
        "prose/0000: boundary_id",
        "prose/0000: bos_id",
        "prose/0000: dtype",
    ]


def test_a_changed_token_is_found(task):
    def change(ids, provenances, tokens):
        tokens[0][-1] += 1

    rewrite(task, change)

    ids, text = found_by(find_texts_encoded_differently, task, sample_size=10**6)
    assert ids[:2] == ("prose/0000: small/0000.jsonl:1", "the ids of its text")
    assert ids[2].startswith("on 'A corpus is made of documents, ")
    assert text[:2] == ("prose/0000: small/0000.jsonl:1", "its text back from its ids")
    assert text[2] == "'A corpus is made of documents, and a document is made of words/'"


def test_a_missing_bos_is_found(task):
    def change(ids, provenances, tokens):
        tokens[5] = tokens[5][1:]

    rewrite(task, change)

    violations = found_by(find_texts_encoded_differently, task, sample_size=10**6)
    assert violations[0][:2] == ("prose/0000: small/0000.jsonl:6", "the ids of its text")


def test_a_lost_document_is_found_even_outside_the_sample(task):
    def change(ids, provenances, tokens):
        for column in (ids, provenances, tokens):
            del column[4]

    rewrite(task, change)

    assert found_by(find_texts_encoded_differently, task, sample_size=0) == [
        ("prose/0000: small/0000.jsonl:5", "its tokens", "not in the doc arrays")
    ]


def test_a_foreign_document_and_a_changed_id_are_found(task):
    def change(ids, provenances, tokens):
        ids[0] = "x"
        ids.append("y")
        provenances.append("small/0000.jsonl:99")
        tokens.append([465, 1])

    rewrite(task, change)

    assert found_by(find_texts_encoded_differently, task, sample_size=0) == [
        ("prose/0000: small/0000.jsonl:1", "id 'd0'", "id 'x'"),
        ("prose/0000: small/0000.jsonl:99", "a document of the shard", "none there"),
    ]


def test_the_sample_is_seeded(task):
    def change(ids, provenances, tokens):
        for document in tokens:
            document[-1] ^= 1

    rewrite(task, change)
    first, again, other = (
        [
            where
            for where, expected, _ in found_by(find_texts_encoded_differently, task, sample_size=5, seed=seed)
            if expected == "the ids of its text"
        ]
        for seed in (0, 0, 1)
    )

    assert len(first) == 5
    assert first == again != other
