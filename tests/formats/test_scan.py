import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.formats import scan


@given(before=st.integers(0, 70_000), digits=st.integers(0, 25), after=st.integers(0, 9))
@settings(deadline=None)
def test_a_run_of_19_digits_is_never_missed_and_one_of_15_never_found(before, digits, after):
    piece = scan._PIECE_IN_BYTES
    content = b"x" * (before + piece - 35_000) + b"7" * digits + b"x" * after

    found = scan.may_hold_long_digits(content)

    assert found or digits < 19
    assert not found or digits > 15


@pytest.mark.parametrize("content", [b"", b"1", b"1" * 15, b'"a"', b":", b'":'])
def test_short_blocks_hold_nothing_long(content):
    assert not scan.may_hold_long_digits(content)


def starts_plainly(text):
    """A colon behind the quote that opens a string looks like the end of a key: found too often."""
    return not text.lstrip(" ").startswith(":")


@given(
    st.recursive(
        st.text('"\\{a: ', max_size=4).filter(starts_plainly),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(':"{a ', max_size=3).filter(starts_plainly), inner, max_size=3)
        ),
        max_leaves=20,
    ).filter(lambda value: not isinstance(value, str))
)
@settings(deadline=None)
def test_keys_are_counted_without_parsing(value):
    line = json.dumps(value, separators=(",", ":")).encode()

    assert scan.count_keys_of_line(line) == scan.count_built_keys(value)
    assert scan.count_keys(line) in (-1, scan.count_built_keys(value))


@pytest.mark.parametrize("line", [b'{"a" :1}', b'{"a"\t:1}', b'{"a" \t :1}', b'{"a":1,"b"\r: 2}'])
def test_a_space_before_a_colon_asks_for_a_second_look(line):
    assert scan.count_keys(line) == -1
    assert scan.count_keys_of_line(line) == line.count(b":")


def test_keys_are_counted_across_the_pieces_of_a_block():
    lines = [json.dumps({"id": number, "text": "x" * 77, "m": {"n": 1}}) for number in range(5000)]

    assert scan.count_keys("\n".join(lines).encode()) == 4 * 5000
