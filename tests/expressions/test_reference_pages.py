"""The examples of the reference pages on JSONPath and jq are run: what a page shows is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.jsonpath_nodes import compile_find
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.predicates import compile_predicate
from mixle_assets.expressions.replacements import compile_replacement
from mixle_assets.expressions.traps import find_traps

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def read_page(name):
    """The page's document, and its tables by their header: rows of cells, code without its quotes."""
    text = (PAGES / name).read_text(encoding="utf-8")
    [document] = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    rows = []
    header = None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if header is None:
            header = tuple(cells[:-1])
        elif not set(line) <= set("|-"):
            rows.append((header, [re.sub(r"^`(.*)`$", r"\1", cell) for cell in cells]))
    return json.loads(document), rows


def rows_of(name, *header):
    found = [cells for head, cells in read_page(name)[1] if head == header]
    assert found, f"{name} has no table {header}"
    return found


JSONPATH, _ = read_page("jsonpath.md")
JQ, _ = read_page("jq.md")


@pytest.mark.parametrize(("path", "nodes", "_meaning"), rows_of("jsonpath.md", "path", "nodes"))
def test_a_path_has_the_nodes_shown(path, nodes, _meaning):
    found = compile_find(parse_jsonpath(path))(JSONPATH, JSONPATH)

    assert found == json.loads(nodes)
    assert compile_predicate(path).matches(JSONPATH) is bool(found)


@pytest.mark.parametrize(("predicate", "holds", "_meaning"), rows_of("jsonpath.md", "predicate", "holds"))
def test_a_predicate_holds_as_shown(predicate, holds, _meaning):
    matches = compile_predicate(f"$.attributes[?({predicate})]").matches(JSONPATH)

    assert matches is json.loads(holds)


@pytest.mark.parametrize(("expression", "column", "message"), rows_of("jsonpath.md", "rejected", "column"))
def test_an_expression_is_refused_as_shown(expression, column, message):
    with pytest.raises(ExpressionError) as caught:
        compile_predicate(expression)
    assert caught.value.column == int(column)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("syntax", "rule", "trap"),
    [("jsonpath", rule, trap) for rule, trap, _ in rows_of("jsonpath.md", "rule", "trap")]
    + [("jq", rule, trap) for rule, trap, _ in rows_of("jq.md", "rule", "trap")],
)
def test_lint_warns_as_shown(syntax, rule, trap):
    assert trap in {found.kind for found in find_traps(rule, syntax)}


@pytest.mark.parametrize(
    ("rule", "include", "exclude", "_meaning"), rows_of("jq.md", "rule", "include", "exclude")
)
def test_a_jq_rule_matches_as_shown(rule, include, exclude, _meaning):
    assert compile_predicate(rule, "jq", role="include").matches(JQ) is json.loads(include)
    assert compile_predicate(rule, "jq", role="exclude").matches(JQ) is json.loads(exclude)


@pytest.mark.parametrize(("program", "outputs", "_meaning"), rows_of("jq.md", "program", "outputs"))
def test_a_jq_program_has_the_outputs_shown(program, outputs, _meaning):
    compiled = JqProgram(program, by_value=True)

    assert compiled.outputs(JQ) == json.loads(outputs)
    assert compiled.outputs_of_libjq(JQ) == json.loads(outputs)


@pytest.mark.parametrize(("program", "message", "_meaning"), rows_of("jq.md", "failing", "message"))
def test_a_jq_rule_fails_as_shown(program, message, _meaning):
    with pytest.raises(EvaluationError) as caught:
        compile_predicate(program, "jq").matches(JQ)
    assert message in caught.value.message


@pytest.mark.parametrize(("template", "text", "_meaning"), rows_of("jq.md", "replacement", "text"))
def test_a_replacement_gives_the_text_shown(template, text, _meaning):
    assert compile_replacement(template).render(JQ, "ab") == text


def test_the_functions_said_to_run_in_python_do():
    page = (PAGES / "jq.md").read_text(encoding="utf-8")
    [names] = re.findall(r"^`(length [a-z_ ]+)`\.$", page, re.MULTILINE)
    arguments = {"select": "(.)", "map": "(.)", "startswith": '("a")', "endswith": '("a")', "has": '("a")'}

    for name in names.split():
        assert not JqProgram(f".attributes.x | {name}{arguments.get(name, '')}", by_value=True).runs_in_libjq
