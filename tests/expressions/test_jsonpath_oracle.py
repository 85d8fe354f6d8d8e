"""JSONPath against jsonpath-ng, on the sub-grammar that both read alike."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonpath_ng.ext import parse

from mixle_assets.expressions.jsonpath_nodes import compile_find
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath

KEYS = ["a", "b", "a_b", "x1"]

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, "", "a", "10"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=12,
)
documents = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)

names = st.sampled_from(KEYS)
plain_steps = st.one_of(
    st.builds(".{}".format, names),
    st.builds("['{}']".format, names),
    st.builds("..{}".format, names),
    st.builds("[{}]".format, st.integers(0, 2)),
)


def of_jsonpath_ng(expression, document):
    return [match.value for match in parse(expression).find(document)]


def of_ours(expression, document):
    return compile_find(parse_jsonpath(expression))(document, document)


def counted(nodes):
    """Nodes without their order, which the two choose differently after ``..``."""
    return Counter(json.dumps(node, sort_keys=True) for node in nodes)


@settings(deadline=None, max_examples=400)
@given(steps=st.lists(plain_steps, min_size=1, max_size=4), document=documents)
def test_plain_paths_find_what_jsonpath_ng_finds(steps, document):
    expression = "$" + "".join(steps)

    assert counted(of_ours(expression, document)) == counted(of_jsonpath_ng(expression, document))


@settings(deadline=None, max_examples=300)
@given(
    key=names,
    member=names,
    operator=st.sampled_from(["<", ">", "<=", ">=", "=="]),
    number=st.integers(-2, 2),
    rows=st.lists(st.fixed_dictionaries({}, optional={"a": st.integers(-3, 3), "b": st.integers(-3, 3)})),
)
def test_filters_on_arrays_find_what_jsonpath_ng_finds(key, member, operator, number, rows):
    expression = f"$.{key}[?(@.{member} {operator} {number})]"

    assert of_ours(expression, {key: rows}) == of_jsonpath_ng(expression, {key: rows})


@settings(deadline=None, max_examples=200)
@given(start=st.integers(-3, 4), stop=st.integers(1, 4), step=st.integers(1, 3), size=st.integers(4, 6))
def test_slices_within_the_array_find_what_jsonpath_ng_finds(start, stop, step, size):
    expression = f"$.a[{start}:{stop}:{step}]"
    document = {"a": list(range(size))}

    assert of_ours(expression, document) == of_jsonpath_ng(expression, document)


def test_where_a_filter_meets_an_object_jsonpath_ng_finds_nothing_and_so_no_published_rule_fires():
    document = {"attributes": {"x": [[0, 9, 3]]}}
    expression = "$.attributes[?(@.x[0][2] < 50)]"

    assert of_jsonpath_ng(expression, document) == []
    assert of_ours(expression, document) == [{"x": [[0, 9, 3]]}]
