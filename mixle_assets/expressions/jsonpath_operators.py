"""The thirteen operators of JSONPath filters, on the lists of values their two sides give.

A side that finds nothing is an empty list. Dolma's truths for it are kept: ``!=``, ``nin``, ``size``,
``anyOf`` and ``subsetOf`` hold for what is missing. Numbers compare by value, which Dolma's do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mixle_assets.expressions.regexes import Pattern, RegexError, compile_regex


def members(node: Any) -> list[Any]:
    """What an array or object holds; nothing else holds anything."""
    if type(node) is list:
        return node
    return list(node.values()) if type(node) is dict else []


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number; ``true`` is none, though Python counts with it."""
    return type(value) is float or type(value) is int


def json_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: numbers by value (``1 == 1.0``), true never equals 1."""
    kind = type(left)
    if kind is not type(right):
        return is_number(left) and is_number(right) and bool(left == right)
    if kind is list:
        return len(left) == len(right) and all(map(json_equal, left, right))
    if kind is dict:
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def _equal(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(map(json_equal, left, right))


def _less(left: list[Any], right: list[Any]) -> bool:
    return (
        len(left) == 1
        and len(right) == 1
        and is_number(left[0])
        and is_number(right[0])
        and bool(left[0] < right[0])
    )


def _inside(left: list[Any], right: list[Any]) -> bool:
    if not right or type(right[0]) not in (list, dict):
        return False
    held = members(right[0])
    return any(json_equal(value, one) for value in left for one in held)


def _of_size(left: list[Any], right: list[Any]) -> bool:
    """A string's size is in UTF-8 bytes, an array's or object's in members; nothing has every size."""
    if not right or not is_number(right[0]):
        return False
    size = max(0, int(right[0]))
    return all(_size(value) == size for value in left)


def _size(value: Any) -> int:
    if type(value) is str:
        return len(value.encode())
    return len(value) if type(value) in (list, dict) else -1


def _any_of(left: list[Any], right: list[Any]) -> bool:
    if not left:
        return True
    if not right or type(right[0]) is not list:
        return False
    wanted = right[0]
    for value in left:
        candidates = value if type(value) is list else [value]
        if any(json_equal(candidate, one) for candidate in candidates for one in wanted):
            return True
    return False


def _subset_of(left: list[Any], right: list[Any]) -> bool:
    if not left:
        return True
    if not right or type(right[0]) is not list or not right[0] or type(left[0]) is not list:
        return False
    return all(any(json_equal(value, one) for one in right[0]) for value in left[0])


def _matches(left: list[Any], right: list[Any]) -> bool:
    """A pattern that comes from the document may be broken: then nothing matches it."""
    if not right or type(right[0]) is not str:
        return False
    try:
        pattern = compile_regex(right[0])
    except RegexError:
        return False
    return any_matches(left, pattern)


def any_matches(values: list[Any], pattern: Pattern) -> bool:
    """Whether a pattern is found in any of the values; only strings are searched."""
    return any(type(value) is str and pattern.search(value) is not None for value in values)


ONE_TO_ONE: Final = frozenset({"<", ">", "<=", ">=", "==", "!="})
"""Operators that compare one value with one value."""

OPERATORS: dict[str, Callable[[list[Any], list[Any]], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">=": lambda left, right: _less(right, left) or _equal(left, right),
    "~=": _matches,
    "in": _inside,
    "nin": lambda left, right: not _inside(left, right),
    "size": _of_size,
    "anyOf": _any_of,
    "noneOf": lambda left, right: not _any_of(left, right),
    "subsetOf": _subset_of,
}
