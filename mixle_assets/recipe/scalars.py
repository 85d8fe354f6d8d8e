"""Scalars as a recipe spells them: what counts as text, a whole number, a number, a switch.

The types that the models are made of, and nothing about any one key. Numeric strings are taken where
Dolma takes them; what is neither is refused with the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Annotated, Any, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema


class Section(BaseModel):
    """Base of every part of a recipe: frozen, hashable, picklable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Spelled(NamedTuple):
    """A plain YAML number or boolean together with the characters that stand in the file.

    ``name: 012`` is the number 12 where a number is due and the text ``012`` where text is.
    """

    value: bool | int | float
    text: str


V = TypeVar("V")


class FrozenDict(dict[str, V], Generic[V]):
    """A mapping that cannot change and can be hashed; otherwise an ordinary ``dict``."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a recipe cannot be changed; load another one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[V]], tuple[dict[str, V]]]:
        return FrozenDict, (dict(self),)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        values = get_args(source)[0] if get_args(source) else Any
        return core_schema.no_info_after_validator_function(
            cls, handler(dict.__class_getitem__((str, values)))
        )


def frozen(value: Any) -> Any:
    """Return a plain JSON value without spelling, unchangeable: lists as tuples, mappings as FrozenDict."""
    if isinstance(value, Spelled):
        return value.value
    if isinstance(value, dict):
        return FrozenDict({str(key): frozen(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return value


def refuse(message: str, *, key: str | None = None) -> PydanticCustomError:
    """Return the error a validator raises; ``key`` (dotted, below the model) says where the fault is."""
    # The message travels in the context: as a template, its braces would be taken for fields.
    return PydanticCustomError("recipe", "{message}", {"message": message, "key": key})


def _plain(value: Any) -> Any:
    if isinstance(value, Spelled):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def shown(value: Any) -> str:
    """Return a value the way an error message quotes it."""
    if isinstance(value, Spelled):
        return value.text
    if value is None:
        return "null"
    text = repr(_plain(value))
    return text if len(text) <= 120 else text[:117] + "..."


def _text(value: Any) -> str:
    if isinstance(value, Spelled):
        return value.text
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise refuse(f"must be text, got {shown(value)}")


_WHOLE = re.compile(r"[-+]?[0-9]+(_[0-9]+)*", re.ASCII)


def _whole(value: Any) -> int:
    plain = value.value if isinstance(value, Spelled) else value
    if isinstance(plain, str) and len(plain) <= 400 and _WHOLE.fullmatch(plain.strip()):
        return int(plain)
    if isinstance(plain, int) and not isinstance(plain, bool):
        return plain
    if isinstance(plain, float) and plain.is_integer():
        raise refuse(f"must be a whole number, got {shown(value)}: write {int(plain):_}")
    raise refuse(f"must be a whole number, got {shown(value)}")


def _real(value: Any) -> float:
    plain = value.value if isinstance(value, Spelled) else value
    if isinstance(plain, str):
        try:
            plain = float(plain)
        except ValueError:
            raise refuse(f"must be a number, got {shown(value)}") from None
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise refuse(f"must be a number, got {shown(value)}")
    try:
        real = float(plain)
    except OverflowError:
        raise refuse(f"must be a finite number, got {shown(value)}") from None
    if not math.isfinite(real):
        raise refuse(f"must be a finite number, got {shown(value)}")
    return real


_SWITCHES = {
    **dict.fromkeys(("true", "yes", "on", "y", "t", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "f", "0"), False),
}


def _switch(value: Any) -> bool:
    plain = value.value if isinstance(value, Spelled) else value
    if isinstance(plain, bool):
        return plain
    if isinstance(plain, int | str) and str(plain).lower() in _SWITCHES:
        return _SWITCHES[str(plain).lower()]
    raise refuse(f"must be true or false, got {shown(value)}")


def choice(value: Any) -> Any:
    """Return what a field of fixed words compares: ``on`` and ``1`` are looked up as they are spelled."""
    return value.text if isinstance(value, Spelled) else value


def _texts(value: Any) -> Any:
    if isinstance(value, str | Spelled):
        raise refuse(f"must be a list, got {shown(value)}: write [{shown(value)}]")
    if not isinstance(value, list | tuple):
        raise refuse(f"must be a list, got {shown(value)}")
    return value


def first_repeated(values: Iterable[str]) -> str | None:
    """Return the first value that stands a second time, or None."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


Text: TypeAlias = Annotated[str, BeforeValidator(_text)]
Whole: TypeAlias = Annotated[int, BeforeValidator(_whole)]
Real: TypeAlias = Annotated[float, BeforeValidator(_real)]
Switch: TypeAlias = Annotated[bool, BeforeValidator(_switch)]
Texts: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_texts)]
