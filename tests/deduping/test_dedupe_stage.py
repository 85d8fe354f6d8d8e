"""From documents to duplicate attributes, all three functions one after the other."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets import deduping
from mixle_assets.deduping import hashes as hashing
from mixle_assets.deduping.places import Place
from mixle_assets.deduping.slices import read_slice
from mixle_assets.engine import open_engine
from mixle_assets.errors import ExpressionError, InputError, RecipeError
from mixle_assets.formats.attributes import encode_attribute_row
from mixle_assets.recipe import Dedupe

DOCUMENTS = "bff_duplicate_docs"
PARAGRAPHS = "bff_duplicate_paragraph_spans"
BOTH = Dedupe(documents={}, paragraphs={})
BY_TEXT = Dedupe(documents={})
BY_LINE = Dedupe(paragraphs={})


def test_a_line_of_an_earlier_document_is_marked_where_it_comes_again(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["p1\np2", "p2\np3"]}}, BY_LINE)

    assert corpus.attributes() == [{PARAGRAPHS: []}, {PARAGRAPHS: [[0, 3, 1]]}]


def test_numeric_ids_are_no_obstacle(dedupe):
    documents = [{"id": 18446744073709551615, "text": "p1\np2"}, {"id": 7, "text": "p2\np3"}]
    corpus = dedupe({"p/0000": {"a.jsonl": documents}}, BY_LINE)

    assert corpus.rows("a.jsonl") == [
        (18446744073709551615, {PARAGRAPHS: []}),
        (7, {PARAGRAPHS: [[0, 3, 1]]}),
    ]


def test_the_first_copy_in_plan_order_stays_over_shards_and_streams(dedupe):
    shards = {f"{stream}/0000": {f"{stream}.jsonl": [stream, "same"]} for stream in "dcba"}
    corpus = dedupe(shards, BY_TEXT)

    assert corpus.attributes("d.jsonl") == [{}, {}]
    for stream in "cba":
        assert corpus.attributes(f"{stream}.jsonl") == [{}, {DOCUMENTS: [[0, 4, 1]]}]
        slice_path = corpus.path("duplicate_index", f"{stream}/0000")
        (batch,) = read_slice(slice_path)
        assert batch.first.documents.tolist() == [1]
        assert batch.first.places == [Place("d.jsonl", 2, "")]


def test_repetition_inside_one_document_is_marked(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["line\n" * 9 + "line"]}}, BY_LINE)

    assert corpus.attributes() == [{PARAGRAPHS: [[5 * n, 5 * n + 5, 1] for n in range(1, 9)] + [[45, 49, 1]]}]
    assert corpus.slices["p/0000"].counts.noted == {
        "duplicate_paragraphs": 9,
        "duplicate_paragraph_characters": 36,
    }


def test_blank_lines_and_empty_texts_repeat_nothing_unless_they_are_asked_for(dedupe):
    shards = {"p/0000": {"a.jsonl": ["a\n\nb\n \u3000\n", "", "", "\n"]}}

    assert dedupe(shards, BOTH).attributes() == [
        {PARAGRAPHS: []},
        {DOCUMENTS: []},
        {DOCUMENTS: []},
        {DOCUMENTS: [], PARAGRAPHS: []},
    ]
    assert dedupe(shards, Dedupe(documents={}, paragraphs={}, skip_empty=False)).attributes() == [
        {PARAGRAPHS: [[7, 7, 1]]},
        {},
        {DOCUMENTS: [[0, 0, 1]]},
        {PARAGRAPHS: [[0, 0, 1], [0, 0, 1]]},
    ]


def test_a_field_of_any_type_can_be_the_key(dedupe):
    values = [7, "7", 7, None, True, 1, {"b": 1, "a": [2]}, {"a": [2], "b": 1}, 2**70, 2**70, " "]
    documents = [{"id": n, "text": "xy", "metadata": {"k": [value]}} for n, value in enumerate(values)]
    documents.append({"id": "none", "text": "xy"})
    corpus = dedupe({"p/0000": {"a.jsonl": documents}}, Dedupe(documents={"key": "$.metadata.k[0]"}))

    repeats, left_out = {DOCUMENTS: [[0, 2, 1]]}, {DOCUMENTS: []}
    assert corpus.attributes() == [
        {}, {}, repeats, left_out, {}, {}, {}, repeats, {}, repeats, left_out, left_out,
    ]  # fmt: skip
    assert corpus.hashed["p/0000"].counts.noted == {"documents_without_key": 2, "documents_not_compared": 3}


@pytest.mark.parametrize("key", ["$.metadata.*", "$..url", "$", "$.a[", "$.a[0,1]"])
def test_a_key_that_names_no_single_place_is_refused(dedupe, key):
    with pytest.raises(ExpressionError):
        dedupe({"p/0000": {"a.jsonl": ["x"]}}, Dedupe(documents={"key": key}))


def test_a_key_that_no_document_has_is_refused(dedupe):
    with pytest.raises(InputError, match=r"no document .* has a value at '\$\.metadata\.ulr'"):
        dedupe(
            {"p/0000": {"a.jsonl": [{"id": 1, "text": "x", "metadata": {"url": "u"}}]}},
            Dedupe(documents={"key": "$.metadata.ulr"}),
        )


def test_streams_with_one_key_share_an_index_and_others_do_not(dedupe):
    row = {"id": 1, "text": "u", "metadata": {"url": "u"}}
    url, brackets = (
        Dedupe(documents={"key": "$.metadata.url"}),
        Dedupe(documents={"key": "$['metadata'].url"}),
    )
    corpus = dedupe(
        {f"{stream}/0000": {f"{stream}.jsonl": [row]} for stream in "abc"},
        {"a": url, "b": BY_TEXT, "c": brackets},
    )

    assert corpus.attributes() == [{}, {}, {DOCUMENTS: [[0, 1, 1]]}]


@pytest.mark.parametrize(
    ("keep", "marked"),
    [("first", [0, 1, 1]), ("none", [1, 1, 1]), ({"prefer": ["c", "b"]}, [1, 1, 0])],
)
def test_keep_says_which_copy_stays(dedupe, keep, marked):
    shards = {f"{stream}/0000": {f"{stream}.jsonl": ["same", f"only {stream}"]} for stream in "abc"}
    corpus = dedupe(shards, Dedupe(documents={}, keep=keep))

    found = [corpus.attributes(f"{stream}.jsonl") for stream in "abc"]
    assert found == [[{DOCUMENTS: [[0, 4, 1]]} if mark else {}, {}] for mark in marked]


def test_every_marked_document_names_another_copy(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["s", "s", "s"]}}, Dedupe(documents={}, keep="none"))

    (batch,) = read_slice(corpus.path("duplicate_index", "p/0000"))
    assert [place.line for place in batch.first.places] == [2, 1, 1]


def test_streams_that_share_an_index_must_keep_the_same_copy(dedupe):
    shards = {"a/0000": {"a.jsonl": ["x"]}, "b/0000": {"b.jsonl": ["x"]}}

    with pytest.raises(
        RecipeError, match="a and b share the index of paragraphs, but say 'first' and 'none'"
    ):
        dedupe(shards, {"a": BY_LINE, "b": Dedupe(paragraphs={}, keep="none")})


def test_documents_that_are_not_eligible_neither_lose_nor_win(dedupe, tmp_path):
    corpus = dedupe({"p/0000": {"a.jsonl": ["s\nt", "s\nt", "s\nt"]}}, BOTH)
    np.save(tmp_path / "eligible.npy", np.array([False, True, True]))
    task = deduping.HashedShard(
        "p/0000",
        "p",
        BOTH,
        corpus.path("content_hashes", "p/0000"),
        corpus.path("duplicate_index", "p/0000"),
        str(tmp_path / "eligible.npy"),
    )
    deduping.build_index(deduping.IndexTask((task,)))
    corpus.write("p/0000")

    assert corpus.attributes() == [
        {PARAGRAPHS: []},
        {PARAGRAPHS: []},
        {DOCUMENTS: [[0, 3, 1]], PARAGRAPHS: [[0, 2, 1], [2, 3, 1]]},
    ]
    np.save(tmp_path / "eligible.npy", np.array([True]))
    with pytest.raises(InputError, match="must hold 3 bools"):
        deduping.build_index(deduping.IndexTask((task,)))


def test_streams_that_share_an_index_must_know_the_same_documents(dedupe):
    shards = {"a/0000": {"a.jsonl": ["x"]}, "b/0000": {"b.jsonl": ["x"]}}

    with pytest.raises(RecipeError, match=r"dedupe\.against: .* but say \(\) and \('k\.jsonl',\)"):
        dedupe(shards, {"a": BY_LINE, "b": Dedupe(paragraphs={}, against=["k.jsonl"])})


@pytest.mark.parametrize("keep", ["first", "none", {"prefer": ["p"]}])
def test_a_copy_of_a_known_document_is_marked_and_names_it(dedupe, keep):
    known = {"against": {"known/k.jsonl": ["other", {"id": "r7", "text": "same"}, {"id": 8, "text": "same"}]}}
    rules = Dedupe(documents={}, paragraphs={}, keep=keep, against=["known/k.jsonl"])
    corpus = dedupe({"p/0000": {"a.jsonl": ["same", "new", "new\nsame"]}}, rules, references=known)

    assert corpus.attributes("a.jsonl")[0] == {
        DOCUMENTS: [[0, 4, 1]],
        DOCUMENTS + "_match": ["r7"],
        PARAGRAPHS: [[0, 4, 1]],
    }
    assert [DOCUMENTS in row for row in corpus.attributes("a.jsonl")] == [True, False, False]
    (batch,) = read_slice(corpus.path("duplicate_index", "p/0000"))
    assert batch.first.places == [Place("known/k.jsonl", 2, '"r7"')]


def test_contamination_scores_one_for_a_whole_match_and_a_half_for_half_of_the_runs(dedupe):
    # Nine words make eight runs of two: the second document shares the first four.
    benchmark = {
        "decontamination": {
            "eval.jsonl": [{"id": "q1", "text": "what is the name of the tallest known tree"}]
        }
    }
    texts = [
        "before\nwhat is the name of the tallest known tree",
        "what is the name of a big old thing",
        "nothing of that kind",
    ]
    rules = Dedupe(
        decontamination={
            "reference": ["eval.jsonl"],
            "by_ngram": {"ngram_length": 2, "overlap_threshold": 0.1},
        }
    )
    corpus = dedupe({"p/0000": {"a.jsonl": texts}}, rules, references=benchmark)

    assert corpus.attributes("a.jsonl") == [
        {"contaminated_spans": [[7, 49, 1.0]], "contaminated_spans_match": ["q1"]},
        {"contaminated_spans": [[0, 35, 0.5]], "contaminated_spans_match": ["q1"]},
        {"contaminated_spans": []},
    ]
    assert corpus.written["a.jsonl"].details["attributes"]["contaminated_spans"] == (
        "share of the paragraph's runs of 2 words that stand in the reference set, 0 to 1"
    )


SOME = {
    "p/0000": {"a.jsonl": ["one\ntwo", "", "two\nthree"], "empty.jsonl": []},
    "q/0000": {"b.jsonl": ["one\ntwo", "four\n\nfour"]},
    "p/0001": {"c.jsonl": ["three", "five", "one\ntwo"]},
}


def test_batches_buckets_and_a_second_run_change_no_byte(dedupe, monkeypatch):
    corpus = dedupe(SOME, BOTH)
    digests = corpus.digests()

    assert corpus.run().digests() == digests
    assert dedupe(SOME, BOTH, bucket_in_hashes=2).digests() == digests
    monkeypatch.setattr(hashing, "BATCH_IN_CHARACTERS", 1)
    in_small_batches = dedupe(SOME, BOTH).digests()
    assert {key: rows for key, (rows, _) in in_small_batches.items()} == {
        key: rows for key, (rows, _) in digests.items()
    }


def test_workers_that_finish_in_any_order_keep_the_same_copy(dedupe):
    copies = {f"p/{n:04d}": {f"{n}.jsonl": ["same\nline", f"own {n}"]} for n in range(4)}
    corpus = dedupe(copies, BOTH)
    digests = corpus.digests()
    tasks = [
        deduping.HashTask(key, corpus.files[key], BOTH, corpus.path("content_hashes", key))
        for key in sorted(copies, reverse=True)
    ]
    outcomes = list(open_engine("processes", 2).run(deduping.hash_shard, tasks))
    assert [outcome.error for outcome in outcomes] == [None] * 4
    corpus.index()
    for key in copies:
        corpus.write(key)

    assert corpus.digests() == digests
    assert [DOCUMENTS in row for row in corpus.attributes()] == [False, False] + [True, False] * 3


def test_a_shard_more_leaves_every_earlier_slice_as_it_was(dedupe):
    before = dedupe(SOME, BOTH)
    after = dedupe({**SOME, "p/0002": {"d.jsonl": ["one\ntwo", "six\nfive"]}}, BOTH)

    assert {key: after.slices[key].rows_digest for key in SOME} == {
        key: before.slices[key].rows_digest for key in SOME
    }
    assert after.attributes("d.jsonl") == [
        {DOCUMENTS: [[0, 7, 1]], PARAGRAPHS: [[0, 4, 1], [4, 7, 1]]},
        {PARAGRAPHS: [[4, 8, 1]]},
    ]


def test_only_wanted_files_are_written(dedupe):
    corpus = dedupe(SOME, BOTH)
    written = corpus.written
    names = ("a.jsonl", "empty.jsonl")
    outputs = {name: str(corpus.folder / "again" / name) for name in names}
    task = deduping.AttributeTask(
        "p/0000",
        BOTH,
        corpus.path("content_hashes", "p/0000"),
        corpus.path("duplicate_index", "p/0000"),
        outputs,
        ("empty.jsonl",),
    )

    assert deduping.write_duplicate_attributes(task) == {"empty.jsonl": written["empty.jsonl"]}
    assert not Path(outputs["a.jsonl"]).exists()
    with pytest.raises(ValueError, match=r"b\.jsonl"):
        deduping.write_duplicate_attributes(
            deduping.AttributeTask(
                "p/0000", BOTH, task.hashes, task.slice, {"b.jsonl": "b.jsonl"}, ("b.jsonl",)
            )
        )


def test_rows_are_encoded_as_all_attribute_rows_are(dedupe):
    documents = [{"id": document_id, "text": "é\né"} for document_id in ("中\n", 2**70, None, 7, [1, 2.5])]
    corpus = dedupe({"p/0000": {"a.jsonl": documents}}, BOTH)

    stored = (corpus.folder / "attributes" / "duplicates" / "a.jsonl").read_bytes()
    assert stored.splitlines() == [
        encode_attribute_row(row_id, attributes) for row_id, attributes in corpus.rows("a.jsonl")
    ]
    assert [row_id for row_id, _ in corpus.rows("a.jsonl")] == ["中\n", 2**70, None, 7, [1, 2.5]]


def test_attribute_files_are_compressed_as_their_name_says(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["x"]}}, BY_TEXT)
    output = corpus.folder / "a.jsonl.gz"
    task = deduping.AttributeTask(
        "p/0000",
        BY_TEXT,
        corpus.path("content_hashes", "p/0000"),
        corpus.path("duplicate_index", "p/0000"),
        {"a.jsonl": str(output)},
        ("a.jsonl",),
    )
    deduping.write_duplicate_attributes(task)

    assert gzip.decompress(output.read_bytes()) == b'{"id":"a.jsonl:1","attributes":{}}\n'


def test_malformed_rows_are_an_error_or_skipped_and_counted(dedupe):
    lines = [b'{"id":1,"text":"x"}', b'{"id":2}', b"{", b'{"id":3,"text":"x"}']
    shards = {"p/0000": {"a.jsonl": lines[:2]}}
    for rules in (BY_TEXT, Dedupe(documents={"key": "$.id"})):
        with pytest.raises(InputError, match=r"a\.jsonl:2"):
            dedupe(shards, rules)

    corpus = dedupe({"p/0000": {"a.jsonl": ["x"]}}, BY_TEXT)
    for rules in (BY_TEXT, Dedupe(documents={"key": "$.id"})):
        corpus.files["p/0000"] = dedupe({"p/0000": {"a.jsonl": lines[:1]}}, BY_TEXT).files["p/0000"]
        Path(corpus.files["p/0000"][0].path).write_bytes(b"\n".join(lines))
        corpus.rules["p/0000"] = rules
        corpus.hash("p/0000", malformed_row="skip")
        counts = corpus.hashed["p/0000"].counts
        assert (counts.num_in, counts.num_out, counts.dropped) == (4, 2, {"malformed_row": 2})


@pytest.mark.parametrize("stage", ["content_hashes", "duplicate_index"])
def test_a_file_that_was_cut_short_is_refused_by_name(dedupe, stage):
    corpus = dedupe({"p/0000": {"a.jsonl": ["x", "x"]}}, BY_TEXT)
    path = Path(corpus.path(stage, "p/0000"))
    path.write_bytes(path.read_bytes()[:-13])

    with pytest.raises(InputError, match=f"{stage}/p-0000.arrow: is no whole Arrow file"):
        corpus.write("p/0000")


def test_hashing_that_is_interrupted_leaves_no_file(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["x"]}}, BY_TEXT)
    before = corpus.digests()
    output, documents = Path(corpus.path("content_hashes", "p/0000")), Path(corpus.files["p/0000"][0].path)
    content = documents.read_bytes()
    output.unlink()
    documents.write_bytes(content + b'{"id":')
    with pytest.raises(InputError):
        corpus.hash("p/0000")
    assert list(output.parent.iterdir()) == []

    documents.write_bytes(content)
    assert corpus.run().digests() == before


def test_a_slice_of_another_shard_is_refused(dedupe):
    corpus = dedupe({"p/0000": {"a.jsonl": ["x"]}, "p/0001": {"b.jsonl": ["y", "x"]}}, BY_TEXT)
    task = deduping.AttributeTask(
        "p/0000",
        BY_TEXT,
        corpus.path("content_hashes", "p/0000"),
        corpus.path("duplicate_index", "p/0001"),
        {"a.jsonl": str(corpus.folder / "x.jsonl")},
        ("a.jsonl",),
    )

    with pytest.raises(InputError, match="marks document 1 of p/0000, which has 1 documents"):
        deduping.write_duplicate_attributes(task)


lines = st.lists(st.sampled_from(["a", "b", "é", "", " ", "a b"]), min_size=1, max_size=4).map("\n".join)


@settings(deadline=None, max_examples=25)
@given(
    files=st.lists(st.lists(lines, max_size=4), min_size=1, max_size=4),
    skip_empty=st.booleans(),
    bucket=st.sampled_from([1, 3, 1 << 24]),
)
def test_marks_are_those_of_a_set_of_all_that_was_seen(tmp_path_factory, files, skip_empty, bucket):
    from deduped_corpus import Corpus

    rules = Dedupe(documents={}, paragraphs={}, skip_empty=skip_empty)
    shards = {f"p/{n:04d}": {f"{n}.jsonl": texts} for n, texts in enumerate(files)}
    corpus = Corpus(tmp_path_factory.mktemp("corpus"), shards, rules, bucket_in_hashes=bucket).run()

    seen_texts: set[str] = set()
    seen_lines: set[str] = set()
    for n, texts in enumerate(files):
        for text, (_, attributes) in zip(texts, corpus.rows(f"{n}.jsonl"), strict=True):
            repeated = [line for line in _spans(text) if _seen(line[0], seen_lines, skip_empty)]
            assert attributes.get(PARAGRAPHS, []) == [[start, end, 1] for _, start, end in repeated]
            is_copy = _seen(text, seen_texts, skip_empty)
            assert attributes.get(DOCUMENTS, []) == ([[0, len(text), 1]] if is_copy else [])


def _spans(text):
    if not text:
        return []
    pieces = text.split("\n")
    starts = [sum(len(piece) + 1 for piece in pieces[:n]) for n in range(len(pieces))]
    ends = [*starts[1:], len(text)]
    if len(pieces) > 1 and not pieces[-1]:
        starts[-1] = ends[-1] = ends[-2] = len(text) - 1
    return list(zip(pieces, starts, ends, strict=True))


def _seen(value, seen, skip_empty):
    if skip_empty and not value.strip():
        return False
    known = value in seen
    seen.add(value)
    return known


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("line\n" * 9 + "line", [[0, 49, 0.9]]),
        ("one\ntwo\n\ntwo", [[0, 12, 0.33333]]),
        ("one\ntwo\nthree", [[0, 13, 0.0]]),
        ("\n \n", []),
        ("", None),
    ],
)
def test_the_share_of_repeated_paragraphs_is_written_where_it_is_asked_for(dedupe, text, share):
    corpus = dedupe({"p/0000": {"a.jsonl": [text]}}, Dedupe(paragraphs={"share_name": "repeated"}))

    assert corpus.attributes()[0].get("repeated") == share


def test_the_share_counts_repetitions_of_other_documents_and_by_runs_of_words(dedupe):
    shards = {"p/0000": {"a.jsonl": ["one two three\nfour five six", "one two three\nseven eight nine"]}}
    rules = Dedupe(paragraphs={"share_name": "repeated", "by_ngram": {"ngram_length": 2}})

    assert [row["repeated"] for row in dedupe(shards, rules).attributes()] == [
        [[0, 27, 0.0]],
        [[0, 30, 0.5]],
    ]
