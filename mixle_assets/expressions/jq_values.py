"""jq's operations on JSON values held as Python values: order, arithmetic, indexing, lengths.

Only what Python computes exactly as libjq does is computed here. ``JqError`` is an error libjq gives as
well; ``Undecided`` is everything where the two could differ (integers beyond doubles, infinities, rare
operand types), and sends the document to libjq.
"""

from __future__ import annotations

import math
from typing import Any


class JqError(Exception):
    """libjq ends in an error here, too."""


class Undecided(Exception):  # noqa: N818 - no error: libjq decides
    """Python and libjq may differ here: libjq is to be asked."""


_MAX_EXACT = 2**53

_TYPE_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_TYPE_ORDER = {type(None): 0, int: 3, float: 3, str: 4, list: 5, dict: 6}


def type_name(value: Any) -> str:
    """Return jq's name for the type of a value."""
    return _TYPE_NAMES[type(value)]


def is_truthy(value: Any) -> bool:
    """Whether jq's conditions take a value for true: all but null and false, so 0 and "" too."""
    return value is not None and value is not False


def _rank(value: Any) -> int:
    if value is False:
        return 1
    return 2 if value is True else _TYPE_ORDER[type(value)]


def _exact(value: float) -> float:
    if -_MAX_EXACT <= value <= _MAX_EXACT or (type(value) is float and math.isfinite(value)):
        return value
    raise Undecided


def compare(left: Any, right: Any) -> int:
    """Order two values as jq does: -1, 0 or 1; null < false < true < numbers < strings < arrays < objects."""
    rank = _rank(left)
    other = _rank(right)
    if rank != other:
        return -1 if rank < other else 1
    if rank < 3:
        return 0
    if rank == 3:
        _exact(left)
        _exact(right)
    elif rank == 5:
        return _compare_arrays(left, right)
    elif rank == 6:
        return _compare_objects(left, right)
    if left == right:
        return 0
    return -1 if left < right else 1


def _compare_arrays(left: list[Any], right: list[Any]) -> int:
    for one, other in zip(left, right, strict=False):
        order = compare(one, other)
        if order:
            return order
    return (len(left) > len(right)) - (len(left) < len(right))


def _compare_objects(left: dict[str, Any], right: dict[str, Any]) -> int:
    keys = sorted(left)
    order = compare(keys, sorted(right))
    if order:
        return order
    for key in keys:
        order = compare(left[key], right[key])
        if order:
            return order
    return 0


def equal(left: Any, right: Any) -> bool:
    """``==``."""
    if type(left) is float and type(right) is float:
        return left == right
    return compare(left, right) == 0


def unequal(left: Any, right: Any) -> bool:
    """``!=``."""
    if type(left) is float and type(right) is float:
        return left != right
    return compare(left, right) != 0


def less(left: Any, right: Any) -> bool:
    """``<``."""
    if type(left) is float and type(right) is float:
        return left < right
    return compare(left, right) < 0


def at_most(left: Any, right: Any) -> bool:
    """``<=``."""
    if type(left) is float and type(right) is float:
        return left <= right
    return compare(left, right) <= 0


def greater(left: Any, right: Any) -> bool:
    """``>``."""
    if type(left) is float and type(right) is float:
        return left > right
    return compare(left, right) > 0


def at_least(left: Any, right: Any) -> bool:
    """``>=``."""
    if type(left) is float and type(right) is float:
        return left >= right
    return compare(left, right) >= 0


def _is_number(value: Any) -> bool:
    return type(value) is float or type(value) is int


def _as_double(value: float) -> float:
    return float(_exact(value))


def _finite(value: float) -> float:
    if math.isfinite(value):
        return value
    raise Undecided


def add(left: Any, right: Any) -> Any:
    """``+``: numbers, strings, arrays, objects (the right one wins); null is neutral."""
    if left is None:
        return right
    if right is None:
        return left
    if _is_number(left) and _is_number(right):
        return _finite(_as_double(left) + _as_double(right))
    if type(left) is not type(right) or type(left) is bool:
        raise JqError(f"{type_name(left)} and {type_name(right)} cannot be added")
    return left | right if type(left) is dict else left + right


def subtract(left: Any, right: Any) -> Any:
    """``-``: numbers; arrays lose the members of the right one."""
    if _is_number(left) and _is_number(right):
        return _finite(_as_double(left) - _as_double(right))
    if type(left) is list and type(right) is list:
        return [one for one in left if not any(equal(one, other) for other in right)]
    raise JqError(f"{type_name(left)} and {type_name(right)} cannot be subtracted")


def multiply(left: Any, right: Any) -> Any:
    """``*`` of numbers; what jq does with strings and objects is left to it."""
    if _is_number(left) and _is_number(right):
        return _finite(_as_double(left) * _as_double(right))
    raise Undecided


def divide(left: Any, right: Any) -> Any:
    """``/`` of numbers; splitting strings is left to libjq."""
    if not (_is_number(left) and _is_number(right)):
        raise Undecided
    divisor = _as_double(right)
    if divisor == 0:
        raise JqError("the divisor is zero")
    return _finite(_as_double(left) / divisor)


def remainder(left: Any, right: Any) -> Any:
    """``%``: of the truncated numbers, with the sign of the left one."""
    if not (_is_number(left) and _is_number(right)):
        raise Undecided
    dividend, divisor = _as_double(left), _as_double(right)
    if abs(dividend) > _MAX_EXACT or abs(divisor) > _MAX_EXACT:
        raise Undecided
    if math.trunc(divisor) == 0:
        raise JqError("the divisor is zero")
    return math.fmod(math.trunc(dividend), math.trunc(divisor))


def negate(value: Any) -> Any:
    """``-`` before a number."""
    if not _is_number(value):
        raise JqError(f"{type_name(value)} cannot be negated")
    return -_as_double(value)


def index(target: Any, key: Any) -> Any:
    """``target[key]``: null for what is not there, and of null."""
    if type(key) is str:
        if type(target) is dict:
            return target.get(key)
        if target is None:
            return None
    elif _is_number(key):
        if type(target) is list:
            position = math.floor(_exact(key))
            return target[position] if -len(target) <= position < len(target) else None
        if target is None:
            return None
    else:
        raise Undecided
    raise JqError(f"Cannot index {type_name(target)} with {type_name(key)}")


def slice_of(target: Any, start: Any, stop: Any) -> Any:
    """``target[start:stop]`` of an array, a string (in code points) or null."""
    for bound in (start, stop):
        if bound is not None and (type(bound) not in (int, float) or bound != math.floor(_exact(bound))):
            raise Undecided
    if target is None:
        return None
    if type(target) is not list and type(target) is not str:
        raise JqError(f"Cannot index {type_name(target)} with object")
    first = None if start is None else int(start)
    last = None if stop is None else int(stop)
    return target[first:last]


def members(target: Any) -> list[Any]:
    """What ``target[]`` iterates over."""
    if type(target) is list:
        return target
    if type(target) is dict:
        return list(target.values())
    raise JqError(f"Cannot iterate over {type_name(target)}")


def length(value: Any) -> Any:
    """``length``: of null 0, of a number its absolute value, of a string its code points."""
    if value is None:
        return 0
    if _is_number(value):
        return abs(_exact(value))
    if type(value) is bool:
        raise JqError("boolean has no length")
    return len(value)


def total(value: Any) -> Any:
    """``add``: the members added up from the left; of none null."""
    found = None
    for member in members(value):
        found = add(found, member)
    return found


def keys(value: Any) -> list[Any]:
    """``keys``: sorted names of an object, positions of an array."""
    if type(value) is dict:
        return sorted(value)
    if type(value) is list:
        return list(range(len(value)))
    raise JqError(f"{type_name(value)} has no keys")


def to_entries(value: Any) -> list[Any]:
    """``to_entries`` of an object."""
    if type(value) is not dict:
        raise Undecided
    return [{"key": key, "value": member} for key, member in value.items()]


def has(value: Any, key: Any) -> bool:
    """``has(key)`` of an object with a name."""
    if type(value) is dict and type(key) is str:
        return key in value
    raise Undecided


def starts_with(value: Any, start: Any) -> bool:
    """``startswith(start)``."""
    if type(value) is not str or type(start) is not str:
        raise JqError("startswith() requires string inputs")
    return value.startswith(start)


def ends_with(value: Any, end: Any) -> bool:
    """``endswith(end)``."""
    if type(value) is not str or type(end) is not str:
        raise JqError("endswith() requires string inputs")
    return value.endswith(end)


def floor(value: Any) -> Any:
    """``floor`` of a number."""
    if not _is_number(value):
        raise JqError(f"{type_name(value)} number required")
    return math.floor(_as_double(value))


def negated(value: Any) -> bool:
    """``not``."""
    return not is_truthy(value)
