import json
import math

import pytest

from mixle_assets.errors import InputError
from mixle_assets.formats.attributes import (
    MISSING_ID,
    UNREADABLE_ID,
    encode_attribute_row,
    read_attribute_rows,
)
from mixle_assets.records import Counts


def write(tmp_path, *lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def test_a_row_gives_line_id_and_attributes(tmp_path):
    counts = Counts()
    path = write(
        tmp_path,
        b'{"id":"a","attributes":{"x":[[0,5,0.5]],"n":12345678901234567890123},"source":"s"}',
        b" ",
        b'{"attributes":{},"id":7}',
        b'{"attributes":{"flag":true}}',
    )

    assert list(read_attribute_rows(path, counts=counts)) == [
        (1, "a", {"x": [[0, 5, 0.5]], "n": 12345678901234567890123}),
        (3, 7, {}),
        (4, MISSING_ID, {"flag": True}),
    ]
    assert counts.noted == {"blank_lines": 1}


def test_named_spans_come_as_tuples_of_checked_types(tmp_path):
    path = write(
        tmp_path,
        b'{"id":"a","attributes":{"x":[[0,5,0.5],[5,9,1]],"y":[[0,5,0.5]],"z":1}}',
        b'{"id":"b","attributes":{"x":null}}',
        b'{"id":"c","attributes":{"x":[]}}',
    )

    assert [row for _, _, row in read_attribute_rows(path, keys={"x", "y"}, span_keys={"x"})] == [
        {"x": [(0, 5, 0.5), (5, 9, 1)], "y": [[0, 5, 0.5]]},
        {"x": None},
        {"x": []},
    ]


def test_the_empty_key_is_told_from_others(tmp_path):
    keys = {"", "b", "_", "a", "attributes", "a.b.list.element", "ü__x", "A"}
    path = write(tmp_path, b'{"id":"a","attributes":{"":[[0,5,0.5]]}}')

    assert list(read_attribute_rows(path, keys=keys, span_keys=keys)) == [(1, "a", {"": [[0, 5, 0.5]]})]


@pytest.mark.parametrize(
    "value",
    ["[0,5,0.5]", "[[0,5.0,1]]", "[[true,5,1]]", "[[0,5]]", "[[0,5,1,2]]", '"text"', "{}", "[[0,5,null]]"],
)
def test_what_is_no_list_of_spans_comes_as_it_is(tmp_path, value):
    path = write(
        tmp_path,
        b'{"id":"a","attributes":{"x":[[0,5,0.5]]}}',
        f'{{"id":"b","attributes":{{"x":{value}}}}}'.encode(),
    )

    first, second = [row for _, _, row in read_attribute_rows(path, keys={"x"}, span_keys={"x"})]

    assert first == {"x": [[0, 5, 0.5]]}
    assert second == {"x": json.loads(value)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":2,"attributes":{"x":[[0,1,NaN]]}}', "NaN is no JSON number"),
        (b'{"id":2,"attributes":{"x":[[0,1,1e999]]}}', "the number 1e999 is beyond a double"),
        (b'{"id":2}', "an attribute row must have an object under attributes, got the keys ['id']"),
        (
            b'{"id":2,"attributes":null}',
            "an attribute row must have an object under attributes, got NoneType",
        ),
        (b'{"id":2,"attributes":[]}', "an attribute row must have an object under attributes, got list"),
        (b"7", "an attribute row must be a JSON object"),
        (b'{"id":2,"attr', "not JSON"),
        (b'{"id":"\xff","attributes":{}}', "not UTF-8: byte 0xff at byte 8 of the line"),
    ],
)
def test_a_malformed_row_fails_with_its_line_or_keeps_its_place_empty(tmp_path, line, message):
    path = write(tmp_path, b'{"id":1,"attributes":{}}', line, b'{"id":3,"attributes":{}}')

    with pytest.raises(InputError) as caught:
        list(read_attribute_rows(path))
    assert str(caught.value).startswith(f"{path}:2: {message}")

    counts = Counts()
    rows = list(read_attribute_rows(path, malformed_row="skip", counts=counts))
    assert [(number, document_id) for number, document_id, _ in rows] == [(1, 1), (2, UNREADABLE_ID), (3, 3)]
    assert counts.noted == {"malformed_attribute_rows": 1}
    assert counts.num_in == 0


def test_lone_surrogates_in_keys_and_values_are_replaced(tmp_path):
    counts = Counts()
    path = write(tmp_path, rb'{"id":"\ud800","attributes":{"k":"\udfff"}}')

    assert list(read_attribute_rows(path, counts=counts)) == [(1, "\ufffd", {"k": "\ufffd"})]
    assert counts.noted == {"lone_surrogates": 2}


def test_a_row_is_written_as_dolma_writes_it():
    assert encode_attribute_row("é", {"t__x": [[0, 5, 0.5]], "t__y": []}, "web") == (
        '{"id":"é","attributes":{"t__x":[[0,5,0.5]],"t__y":[]},"source":"web"}'.encode()
    )
    assert encode_attribute_row(7, {}) == b'{"id":7,"attributes":{}}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_never_written(value):
    with pytest.raises(ValueError, match=f"document 'a': an attribute must be finite, got {value}"):
        encode_attribute_row("a", {"x": [[0, 1, value]], "y": None})

    assert encode_attribute_row("a", {"x": None}) == b'{"id":"a","attributes":{"x":null}}'
