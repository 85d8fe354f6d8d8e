"""The guarantees of deduping, each seen to fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.deduping.verify import (
    DedupedShard,
    _has_words,
    find_missing_rows,
    find_wrong_contamination,
    find_wrong_survivors,
)
from mixle_assets.recipe import Dedupe
from mixle_assets.segmentation.words import num_words

RULES = Dedupe(documents={}, paragraphs={})
SHARDS = {
    "a/0000": {"a.jsonl": ["one\ntwo\n", "", "two"]},
    "b/0000": {"b.jsonl": ["one\ntwo\n", "three\nthree"], "c.jsonl": ["two", "\n\n"]},
}


@pytest.fixture
def deduped(dedupe):
    def run(rules=RULES):
        corpus = dedupe(SHARDS, rules)
        return corpus, [
            DedupedShard(
                key.partition("/")[0],
                files,
                corpus.rules[key],
                {file.name: corpus.attribute_path(file.name) for file in files},
            )
            for key, files in corpus.files.items()
        ]

    return run


@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        Dedupe(documents={}, paragraphs={}, skip_empty=False),
        Dedupe(documents={}, paragraphs={}, keep="none"),
        Dedupe(documents={}, paragraphs={}, keep={"prefer": ["b"]}),
        Dedupe(paragraphs={"separator": "o"}, min_length=2),
        Dedupe(documents={"key": "$.id"}, min_words=1),
        Dedupe(paragraphs={"by_ngram": {"ngram_length": 1, "overlap_threshold": 0.4}}, skip_empty=False),
        Dedupe(paragraphs={"by_ngram": {"ngram_length": 2, "skip_short_paragraphs": True}}),
        Dedupe(paragraphs={"share_name": "share"}),
        Dedupe(paragraphs={"share_name": "share", "by_ngram": {"ngram_length": 2}}, min_length=4),
    ],
)
@pytest.mark.parametrize("one_in", [1, 2])
def test_nothing_is_found_where_the_marks_are_right(deduped, rules, one_in):
    _, shards = deduped(rules)

    assert list(find_wrong_survivors(shards, one_in=one_in)) == []
    assert [violation for shard in shards for violation in find_missing_rows(shard)] == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("[[0,8,1]]", "[]", "bff_duplicate_docs: []"),
        ("[[0,4,1],[4,7,1]]", "[[0,4,1]]", "bff_duplicate_paragraph_spans: [[0, 4, 1]]"),
        ("[[6,11,1]]", "[[0,6,1]]", "bff_duplicate_paragraph_spans: [[0, 6, 1]]"),
        ("[[6,11,1]]", "[[5,11,1]]", "bff_duplicate_paragraph_spans: [[5, 11, 1]]"),
    ],
)
def test_a_wrong_mark_is_found(deduped, old, new, found):
    corpus, shards = deduped()
    path = Path(corpus.attribute_path("b.jsonl"))
    content = path.read_text()
    assert content.count(old) == 1
    path.write_text(content.replace(old, new))

    (violation,) = find_wrong_survivors(shards)
    assert violation.where.startswith("b.jsonl:")
    assert violation.found == found


def test_a_missing_a_foreign_and_a_surplus_row_are_found(deduped):
    corpus, shards = deduped()
    path = Path(corpus.attribute_path("a.jsonl"))
    rows = path.read_text().splitlines(keepends=True)

    path.write_text("".join(rows[:-1]))
    (violation,) = find_missing_rows(shards[0])
    assert violation.expected == "a row for line 3 of a.jsonl"

    path.write_text("".join([rows[0], rows[2], rows[1]]))
    assert [violation.found for violation in find_missing_rows(shards[0])] == [
        "id 'a.jsonl:3'",
        "id 'a.jsonl:2'",
    ]

    path.write_text("".join([*rows, rows[0]]))
    (violation,) = find_missing_rows(shards[0])
    assert violation.found == "id 'a.jsonl:1'"


NGRAMS = {"by_ngram": {"ngram_length": 2, "overlap_threshold": 0.4}}
REFERENCE = {"r.jsonl": [{"id": "r7", "text": "one\ntwo three four"}]}


@pytest.mark.parametrize("options", [{}, NGRAMS])
def test_wrong_contamination_is_found(dedupe, options):
    rules = Dedupe(decontamination={"reference": ["r.jsonl"], **options})
    texts = ["zero\none", "two three four", "two three five", "six"]
    corpus = dedupe({"p/0000": {"a.jsonl": texts}}, rules, references={"decontamination": REFERENCE})
    shard = DedupedShard(
        "p",
        corpus.files["p/0000"],
        rules,
        {"a.jsonl": corpus.attribute_path("a.jsonl")},
        reference=corpus.references["decontamination"],
    )
    assert list(find_wrong_contamination(shard)) == []
    assert [len(row["contaminated_spans"]) for row in corpus.attributes("a.jsonl")] == [
        1,
        1,
        bool(options),
        0,
    ]

    path = Path(corpus.attribute_path("a.jsonl"))
    path.write_text(path.read_text().replace("[[5,8,1", "[[0,5,1"))
    (violation,) = find_wrong_contamination(shard)
    assert violation.where == "a.jsonl:1"


def test_copies_of_known_documents_are_checked_too(dedupe):
    corpus = dedupe(
        {"p/0000": {"a.jsonl": ["x", "y", "x"]}}, RULES, references={"against": {"k.jsonl": ["x"]}}
    )
    shard = DedupedShard("p", corpus.files["p/0000"], RULES, {"a.jsonl": corpus.attribute_path("a.jsonl")})

    with_known = DedupedShard("p", shard.files, RULES, shard.attributes, against=corpus.references["against"])
    assert list(find_wrong_survivors([with_known])) == []
    assert [violation.where for violation in find_wrong_survivors([shard])] == ["a.jsonl:1"] * 2


def test_a_wrong_share_is_found(deduped):
    corpus, shards = deduped(Dedupe(paragraphs={"share_name": "share"}))
    path = Path(corpus.attribute_path("b.jsonl"))
    content = path.read_text()
    assert content.count("[[0,11,0.5]]") == 1
    path.write_text(content.replace("[[0,11,0.5]]", "[[0,11,0.4]]"))

    (violation,) = find_wrong_survivors(shards)
    assert (violation.expected, violation.found) == ("share: [[0, 11, 0.5]]", "share: [[0, 11, 0.4]]")


@settings(deadline=None)
@given(
    st.text(st.characters() | st.sampled_from(" \n\x1c\u200d\u0301\u3000a1.'_-"), max_size=30),
    st.integers(0, 6),
)
def test_words_are_counted_no_further_than_needed(text, min_words):
    assert _has_words(text, min_words) == (num_words(text) >= min_words)
