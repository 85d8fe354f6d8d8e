"""jq in Python against libjq: the same outputs, or an error in both, over random programs and documents."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixle_assets.expressions.jq_closures import compile_program
from mixle_assets.expressions.jq_parser import parse_jq
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.jq_values import JqError, Undecided

KEYS = ["a", "b", "spans", "x-y"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 6),
    st.sampled_from([0.0, -0.5, 0.1, 0.30000000000000004, 1.5, 2.0, 1e20, -1e-7, 2**53, 2**53 + 1]),
    st.sampled_from(["", "a", "ab", "é😀", "10", "\uffff"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
spans = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), scalars).map(list), max_size=3)
documents = st.fixed_dictionaries({}, optional={"a": values, "b": values, "spans": spans | values})

literals = st.sampled_from(
    ["null", "true", "false", "0", "1", "2.5", "-1", ".5", "1e1", '""', '"a"', '"ab"', "[]", "[1]", "[1,2]"]
)
steps = st.sampled_from(
    [".a", ".b", ".spans", '."x-y"', '["a"]', "[0]", "[-1]", "[2]", "[]", "[0:1]", "[1:]", "[:-1]", "[0.5]"]
)


def paths_from(*starts: str) -> st.SearchStrategy[str]:
    def build(start: str, tail: list[tuple[str, bool]]) -> str:
        text = start
        for step, optional in tail:
            text += ("." if step.startswith("[") and text == "" else "") + step + ("?" if optional else "")
        return text.replace("..", ".")

    tails = st.lists(st.tuples(steps, st.integers(0, 4).map(lambda number: number == 0)), max_size=3)
    return st.builds(build, st.sampled_from(starts), tails)


terms = st.one_of(literals, paths_from(".", ".a", ".b", ".spans"))


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "//", "|", ","]
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(binary), inner),
        # no parentheses: libjq's precedences must be ours
        st.builds("{} {} {}".format, inner, st.sampled_from(binary), inner),
        st.builds("({})?".format, inner),
        st.builds("-({})".format, inner),
        st.builds("[{}]".format, inner),
        st.builds("({} | {})".format, inner, st.sampled_from(FUNCTIONS)),
        st.builds("({} | {}({}))".format, inner, st.sampled_from(FUNCTIONS_OF_ONE), inner),
        st.builds("{}({}; {})".format, st.sampled_from(["any", "all"]), inner, inner),
        st.builds("(if {} then {} else {} end)".format, inner, inner, inner),
        st.builds("if {} then {} elif {} then {} end".format, inner, inner, inner, inner),
        st.builds("{}[{}]".format, paths_from(".a", ".b"), inner),
        st.builds("({}){}".format, inner, steps),
    )


FUNCTIONS = [
    "length", "type", "not", "add", "keys", "to_entries", "floor", "first", "last", "any", "all", "empty",
    "numbers", "strings", "arrays", "objects", "nulls", "booleans", "values", "scalars", "iterables",
]  # fmt: skip
FUNCTIONS_OF_ONE = ["select", "map", "any", "all", "startswith", "endswith", "has", "first"]

programs = st.recursive(terms, grown, max_leaves=10)


@lru_cache(maxsize=16)
def compiled_by_libjq(program: str) -> Any:
    try:
        return jq.compile(program)
    except ValueError:
        return None


def compiles(program: str) -> bool:
    return compiled_by_libjq(program) is not None


def of_libjq(program: str, value: object) -> list[object] | str:
    try:
        return list(compiled_by_libjq(program).input_value(value).all())
    except ValueError:
        return "error"


def of_python(program: str, value: object) -> list[object] | str | None:
    """Outputs or "error"; None where libjq is asked."""
    tree = parse_jq(program)
    run = None if tree is None else compile_program(tree)
    if run is None:
        return None
    try:
        return list(run.many(value))
    except JqError:
        return "error"
    except Undecided:
        return None


def same(ours: object, theirs: object) -> bool:
    """Equal in type and value; an integral number is one number whether Python holds an int or a float."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return float(ours) == float(theirs)  # libjq's way back into Python rounds 2**53 + 1
    return ours == theirs


@settings(deadline=None, max_examples=500)
@given(program=programs, document=documents)
@example(program=".a.b?", document={"a": 3})
@example(program="1 - -2 * 3 // 4 | . + 1, 2", document={})
@example(program="[.a, .b] | .[0] < .[1] or .[1] == null", document={"a": 2**53 + 1, "b": 2**53})
def test_python_and_libjq_give_the_same_outputs_or_both_fail(program, document):
    if not compiles(program):
        return
    ours = of_python(program, document)

    assert ours is None or same(ours, of_libjq(program, document)), (ours, of_libjq(program, document))


@settings(deadline=None, max_examples=150)
@given(program=programs, document=documents)
def test_a_program_sees_nothing_that_it_is_not_said_to_read(program, document):
    """The document that is handed over is cut down; the outputs must not show it."""
    program = f".attributes | ({program})"
    if not compiles(program):
        return
    whole = {"id": "1", "text": "ab", "attributes": document}
    compiled = JqProgram(program, by_value=True)
    if compiled.reads.fields is None or compiled.reads.attribute_keys is None:
        return
    cut = {"attributes": {key: document[key] for key in compiled.reads.attribute_keys if key in document}}

    assert of_libjq(program, cut) == of_libjq(program, whole)


@pytest.mark.parametrize(
    ("program", "value", "outputs"),
    [
        (".a.b", {"a": {"b": 1}}, [1]),
        (".a[-1]", {"a": [1, 2]}, [2]),
        (".[] , .[0]", [1, 2], [1, 2, 1]),
        ("(1,2) + (10,20)", None, [11, 12, 21, 22]),
        ("(true,false) and (true,false)", None, [True, False, False]),
        (".a.b?", {"a": 3}, []),
        ("(.a.b)?", 3, []),
        ("null < false, false < true, true < 0, 0 < \"\", \"\" < [], [] < [0], [0] < ([] | not)", None,
         [True, True, True, True, True, True, False]),
        ("[.[] | select(. > 1)] | add", [1, 2, 3], [5]),
        ("if . == [] then 1 elif .[0] then 2 end", [0], [2]),
        ("any(.[]; . > 1), all(.[]; . > 1)", [1, 2], [True, False]),
        ("any(.[]; .[0])", [[1], 3], [True]),  # stops before the 3, which has no [0]
        ("map(.[2] * (.[1] - .[0])) | add", [[0, 4, 0.5], [4, 6, 1]], [4]),
        ("to_entries | map(select(.key | startswith(\"a\")).value)", {"a1": 1, "b": 2, "a2": 3}, [[1, 3]]),
        ("-2 * 3 + 1", None, [-5]),
        ("1, 2 | . * 10", None, [10, 20]),
        ("5.9 % 3, -5 % 3, 5 % (-2.7)", None, [2, -2, 1]),
    ],
)  # fmt: skip
def test_programs_run_in_python(program, value, outputs):
    assert of_python(program, value) == outputs
    assert of_libjq(program, value) == outputs


@pytest.mark.parametrize(
    "program", [".a.b", ".[0]", '. + "a"', "1 / 0", "length", ".[]", "keys", 'startswith("a")', "-true"]
)
def test_errors_are_errors_in_both(program):
    assert of_python(program, True) == of_libjq(program, True) == "error"


@pytest.mark.parametrize(
    "program",
    [
        "def f: 1; f",
        "label $out | break $out",
        ". as [$a] | $a",
        ". as $x | $x",
        "reduce .[] as $x (0; . + $x)",
        'test("a")',
        "@json",
        '"\\(.)"',
        "1.00000000000000000001",
        "9007199254740993",
        ".a |= 1",
        "{a: 1}",
        "..",
    ],
)
def test_the_rest_is_left_to_libjq(program):
    assert compiles(program)
    assert of_python(program, None) is None


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (". + 1", 2**60),
        (". < 1", 2**60),
        (". * 10", 1e308),
        ('"ab" * .', 2),
        (". / .", "a"),
        (".[0:0.5]", []),
    ],
)
def test_values_that_python_holds_otherwise_are_left_to_libjq(program, value):
    assert of_python(program, value) is None
