import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.formats import scan


def repeated(*lines):
    codes, ends = scan.find_line_ends(b"\n".join(lines))
    return scan.find_repeated_keys(codes, ends, [json.loads(line) for line in lines])


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":"say \\"b\\": and \\"c\\" : d"}',
        b'{"a":":starts with a colon","b":[":","::"],"c": ":"}',
        b'{"a" :1, "b": {"c" : [{"d":"x:"}]}}',
        b'{"":{"":{"":":"}}}',
        b"[]",
        b"7",
    ],
)
def test_what_holds_no_key_twice_needs_no_second_look(line):
    assert repeated(b"{}", line, b"{}") == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1,"a":2}',
        b'{"a":{"b":[{"c":1,"c":2}]}}',
        b'{"a" :1, "a" :2}',
        b'{"a"  :1}',  # in vain, which is no harm
        b'{"a\\\\":1,"a\\\\":2}',
        b'{"a:":1}',
    ],
)
def test_what_may_hold_one_gets_it(line):
    assert repeated(b"{}", line, b"{}") == [1]


def is_plain(text):
    """Keys that end like this, and an escaped quote behind a backslash, are looked at in vain."""
    return not text.endswith((":", ",", "[", "{", " ")) and '\\"' not in text


@given(
    st.lists(
        st.recursive(
            st.text('"\\{a: ', max_size=4).filter(is_plain),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.text(':"{a ', min_size=1, max_size=3).filter(is_plain), inner, max_size=3
                )
            ),
            max_leaves=20,
        ).map(lambda value: {"a": value}),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
@settings(deadline=None)
def test_keys_are_counted_without_parsing(values, separators):
    assert repeated(*(json.dumps(value, separators=separators).encode() for value in values)) == []


def test_keys_are_counted_across_the_pieces_of_a_block():
    lines = [json.dumps({"id": number, "text": "x" * 77, "m": {"n": 1}}).encode() for number in range(5000)]
    lines[4000] = b'{"id":1,"id":2}'

    assert repeated(*lines) == [4000]


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (b"{}", True),
        (b'{"a":1}\n{"b":2}', True),
        (b'{"a":1\n,"b":2}', False),
        (b'{"a":1}\n\n{"b":2}', False),
        (b'{"a":1}\n', False),
        (b'\n{"a":1}', False),
        (b'{"a":1}\n7', False),
        (b'{"a":1} \n{"b":2}', False),
    ],
)
def test_an_object_a_line_is_told_from_its_ends(content, is_one):
    assert scan.is_an_object_a_line(*scan.find_line_ends(content)) is is_one
