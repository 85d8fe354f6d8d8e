"""The rules of Dolma's published recipes: each compiles, and each shape hits and misses what it should.

``golden/expressions_published.jsonl`` has the 92 distinct expressions of the mixer configurations in
github.com/allenai/dolma (configs, docs/examples, tests/config) that were at hand, with how often each stands
there; an interpolated number is written out. The shapes are those of all 456 expressions in it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mixle_assets.expressions.predicates import compile_predicate
from mixle_assets.expressions.selectors import compile_selector
from mixle_assets.expressions.traps import find_traps

GOLDEN = Path(__file__).parent.parent / "golden" / "expressions_published.jsonl"
PUBLISHED = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
RULES = [one for one in PUBLISHED if one["role"] != "span"]
SELECTORS = [one for one in PUBLISHED if one["role"] == "span"]

KEY = "gopher__gopher_v1__word_count"


def scored(*scores, key=KEY, **fields):
    """A document whose attribute has spans with these scores."""
    return {"id": "1", "text": "x" * 100, "attributes": {key: [[0, 40, score] for score in scores]}, **fields}


def guard(comparison, root="$"):
    return f"{root}.attributes[?(@.{KEY} && @.{KEY}[0] && @.{KEY}[0][2]{comparison})]"


def unguarded(comparison):
    return f"$.attributes[?(@.{KEY}[0][2] {comparison})]"


def guard_in_jq(comparison):
    return (
        f'(.attributes.{KEY} | if type == "array" and length > 0 and .[0] != null and .[0][2] != null '
        f"then .[0][2] {comparison} else false end)"
    )


EDU = "HuggingFaceFW_fineweb-edu-classifier_score"
RATIO = next(rule["expression"] for rule in RULES if "613test" in rule["expression"])
EDUCATION = next(rule["expression"] for rule in RULES if EDU in rule["expression"])
EDU_KEY = next(iter(re.findall(r"attributes\.(\w+)\[0\]\[-1\] \* 2", EDUCATION)))


def education(score, edu, original):
    spans = {EDU_KEY: score, EDU: edu, f"{EDU}_original": original}
    return {"attributes": {key: [[0, 9, value]] for key, value in spans.items()}}


SHAPES = [
    # (syntax, rule, a document that it hits, one that it misses)
    ("jsonpath", guard(" > 0.3"), scored(0.31), scored(0.3)),
    ("jsonpath", guard(" >= 1.0", "$@"), scored(1), scored(0.99)),
    ("jsonpath", guard(" < 50"), scored(49, 100), scored(50, 1)),
    ("jsonpath", guard(" > 100000"), scored(100001), scored(100000)),
    ("jsonpath", guard(" < 0.8"), scored(0.79), scored()),
    ("jsonpath", "$.attributes[?(@['bad'] && !@['good'])]", scored(1, key="bad"), scored(1, key="good")),
    ("jsonpath", "$.attributes[?(@['bad'])]", scored(1, key="bad"), scored(1)),
    ("jsonpath", unguarded("< 25"), scored(24.9), scored(25)),
    ("jsonpath", guard(" >= 100"), scored(100.0), scored(99.9)),
    ("jsonpath", guard(">= 100"), scored(100), scored(99)),
    ("jsonpath", unguarded("< 0.5"), scored(0.4), scored(0.5)),
    ("jsonpath", unguarded("<= 0.5"), scored(0.5), scored(0.51)),
    ("jsonpath", unguarded(">= 0.9"), scored(0.9), {"attributes": {}}),
    (
        "jsonpath",
        "$.metadata[?(@.length < 500)]",
        {"metadata": {"length": 499}},
        {"metadata": {"length": 500}},
    ),
    (
        "jsonpath",
        "$.attributes[?(@.pii.too_much_pii == true)]",
        {"attributes": {"pii": {"too_much_pii": True}}},
        {"attributes": {"pii": {"too_much_pii": False}}},
    ),
    ("jsonpath", "$.attributes[?(@.toxicity > 0.8)]", {"attributes": {"toxicity": 0.9}}, scored(0.9)),
    ("jsonpath", "$.id", {"id": None}, {"text": "x"}),
    ("jq", guard_in_jq("> 0.3"), scored(0.31), scored(0.3)),
    ("jq", guard_in_jq("< 0.8"), scored(0.79), scored()),
    ("jq", guard_in_jq("< 50"), scored(49), {"attributes": {}}),
    ("jq", guard_in_jq(">= 1.0"), scored(1), scored(0.9)),
    # spans of the first 40 of 100 characters: 0.4 * score is at most 0.3 below a score of 0.75
    ("jq", RATIO, scored(0.7, key="613test_a"), scored(0.8, key="613test_a")),
    ("jq", RATIO, scored(5), scored(1, key="613test_b")),
    ("jq", EDUCATION, education(1.0, 0.9, 0.1), education(0.0, 0.8, 0.1)),
]


def signature(expression):
    """The shape of a rule: keys and numbers gone, whole and broken numbers apart."""
    text = re.sub(r"\s+", " ", expression)
    text = re.sub(r"(?<=[<>=] )\d+\.\d+|(?<=[<>=])\d+\.\d+", "F", text)
    text = re.sub(r"(?<=[<>=] )\d+|(?<=[<>=])\d+", "I", text)
    return re.sub(
        r"(?<=[@.]\.)\w+(?=[ \[)])|(?<=attributes\.)\w+|(?<=@\[')[^']+|(?<=^\$\.metadata\[\?\(@\.)\w+",
        "K",
        text,
    )


@pytest.mark.parametrize(("syntax", "rule", "hit", "miss"), SHAPES)
def test_each_published_shape_hits_and_misses(syntax, rule, hit, miss):
    for role in ("include", "exclude"):
        matches = compile_predicate(rule, syntax, role=role).matches
        assert matches(hit)
        assert not matches(miss)


def test_no_published_rule_has_a_shape_that_is_not_tried():
    tried = {signature(rule) for _, rule, _, _ in SHAPES}

    assert {signature(rule["expression"]) for rule in RULES} - tried == set()
    assert (len(PUBLISHED), sum(one["times"] for one in PUBLISHED)) == (92, 251)


@pytest.mark.parametrize("rule", RULES, ids=[f"{rule['syntax']}-{n}" for n, rule in enumerate(RULES)])
def test_every_published_rule_compiles_and_says_what_it_reads(rule):
    predicate = compile_predicate(rule["expression"], rule["syntax"], role=rule["role"])

    assert predicate.reads.fields is not None
    assert not predicate.runs_in_libjq
    # the comparisons of scores, which nearly all of them are, become one generated function
    assert predicate.reduction is not None or not re.search(r"\[0\]\[2\]", rule["expression"])
    assert {trap.kind for trap in find_traps(rule["expression"], rule["syntax"])} <= {"empty_fails"}


@pytest.mark.parametrize("one", SELECTORS, ids=[f"{one['syntax']}-{n}" for n, one in enumerate(SELECTORS)])
def test_every_published_selector_gives_the_spans_of_its_key(one):
    selector = compile_selector(one["expression"], one["syntax"])
    [key] = selector.attribute_keys
    spans = [[0, 4, 1.0]]
    inner = re.sub(r".*\b(email|company_name)\b.*", r"\1", one["expression"])
    value = {inner: spans} if key == "pii" else spans

    assert selector.select({"attributes": {key: value}}) == [spans]
    assert selector.select({"attributes": {}}) == []
