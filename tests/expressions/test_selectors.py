from __future__ import annotations

import pytest

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.expressions.selectors import compile_selector

SPANS = [[0, 5, 0.2], [6, 11, 0.9]]
DOCUMENT = {"id": "1", "text": "abc", "attributes": {"x": SPANS, "pii": {"email": [[1, 2, 1]]}, "none": None}}


@pytest.mark.parametrize(
    ("expression", "syntax", "nodes", "keys"),
    [
        ("$.attributes.x", "jsonpath", [SPANS], {"x"}),
        ("$@.attributes['x']", "jsonpath", [SPANS], {"x"}),
        ("$.attributes.pii.email", "jsonpath", [[[1, 2, 1]]], {"pii"}),
        ("$.attributes.x[*]", "jsonpath", SPANS, {"x"}),
        ("$.attributes.x[?(@[2] > 0.5)]", "jsonpath", [SPANS[1]], {"x"}),
        ("$.attributes.x[-1]", "jsonpath", [SPANS[1]], {"x"}),
        ("$.attributes['x','none','nope']", "jsonpath", [SPANS], {"x", "none", "nope"}),
        ("$.attributes.nope", "jsonpath", [], {"nope"}),
        ("$.attributes.none", "jsonpath", [], {"none"}),
        ("$.nope.x", "jsonpath", [], set()),
        ("$..email", "jsonpath", [[[1, 2, 1]]], None),
        ("$.attributes", "jsonpath", [DOCUMENT["attributes"]], None),
        (".attributes.x", "jq", [SPANS], {"x"}),
        (".attributes.x[]", "jq", SPANS, {"x"}),
        (".attributes?.pii?.email?", "jq", [[[1, 2, 1]]], {"pii"}),
        (".attributes.nope", "jq", [], {"nope"}),
        (".attributes.x[] | select(.[2] > 0.5)", "jq", [SPANS[1]], {"x"}),
        (".attributes.x + .attributes.pii.email", "jq", [[*SPANS, [1, 2, 1]]], {"x", "pii"}),
        ('.attributes | with_entries(select(.key == "x")) | .x', "jq", [SPANS], None),
        ("empty", "jq", [], set()),
    ],
)
def test_a_selector_gives_nodes_without_the_null_ones_and_says_what_it_reads(expression, syntax, nodes, keys):
    selector = compile_selector(expression, syntax)

    assert selector.select(DOCUMENT) == nodes
    assert selector.attribute_keys == keys


@pytest.mark.parametrize("document", [{}, {"attributes": None}, {"attributes": [1]}])
def test_where_there_are_no_attributes_there_are_no_nodes(document):
    assert compile_selector("$.attributes.x").select(document) == []


def test_a_selector_says_which_fields_it_reads():
    assert compile_selector("$.metadata.spans").fields == {"metadata"}
    assert compile_selector(".metadata.spans", "jq").fields == {"metadata"}
    assert compile_selector("$").fields is None
    assert compile_selector(".", "jq").fields is None


def test_a_jq_selector_that_fails_is_named():
    with pytest.raises(EvaluationError, match="Cannot iterate over null") as caught:
        compile_selector(".attributes.nope[]", "jq").select(DOCUMENT)
    assert caught.value.rule == ".attributes.nope[]"


@pytest.mark.parametrize(
    ("expression", "syntax"),
    [("attributes.x", "jsonpath"), ("$.attributes.x", "jq"), (".a |", "jq"), ("", "jq"), ("$.x", "xpath")],
)
def test_a_selector_that_does_not_compile_is_refused(expression, syntax):
    with pytest.raises(ExpressionError):
        compile_selector(expression, syntax)
