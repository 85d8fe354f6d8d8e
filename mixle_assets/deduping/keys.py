"""The field two documents are compared by: a plain path such as ``$.metadata.url``, and its value's bytes.

A plain path names one place: fields and positions only. What selects many values is no key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from xxhash import xxh3_128_digest

from mixle_assets.errors import ExpressionError

TEXT_KEY = ("text",)


class _Missing:
    """The value of a path that leads nowhere; unlike None it is no JSON value."""


MISSING = _Missing()


@functools.lru_cache(maxsize=64)  # a check asks for it at each document; the parser takes 2 ms
def parse_key(path: str) -> tuple[str | int, ...]:
    """Return the steps of a plain path: ``$.metadata.urls[0]`` gives ``("metadata", "urls", 0)``.

    Raises:
        ExpressionError: The path does not parse, or could select more than one value.
    """
    import jsonpath_ng
    import jsonpath_ng.parser
    from jsonpath_ng.exceptions import JSONPathError

    def steps(node: Any) -> tuple[str | int, ...]:
        if isinstance(node, jsonpath_ng.Root):
            return ()
        if isinstance(node, jsonpath_ng.Child):
            return steps(node.left) + steps(node.right)
        if isinstance(node, jsonpath_ng.Fields) and len(node.fields) == 1 and node.fields[0] != "*":
            return (node.fields[0],)
        if isinstance(node, jsonpath_ng.Index) and len(node.indices) == 1:
            return (node.indices[0],)
        raise ExpressionError(f"a key must name one place, such as $.metadata.url, got {path!r}")

    try:
        parsed = jsonpath_ng.parser.parse(path)
    except JSONPathError as error:
        raise ExpressionError(f"{path!r} is no plain path: {error}") from error
    found = steps(parsed)
    if not found:
        raise ExpressionError(f"a key must name a field, such as $.metadata.url, got {path!r}")
    return found


def key_getter(path: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that takes a document to the value at a plain path, or to ``MISSING``.

    Raises:
        ExpressionError: As ``parse_key``.
    """
    steps = parse_key(path)

    def get(row: Mapping[str, Any]) -> Any:
        value: Any = row
        for step in steps:
            if isinstance(step, str):
                value = value.get(step, MISSING) if isinstance(value, dict) else MISSING
            elif isinstance(value, list) and -len(value) <= step < len(value):
                value = value[step]
            else:
                return MISSING
        return value

    return get


def hash_value(value: Any) -> bytes:
    """Return the XXH3-128 hash of a JSON value: a string by its UTF-8, anything else by its sorted JSON.

    Seeded by kind, so that ``7`` and ``"7"`` are two values.
    """
    if isinstance(value, str):
        return xxh3_128_digest(value.encode())
    # The standard encoder for what orjson refuses: integers beyond 64 bits.
    try:
        encoded = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        import json

        encoded = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return xxh3_128_digest(encoded, seed=1)
