import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.formats import scan


def suspicious(*lines):
    return scan.find_suspicious_lines(b"\n".join(lines), [json.loads(line) for line in lines])


@given(before=st.integers(0, 9), digits=st.integers(1, 25), places=st.lists(st.integers(0, 3000), max_size=3))
@settings(deadline=None, max_examples=200)
def test_an_integer_of_19_digits_is_found_on_its_line_and_a_shorter_one_is_not(before, digits, places):
    lines = [b'{"id":%d}' % number for number in range(3001)]
    long = b'{"%s":[%s]}' % (b"x" * before, b"7" * digits)
    for place in places:
        lines[place] = long

    assert suspicious(*lines) == (sorted(set(places)) if digits >= 19 else [])


def test_long_integers_are_found_across_the_pieces_of_a_block():
    line = b'{"text":"%s","n":%d}' % (b"x" * 4973, 10**19)
    lines = [line] * 200  # 1 MB

    assert suspicious(*lines) == list(range(200))


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":0.12345678901234567890}',
        b'{"a":12345678901234567890.5}',
        b'{"a":1234567890123456789012e3}',
        b'{"a":"12345678901234567890"}',
        b'{"a":999999999999999999}',
        b'{"a":"say \\"b\\": and \\"c\\" : d"}',
        b'{"a" :1, "b": {"c" : [{"d":"x:"}]}}',
        b"[]",
        b"7",
    ],
)
def test_what_the_fast_decoder_keeps_needs_no_second_look(line):
    assert suspicious(line) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":12345678901234567890}',
        b'{"a":[1,-12345678901234567890 ]}',
        b'{"text":"a long number, 12345678901234567890, in a text"}',  # too often is no harm
        b'{"a":1,"a":2}',
        b'{"a":{"b":[{"c":1,"c":2}]}}',
        b'{"a" :1, "a" :2}',
        b'{"a"  :1}',
        b'{"a\\\\":1,"a\\\\":2}',
        b'{"a":":starts with a colon"}',
    ],
)
def test_what_the_fast_decoder_may_change_gets_one(line):
    assert suspicious(b"{}", line, b"{}") == [1]


def is_plain(text):
    """What looks like the end of a key inside a string is found too often, which is no harm."""
    return not text.lstrip(" ").startswith(":") and '\\"' not in text


@given(
    st.lists(
        st.recursive(
            st.text('"\\{a: ', max_size=4).filter(is_plain),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.text(':"{a ', max_size=3).filter(is_plain),
                    inner,
                    max_size=3,
                )
            ),
            max_leaves=20,
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
@settings(deadline=None)
def test_keys_are_counted_without_parsing(values, separators):
    assert suspicious(*(json.dumps(value, separators=separators).encode() for value in values)) == []


def test_keys_are_counted_across_the_pieces_of_a_block():
    lines = [json.dumps({"id": number, "text": "x" * 77, "m": {"n": 1}}).encode() for number in range(5000)]
    lines[4000] = b'{"id":1,"id":2}'

    assert suspicious(*lines) == [4000]
