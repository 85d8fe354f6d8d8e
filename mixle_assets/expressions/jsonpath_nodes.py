"""JSONPath syntax trees to functions that find nodes and judge predicates, with Dolma's meanings.

Three kinds of function are built, each taking the value at hand and the document: ``Find`` gives every node
of a path, ``Value`` the one node of a path that has at most one (or ``MISSING``), ``Test`` the truth of a
predicate. Nothing here raises on data: what has the wrong type is simply not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from mixle_assets.errors import ExpressionError
from mixle_assets.expressions.jsonpath_ast import (
    And,
    Compare,
    Current,
    Descend,
    DescendAll,
    Exists,
    Filter,
    Index,
    Indices,
    Key,
    Keys,
    Length,
    Literal,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Root,
    Slice,
    Step,
    Wildcard,
)
from mixle_assets.expressions.jsonpath_operators import (
    ONE_TO_ONE,
    OPERATORS,
    any_matches,
    is_number,
    json_equal,
    members,
)
from mixle_assets.expressions.regexes import Pattern, RegexError, compile_regex

Find: TypeAlias = Callable[[Any, Any], list[Any]]
Value: TypeAlias = Callable[[Any, Any], Any]
Test: TypeAlias = Callable[[Any, Any], bool]


class _Missing:
    """The type of ``MISSING``: no node, which is something else than a node that is null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

SINGULAR_STEPS: Final = (Root, Current, Key, Index)
"""Steps that lead from one node to at most one."""

_MANY_NODES = (Filter, Indices, Keys, Slice, Wildcard)


def is_singular(path: Path) -> bool:
    """Whether the path can have one node at most, whatever the document."""
    return all(isinstance(step, SINGULAR_STEPS) for step in path.steps)


# -- paths ------------------------------------------------------------------------------------------


def compile_find(path: Path) -> Find:
    """Build the function that lists every node of ``path``, in document order."""
    if is_singular(path):
        value = compile_value(path)

        def find_one(current: Any, document: Any) -> list[Any]:
            found = value(current, document)
            return [] if found is MISSING else [found]

        return find_one
    steps = path.steps
    if isinstance(steps[-1], Length):
        return _compile_length(steps[:-1])
    walks = [_compile_step(step) for step in steps]
    if len(walks) == 1:
        return walks[0]

    def find(current: Any, document: Any) -> list[Any]:
        nodes = [current]
        for walk in walks:
            nodes = [found for node in nodes for found in walk(node, document)]
            if not nodes:
                break
        return nodes

    return find


def compile_value(path: Path) -> Value:
    """Build the function that gives the one node of a singular path, or ``MISSING``."""
    steps = path.steps
    start = max((i for i, step in enumerate(steps) if isinstance(step, Root)), default=None)
    rest = [
        step for step in (steps if start is None else steps[start + 1 :]) if isinstance(step, Key | Index)
    ]
    places = tuple(step.name if isinstance(step, Key) else step.position for step in rest)
    from_root = start is not None
    if not places:
        return (lambda current, document: document) if from_root else (lambda current, document: current)
    if len(places) == 1 and isinstance(places[0], str):
        name = places[0]
        if from_root:
            return lambda current, document: (
                document.get(name, MISSING) if type(document) is dict else MISSING
            )
        return lambda current, document: current.get(name, MISSING) if type(current) is dict else MISSING

    def value(current: Any, document: Any) -> Any:
        node = document if from_root else current
        for place in places:
            if isinstance(place, str):
                if type(node) is not dict:
                    return MISSING
                node = node.get(place, MISSING)
            else:
                if type(node) is not list or not -len(node) <= place < len(node):
                    return MISSING
                node = node[place]
        return node

    return value


def _compile_length(steps: tuple[Step, ...]) -> Find:
    """``length()``: how many nodes a selection of many has, else the members of the first node's array."""
    counts_nodes = False
    for step in steps:
        if isinstance(step, _MANY_NODES):
            counts_nodes = True
        elif isinstance(step, Index):
            counts_nodes = False
    find: Find = compile_find(Path(steps)) if steps else (lambda current, document: [current])

    def count(current: Any, document: Any) -> list[Any]:
        nodes = find(current, document)
        if not nodes:
            return []
        if counts_nodes:
            return [len(nodes)]
        return [len(nodes[0])] if type(nodes[0]) is list else []

    return count


def _compile_step(step: Step) -> Find:
    match step:
        case Root():
            return lambda node, document: [document]
        case Current():
            return lambda node, document: [node]
        case Key(name):
            return lambda node, document: [node[name]] if type(node) is dict and name in node else []
        case Descend(name):
            return lambda node, document: [
                below[name] for below in _descendants(node) if type(below) is dict and name in below
            ]
        case DescendAll():
            return lambda node, document: list(_descendants(node))[1:]
        case Wildcard():
            return lambda node, document: members(node)
        case Index(position):
            return lambda node, document: (
                [node[position]] if type(node) is list and -len(node) <= position < len(node) else []
            )
        case Slice():
            return lambda node, document: _slice(node, step)
        case Indices(positions):
            return lambda node, document: (
                [node[at] for at in positions if -len(node) <= at < len(node)] if type(node) is list else []
            )
        case Keys(names):
            return lambda node, document: (
                [node[name] for name in names if name in node] if type(node) is dict else []
            )
        case Filter(predicate):
            test = compile_test(predicate)

            def choose(node: Any, document: Any) -> list[Any]:
                if type(node) is list:
                    return [member for member in node if test(member, document)]
                return [node] if test(node, document) else []

            return choose
    raise TypeError(f"{step!r} is no step")


def _descendants(node: Any) -> Iterator[Any]:
    """Yield the value and all below it, each before what it holds, however deep they nest."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(members(found)))


def _slice(node: Any, step: Slice) -> list[Any]:
    """Dolma's slice of ``[a b c d]``: ``[1:3]`` is ``b c``, ``[:0]`` is all, ``[0:9]`` is nothing."""
    if type(node) is not list:
        return []
    length = len(node)
    if abs(step.start) > length or abs(step.stop) > length:
        return []
    start = step.start if step.start >= 0 else length + step.start
    stop = step.stop if step.stop >= 0 else length + step.stop
    return node[start : stop or length : step.step]


# -- predicates -------------------------------------------------------------------------------------


def compile_test(predicate: Predicate) -> Test:
    """Build the function that says whether a predicate holds for a value.

    Raises:
        ExpressionError: A regular expression in it does not compile.
    """
    match predicate:
        case Exists(Literal()):
            return lambda current, document: True
        case Exists(Path() as path) if is_singular(path):
            value = compile_value(path)
            return lambda current, document: value(current, document) is not MISSING
        case Exists(Path() as path):
            find = compile_find(path)
            return lambda current, document: bool(find(current, document))
        case Not(part):
            inner = compile_test(part)
            return lambda current, document: not inner(current, document)
        case And(parts):
            tests = [compile_test(part) for part in parts]
            if len(tests) == 2:
                first, second = tests
                return lambda current, document: first(current, document) and second(current, document)
            return lambda current, document: all(test(current, document) for test in tests)
        case Or(parts):
            tests = [compile_test(part) for part in parts]
            return lambda current, document: any(test(current, document) for test in tests)
        case Compare():
            return _compile_comparison(predicate)
    raise TypeError(f"{predicate!r} is no predicate")


def _compile_comparison(comparison: Compare) -> Test:
    left, right = comparison.left, comparison.right
    if comparison.operator in ONE_TO_ONE and isinstance(left, Path) and is_singular(left):
        if isinstance(right, Literal):
            return _compare_with_literal(compile_value(left), comparison.operator, right.value)
    elif comparison.operator == "~=" and isinstance(right, Literal):
        pattern = _compile_literal_regex(right)
        find = _compile_operand(left)
        return lambda current, document: any_matches(find(current, document), pattern)
    compare = OPERATORS[comparison.operator]
    find_left, find_right = _compile_operand(left), _compile_operand(right)
    return lambda current, document: compare(find_left(current, document), find_right(current, document))


def _compile_operand(operand: Operand) -> Find:
    if isinstance(operand, Path):
        return compile_find(operand)
    nodes = [operand.value]
    return lambda current, document: nodes


def _compare_with_literal(value: Value, operator: str, literal: Any) -> Test:
    """The common comparison: one value against a constant."""
    if is_number(literal):
        match operator:
            case ">":
                return lambda current, document: (
                    is_number(found := value(current, document)) and found > literal
                )
            case "<":
                return lambda current, document: (
                    is_number(found := value(current, document)) and found < literal
                )
            case ">=":
                return lambda current, document: (
                    is_number(found := value(current, document)) and found >= literal
                )
            case "<=":
                return lambda current, document: (
                    is_number(found := value(current, document)) and found <= literal
                )
    if operator in ("<", ">"):
        return lambda current, document: False
    negated = operator == "!="
    return lambda current, document: json_equal(value(current, document), literal) is not negated


def _compile_literal_regex(literal: Literal) -> Pattern:
    try:
        return compile_regex(literal.value)
    except RegexError as error:
        raise ExpressionError(
            f"the regular expression {literal.value!r} does not compile: {error}", column=literal.column
        ) from None
