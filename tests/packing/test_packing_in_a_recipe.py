"""Packing as a recipe asks for it, through the whole chain."""

import gzip
import json

import pytest

from mixle_assets.engine import SerialEngine
from mixle_assets.errors import RecipeError
from mixle_assets.packing.corpus import load_corpus
from mixle_assets.packing.streaming import StreamingCorpus
from mixle_assets.packing.trace import trace_id
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.load import load

RECIPE = """\
name: small
streams:
  - name: notes
    documents: [in/documents/*.jsonl.gz]
    taggers: {quality: [char_length_v1]}
    weight: 2
tokenizer: {bytes: true}
packing: {block: 7, batch_size: 2, seed: 3, epochs: 2, world_size: 2, selector: %s}
"""
TEXTS = ["aaaaa", "bbb", "ccccccccc", "d"]


def build_small(folder, selector):
    (folder / "in" / "documents").mkdir(parents=True)
    with gzip.open(folder / "in" / "documents" / "0000.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"id": text[0], "text": text}) + "\n" for text in TEXTS)
    (folder / "small.yaml").write_text(RECIPE % selector)
    report = build(load(str(folder / "small.yaml"), str(folder / "corpora")), SerialEngine())
    assert not report.failed
    return load_corpus(folder / "corpora" / "small")


@pytest.mark.parametrize(
    "selector",
    ["{selector: by_score, attribute: quality__char_length_v1__length}", "shortest_first"],
)
def test_an_epoch_in_the_order_of_what_a_tagger_measured(tmp_path, selector):
    corpus = build_small(tmp_path, selector)

    for epoch in range(3):  # the third is not stored
        order = StreamingCorpus(corpus, rank=0, world_size=1).rank_document_indices(epoch)
        assert [corpus.id(document) for document in order.tolist()] == list("ddbbaacc")


def test_batches_are_those_of_the_documents_in_memory(tmp_path):
    corpus = build_small(tmp_path, "null")
    boundary = corpus.boundary_id
    documents = [list(text.encode()) for text in TEXTS] * 2

    for rank in range(2):
        plain = StreamingCorpus(
            documents, rank=rank, world_size=2, block=7, batch_size=2, seed=3, boundary_id=boundary
        )
        stored = StreamingCorpus(corpus, rank=rank)
        for epoch in range(2):
            assert [[array.tolist() for array in batch] for batch in stored.epoch_batches(epoch)] == [
                [array.tolist() for array in batch] for batch in plain.epoch_batches(epoch)
            ]
    assert len({(place.rank, place.row) for place in trace_id(corpus, 0, "c")}) > 1


def test_a_selector_that_does_not_exist_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(RecipeError, match="'easy' is neither a dotted path nor one of by_score") as caught:
        build_small(tmp_path, "easy")
    assert caught.value.line == 8
