import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.formats.documents import encode_row, read_documents, read_texts
from mixle_assets.formats.rows import MalformedRowError, decode_exactly
from mixle_assets.manifest import hash_bytes
from mixle_assets.records import Counts, Document


def write(tmp_path, *lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines))
    return str(path)


def documents_of(tmp_path, *lines, **options):
    return [row for _, row in read_documents(write(tmp_path, *lines), **options)]


def test_a_row_is_the_whole_object_in_its_own_order(tmp_path):
    [row] = documents_of(tmp_path, b'{"z":[1,{"y":null}],"id":"a","text":"t","B":-0.5}')

    assert list(row.items()) == [("z", [1, {"y": None}]), ("id", "a"), ("text", "t"), ("B", -0.5)]


@pytest.mark.parametrize(
    "digits",
    ["9007199254740993", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1" * 60],
)
def test_an_integer_keeps_every_digit(tmp_path, digits):
    line = b'{"id":"a","n":%s,"m":[%s]}' % (digits.encode(), digits.encode())

    [row] = documents_of(tmp_path, line)

    assert row == {"id": "a", "n": int(digits), "m": [int(digits)]}
    assert encode_row(row) == line


@pytest.mark.parametrize("padding", range(8))
def test_a_long_integer_is_found_wherever_it_stands(tmp_path, padding):
    line = b'{"%s":-9223372036854775809}' % (b"k" * padding)

    assert documents_of(tmp_path, line) == [{"k" * padding: -9223372036854775809}]


def test_a_lone_surrogate_becomes_a_replacement_character_and_is_counted(tmp_path):
    counts = Counts()
    line = rb'{"id":"a\udc00","text":"a\ud800b \ud83d\ude00","m":{"k\ud800":["\ud800"]}}'

    [row] = documents_of(tmp_path, line, counts=counts)

    assert row == {"id": "a\ufffd", "text": "a\ufffdb 😀", "m": {"k\ufffd": ["\ufffd"]}}
    assert counts.noted == {"lone_surrogates": 4}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":1,"s":NaN}', "NaN is no JSON number"),
        (b'{"id":1,"s":[-Infinity]}', "-Infinity is no JSON number"),
        (b'{"id":1,"s":1e400}', "the number 1e400 is beyond a double"),
        (b'{"id":1,"s":"\xff"}', "not UTF-8: byte 0xff at byte 14 of the line"),
        (b'{"id":1', "not JSON: Expecting ',' delimiter at character 8 of the line"),
        (b'{"id":1} {"id":2}', "not JSON: Extra data at character 10 of the line"),
        (b'{"id":1,}', "not JSON"),
        (b'{"id":"\x01"}', "not JSON: Invalid control character at"),
        (b"[1]", "a document must be a JSON object, got a list of 1"),
        (b"null", "a document must be a JSON object, got null"),
        (b'"text"', 'a document must be a JSON object, got "text"'),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_malformed_row_fails_with_its_line_or_is_skipped_and_counted(tmp_path, line, message):
    path = write(tmp_path, b'{"id":0}', line, b'{"id":9}')

    with pytest.raises(InputError) as caught:
        list(read_documents(path))
    assert str(caught.value).startswith(f"{path}:2: {message}")

    counts = Counts()
    assert [row["id"] for _, row in read_documents(path, malformed_row="skip", counts=counts)] == [0, 9]
    assert (counts.num_in, counts.dropped) == (1, {"malformed_row": 1})


def test_of_a_key_that_occurs_twice_the_last_value_counts(tmp_path):
    counts = Counts()

    [row] = documents_of(tmp_path, b'{"id":1,"a":{"b":1,"b":2},"id":3}', counts=counts)

    assert row == {"id": 3, "a": {"b": 2}}
    assert counts.noted == {"duplicate_keys": 2}


@pytest.mark.parametrize(
    "line",
    [
        rb'{"id":1,"text":"say \"id\": and \"id\": again"}',
        rb'{"id" : 1, "text" : ":::\":", "a\\" :[{"b":{"c": {}}}]}',
        rb'{"a\\":1,"b":"x\\"}',
        rb'{"":{"":{"":":"}}}',
    ],
)
def test_a_quote_before_a_colon_inside_text_is_no_second_key(tmp_path, line):
    counts = Counts()

    assert documents_of(tmp_path, line, b'{"a" :1,"a" : 2}', counts=counts) == [json.loads(line), {"a": 2}]
    assert counts.noted == {"duplicate_keys": 1}


def test_ids_keep_their_type(tmp_path):
    lines = (b'{"id":7,"text":""}', b'{"id":"7","text":""}', b'{"id":"007","text":""}')

    assert [row["id"] for row in documents_of(tmp_path, *lines)] == [7, "7", "007"]
    assert [document.id for _, document in read_texts(write(tmp_path, *lines))] == [7, "7", "007"]


def test_a_row_of_40_megabytes_between_small_ones_is_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    long = "x" * 40_000_000
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(["a", long, "b"])]
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))

    texts = [document.text for _, document in read_texts(str(path))]

    assert (len(texts), texts[0], texts[2]) == (3, "a", "b")
    assert texts[1] == long


def test_a_text_row_gives_id_text_source_and_metadata(tmp_path):
    path = write(
        tmp_path,
        b'{"id":"a","text":"t","source":"s","metadata":{"n":1},"added":"x"}',
        b"",
        b'{"text":"t","id":2,"source":null,"metadata":null}',
        b'{"id":[3],"text":"\\ud800","metadata":[1]}',
    )
    counts = Counts()
    reader = read_texts(path, counts=counts)

    assert list(reader) == [
        (1, Document(id="a", text="t", source="s", metadata={"n": 1})),
        (3, Document(id=2, text="t", source="", metadata={})),
        (4, Document(id=[3], text="\ufffd", source="", metadata={})),
    ]
    assert counts.noted == {"blank_lines": 1, "lone_surrogates": 1}
    with open(path, "rb") as file:  # noqa: PTH123
        assert reader.stamp.digest == hash_bytes(file.read())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b'{"content":"c","id":1}',
            "a document must have a string under text, got the keys ['content', 'id']",
        ),
        (b'{"id":1,"text":5}', "a document must have a string under text, got 5"),
        (b'{"text":"t"}', "a document must have the key id, got the keys ['text']"),
        (b"[]", "a document must be a JSON object, got a list of 0"),
        (b'{"id":1,"text":"\xff"}', "not UTF-8: byte 0xff"),
        (b"{", "not JSON"),
    ],
)
def test_a_text_row_without_id_or_text_fails_with_what_is_there(tmp_path, line, message):
    path = write(tmp_path, line)

    with pytest.raises(InputError) as caught:
        list(read_texts(path))
    assert message in str(caught.value)
    assert caught.value.line == 1

    counts = Counts()
    assert list(read_texts(path, malformed_row="skip", counts=counts)) == []
    assert (counts.num_in, counts.dropped) == (1, {"malformed_row": 1})


def test_a_policy_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="malformed_row must be error or skip, got 'ignore'"):
        read_documents(write(tmp_path, b"{}"), malformed_row="ignore")


def test_text_is_written_as_utf8_without_needless_escapes():
    assert encode_row({"id": "é", "text": '中文 😀 </a>\u2028\x7f\x01"\\'}) == (
        '{"id":"é","text":"中文 😀 </a>\u2028\x7f\\u0001\\"\\\\"}'.encode()
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(row=st.dictionaries(st.text(), json_values, max_size=5), ascii_only=st.booleans())
@settings(deadline=None)
def test_what_is_read_and_written_is_what_stood_there(tmp_path_factory, row, ascii_only):
    path = tmp_path_factory.getbasetemp() / "documents.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=ascii_only) + "\n", encoding="utf-8", newline="")

    [(number, found)] = read_documents(str(path))

    assert number == 1
    assert json.dumps(found) == json.dumps(row)
    assert json.dumps(json.loads(encode_row(found))) == json.dumps(row)


@given(
    row=st.dictionaries(st.text(max_size=4), json_values, min_size=1, max_size=3),
    place=st.integers(0, 60),
    byte=st.integers(0, 255),
)
@settings(deadline=None, max_examples=300)
def test_a_damaged_byte_is_taken_or_refused_alike_by_the_fast_and_the_exact_decoder(
    tmp_path_factory, row, place, byte
):
    line = bytearray(json.dumps(row, ensure_ascii=False).encode())
    line[place % len(line)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(b'{"id":1}\n' + bytes(line) + b'\n{"id":2}\n')
    fast, exact = Counts(), Counts()

    found = [row for _, row in read_documents(str(path), malformed_row="skip", counts=fast)]

    expected = []
    for one in path.read_bytes().split(b"\n"):
        if one.removesuffix(b"\r").strip():
            try:
                value = decode_exactly(one, exact)
            except MalformedRowError:
                value = None
            if isinstance(value, dict):
                expected.append(value)
    assert json.dumps(found) == json.dumps(expected)
    assert fast.noted.get("lone_surrogates") == exact.noted.get("lone_surrogates")


@given(st.floats(-1e300, 1e300), st.integers(1, 25))
@settings(deadline=None)
def test_a_float_is_read_correctly_rounded_however_it_is_spelled(tmp_path_factory, value, digits):
    path = tmp_path_factory.getbasetemp() / "floats.jsonl"
    spellings = [repr(value), f"{value:.{digits}e}", f"{value:.{digits}E}"]
    path.write_text('{"v":[' + ",".join(spellings) + "]}")

    [(_, row)] = read_documents(str(path))

    assert row["v"] == [float(spelling) for spelling in spellings]
