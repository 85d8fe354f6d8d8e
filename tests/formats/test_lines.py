import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.formats import codecs
from mixle_assets.formats.lines import read_lines
from mixle_assets.manifest import hash_bytes
from mixle_assets.records import Counts


def lines_of(tmp_path, content, **options):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    return list(read_lines(str(path), **options))


def test_crlf_a_byte_order_mark_and_a_missing_last_newline_are_no_part_of_a_line(tmp_path):
    assert lines_of(tmp_path, b'\xef\xbb\xbf{"id":1}\r\n{"id":2}') == [(1, b'{"id":1}'), (2, b'{"id":2}')]


def test_blank_lines_keep_their_number_and_are_counted(tmp_path):
    counts = Counts()

    assert lines_of(tmp_path, b"\n \t\r\na\n\r\n\nb\n\n", counts=counts) == [(3, b"a"), (6, b"b")]
    assert counts.noted == {"blank_lines": 5}


def test_lines_end_at_lf_only(tmp_path):
    text = "a\u2028b\u0085c\x0bd\x0ce\rf\x1cg"

    assert lines_of(tmp_path, f"{text}\nz".encode()) == [(1, text.encode()), (2, b"z")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n"])
def test_a_file_of_nothing_has_no_lines(tmp_path, content):
    assert lines_of(tmp_path, content) == []


def test_a_cut_file_fails_at_the_line_that_is_cut(tmp_path):
    rows = [b'{"id":%d}\n' % number for number in range(6)]
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"".join(rows[:3])) + gzip.compress(b"".join(rows[3:]))
    path.write_bytes(whole[:-9])

    # All six lines can be unpacked, but nothing vouches for the last one: the end of its member is missing.
    with pytest.raises(InputError) as caught:
        list(read_lines(str(path)))
    assert (caught.value.path, caught.value.line) == (str(path), 6)

    counts = Counts()
    reader = read_lines(str(path), malformed_row="skip", counts=counts)
    assert [number for number, _ in reader] == [1, 2, 3, 4, 5]
    assert counts.noted == {"truncated_inputs": 1}
    assert reader.stamp.digest == hash_bytes(path.read_bytes())


def test_a_folder_is_no_cut_file_and_never_tolerated(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(str(tmp_path), malformed_row="skip"))


def test_the_stamp_is_of_the_stored_bytes(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n"))
    reader = read_lines(str(path))

    assert list(reader) == [(1, b"a")]
    assert reader.stamp.digest == hash_bytes(path.read_bytes())


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=20),
    chunk=st.integers(1, 40),
    last_newline=st.booleans(),
)
@settings(deadline=None)
def test_where_chunks_end_changes_no_line(tmp_path_factory, lines, chunk, last_newline):
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if last_newline else b""))
    original, codecs.READ_IN_BYTES = codecs.READ_IN_BYTES, chunk
    try:
        found = list(read_lines(str(path)))
    finally:
        codecs.READ_IN_BYTES = original

    expected = [
        (number, line.removesuffix(b"\r"))
        for number, line in enumerate(lines, 1)
        if line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"").strip(b" \t\r")
    ]
    if expected and expected[0][0] == 1:
        expected[0] = (1, expected[0][1].removeprefix(b"\xef\xbb\xbf"))
    assert found == expected
