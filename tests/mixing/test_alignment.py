import gzip
import json

import pytest

from mixle_assets.errors import InputError
from mixle_assets.mixing.alignment import InputCodecs, MixFile, align_rows
from mixle_assets.recipe.models import Tolerate
from mixle_assets.records import Counts

DOCUMENTS = [{"id": number, "text": f"t{number}"} for number in (1, 2, 3)]


def attributes_of(bench, counts=None, **tolerate):
    [file] = bench.files
    rows = align_rows(file, tolerate=Tolerate(**tolerate), counts=counts)
    return [row.get("attributes") for _, row in rows]


def test_each_document_gets_the_attributes_of_its_row_in_every_set(bench):
    bench.documents(DOCUMENTS, a=[{"x": 1}, {"x": 2}, {}], b=[{"y": 1}, {}, {"y": 3}])

    assert attributes_of(bench) == [{"x": 1, "y": 1}, {"x": 2}, {"y": 3}]


def test_documents_without_attribute_files_stay_as_they_are(bench):
    bench.documents([{"id": 1, "text": "", "attributes": None}, {"id": 2, "text": ""}])

    assert attributes_of(bench) == [None, None]


def test_a_set_overwrites_the_documents_own_attributes_and_is_counted(bench):
    counts = Counts()
    bench.documents(
        [
            {"id": 1, "text": "", "attributes": {"own": 1, "x": 1}},
            {"id": 2, "text": "", "attributes": [1]},
            {"id": 3, "text": "", "attributes": {"own": 3}},
        ],
        a=[{"x": 9}, {"x": 9}, {}],
    )

    assert attributes_of(bench, counts) == [{"own": 1, "x": 9}, {"x": 9}, {"own": 3}]
    assert counts.noted == {"own_attributes_overwritten": 1}


def test_two_sets_with_one_key_are_an_error_or_the_later_listed_wins_counted(bench):
    bench.documents(DOCUMENTS, a=[{"score": 0.1}] * 3, b=[{"score": 0.9}, {}, {"score": 0.9}])

    with pytest.raises(InputError, match="the sets 'a' and 'b' both hold the attribute 'score'") as caught:
        attributes_of(bench)
    assert (caught.value.line, caught.value.document_id) == (1, 1)
    assert "tolerate: {key_collision: last}" in str(caught.value)

    counts = Counts()
    assert attributes_of(bench, counts, key_collision="last") == [
        {"score": 0.9},
        {"score": 0.1},
        {"score": 0.9},
    ]
    assert counts.noted == {"key_collisions": 2}


@pytest.mark.parametrize(
    ("document", "attribute", "message"),
    [
        (
            7,
            "7",
            "the row is of document '7' (a string), but the document at its place is document 7 (a number)",
        ),
        ("a", "b", "the row is of document 'b' (a string), but the document at its place is document 'a'"),
        (1, True, "the row is of document True (a boolean)"),
        (1, 1.0, "the row is of document 1.0 (a number)"),
    ],
)
def test_a_row_of_another_document_is_an_error_that_names_both(bench, document, attribute, message):
    bench.documents(
        [{"id": 0, "text": ""}, {"id": document, "text": ""}], a=[{}, {"id": attribute, "attributes": {}}]
    )

    with pytest.raises(InputError) as caught:
        attributes_of(bench)
    assert message in str(caught.value)
    assert caught.value.path.endswith("attributes/a/000.jsonl")
    assert caught.value.line == 2
    assert "documents/000.jsonl:2" in str(caught.value)


def test_an_id_that_is_missing_on_both_sides_is_the_same_and_on_one_side_is_not(bench):
    bench.documents([{"text": "t"}], a=[b'{"attributes":{"x":1}}'])
    assert attributes_of(bench) == [{"x": 1}]

    bench.files.clear()
    bench.documents([{"text": "t"}], a=[{"id": 1, "attributes": {}}])
    with pytest.raises(InputError, match=r"document 1 \(a number\), but .* is a document without id"):
        attributes_of(bench)


def test_a_set_that_ends_early_is_named_with_both_counts(bench):
    bench.documents(DOCUMENTS, a=[{"x": 1}, {"x": 2}], b=[{"y": 1}, {"y": 2}, {"y": 3}])

    with pytest.raises(InputError) as caught:
        attributes_of(bench)
    assert "the set 'a' has 2 rows for 3 documents: there is none for" in str(caught.value)
    assert "tolerate: {missing_attributes: skip}" in str(caught.value)
    assert caught.value.path.endswith("attributes/a/000.jsonl")

    counts = Counts()
    assert attributes_of(bench, counts, missing_attributes="skip") == [
        {"x": 1, "y": 1},
        {"x": 2, "y": 2},
        {"y": 3},  # its own value, though the set before it ended
    ]
    assert counts.noted == {"missing_attribute_rows:a": 1}


def test_a_set_with_more_rows_than_documents_is_named_with_both_counts(bench):
    bench.documents(DOCUMENTS[:1], a=[{"x": 1}, {"id": 2, "attributes": {}}, {"id": 3, "attributes": {}}])

    with pytest.raises(InputError) as caught:
        attributes_of(bench)
    assert "the set 'a' has 3 rows for 1 documents" in str(caught.value)
    assert caught.value.line == 2

    counts = Counts()
    assert attributes_of(bench, counts, missing_attributes="skip") == [{"x": 1}]
    assert counts.noted == {"extra_attribute_rows:a": 2}


def test_a_missing_attribute_file_is_an_error_with_the_line_that_tolerates_it(bench):
    bench.documents(DOCUMENTS[:1], a=None, b=[{"y": 1}])

    with pytest.raises(InputError) as caught:
        attributes_of(bench)
    assert "there is no attribute file of the set 'a' for" in str(caught.value)
    assert "tolerate: {missing_attributes: skip}" in str(caught.value)

    counts = Counts()
    assert attributes_of(bench, counts, missing_attributes="skip") == [{"y": 1}]
    assert counts.noted == {"missing_attribute_files:a": 1}


def test_a_cut_attribute_file_is_an_error_even_where_missing_rows_are_tolerated(bench):
    rows = [json.dumps({"id": number, "attributes": {"x": number}}) + "\n" for number in (1, 2, 3)]
    bench.documents(DOCUMENTS, "000.jsonl.gz.plain", a=None)
    [file] = bench.files
    cut = bench.write("attributes/a/cut.gz", gzip.compress("".join(rows).encode())[:-9])
    bench.files[:] = [MixFile(file.path, file.name, (("a", cut),))]

    with pytest.raises(InputError, match="truncated"):
        attributes_of(bench, missing_attributes="skip")

    counts = Counts()
    found = attributes_of(bench, counts, missing_attributes="skip", malformed_row="skip")
    assert found == [{"x": 1}, {"x": 2}, {}]
    assert counts.noted == {"truncated_inputs": 1, "missing_attribute_rows:a": 1}


def test_an_attribute_row_that_cannot_be_read_and_is_tolerated_costs_only_its_own_values(bench):
    counts = Counts()
    bench.documents(DOCUMENTS, a=[{"x": 1}, b"{", {"x": 3}], b=[{"y": 1}, {"y": 2}, {"y": 3}])

    found = attributes_of(bench, counts, malformed_row="skip")

    assert found == [{"x": 1, "y": 1}, {"y": 2}, {"x": 3, "y": 3}]
    assert counts.noted == {"malformed_attribute_rows": 1}


def test_blank_lines_count_for_neither_side(bench):
    counts = Counts()
    bench.documents(
        [b"", DOCUMENTS[0], b"  ", DOCUMENTS[1]],
        a=[{"id": 1, "attributes": {"x": 1}}, b"", b'{"id":2,"attributes":{}}'],
    )
    [file] = bench.files

    assert [(line, row["id"]) for line, row in align_rows(file, counts=counts)] == [(2, 1), (4, 2)]
    assert counts.noted == {"blank_lines": 3}


def test_equal_ids_keep_their_own_attributes(bench):
    bench.documents([{"id": "x", "text": "a"}, {"id": "x", "text": "b"}], a=[{"k": 1}, {"k": 2}])

    assert attributes_of(bench) == [{"k": 1}, {"k": 2}]


def test_007_and_7_are_two_documents(bench):
    bench.documents([{"id": "007", "text": ""}, {"id": "7", "text": ""}], a=[{"k": 1}, {"k": 2}])

    assert attributes_of(bench) == [{"k": 1}, {"k": 2}]


def test_the_codec_of_foreign_files_is_not_the_codec_of_our_own(bench):
    row = b'{"id":1,"text":"t"}\n'
    documents = bench.write("0.data", gzip.compress(row))
    foreign = bench.write("foreign.data", gzip.compress(b'{"id":1,"attributes":{"x":1}}\n'))
    own = bench.write("own.jsonl", b'{"id":1,"attributes":{"y":2}}\n')
    codecs = InputCodecs(documents="gz", foreign="gz", own_sets=frozenset({"ours"}))

    rows = align_rows(MixFile(documents, "0.data", (("theirs", foreign), ("ours", own))), codecs=codecs)

    assert [row["attributes"] for _, row in rows] == [{"x": 1, "y": 2}]
    assert sorted(rows.stamps) == sorted([documents, foreign, own])
