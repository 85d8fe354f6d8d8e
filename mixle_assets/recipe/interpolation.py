r"""``${...}`` in a recipe: environment variables, references to other keys, the number of cores.

Understands what Dolma configs use of OmegaConf. ``\${`` is a literal ``${``; before a ``${`` that counts, two
backslashes are one. Reads no file: ``${d.glob:PATTERN}`` as ``documents`` is the pattern itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn, TypeAlias

from mixle_assets.errors import RecipeError
from mixle_assets.recipe.scalars import Spelled
from mixle_assets.recipe.yaml_text import Key, core_value, dotted

CORES = "cores of this machine"


class Origin(NamedTuple):
    """Where an interpolated value comes from, apart from the file.

    Attributes:
        written: The text in the file, such as ``${oc.env:HOME}/corpora``.
        environment: Variables that went into it, in order; ``CORES`` for the machine's number of cores.
        is_secret: Whether the value must not be shown.
    """

    written: str
    environment: tuple[str, ...]
    is_secret: bool


class Resolved(NamedTuple):
    """Values without any ``${...}``, the origins of those that had one, and the secrets in them."""

    value: Any
    origins: dict[Key, Origin]
    secrets: tuple[str, ...]


class _Quoted(NamedTuple):
    text: str


class _Call(NamedTuple):
    parts: list[Any]


_Part: TypeAlias = "str | _Quoted | _Call"

_OPENING = re.compile(r"(\\*)\$\{")
_SECRET_NAME = re.compile(r"secret|token|passw|pwd|credential|key|auth|private|signature", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\[\]]+)\]")

_Default: TypeAlias = Callable[[Key], Any]


def resolve(
    value: Any,
    *,
    environ: Mapping[str, str],
    default_of: _Default,
    error_at: Callable[[str, Key], RecipeError],
) -> Resolved:
    """Return ``value`` with every ``${...}`` replaced.

    Args:
        value: Mappings, lists and scalars, as ``read_yaml`` gives them.
        environ: The environment variables.
        default_of: Key to the default of a key that is not in the file; raises KeyError for none.
        error_at: Makes the error for a message and a key.

    Raises:
        RecipeError: A variable that is not set, a key that is not there, a circle, a ``${`` without ``}``.
    """
    resolver = _Resolver(value, environ, default_of, error_at)
    resolved = resolver.at(())
    return Resolved(resolved, resolver.origins, tuple(resolver.secrets))


def escape(text: str) -> str:
    r"""Return text such that ``resolve`` gives it back: ``${`` as ``\${``, backslashes before it doubled."""
    return _OPENING.sub(lambda match: match[1] * 2 + r"\${", text)


class _Resolver:
    def __init__(
        self,
        root: Any,
        environ: Mapping[str, str],
        default_of: _Default,
        error_at: Callable[[str, Key], RecipeError],
    ) -> None:
        self.root = root
        self.environ = environ
        self.default_of = default_of
        self.error_at = error_at
        self.origins: dict[Key, Origin] = {}
        self.secrets: dict[str, None] = {}  # a dict, since it keeps the order
        self.finished: dict[Key, Any] = {}
        self.open: list[Key] = []
        self.used: list[list[str]] = [[]]

    def at(self, key: Key) -> Any:
        """Return the resolved value of a key of the file, or its default."""
        if key in self.finished:
            return self.finished[key]
        if key in self.open:
            circle = " -> ".join(dotted(each) for each in [*self.open[self.open.index(key) :], key])
            self.fail(f"refers to itself: {circle}", key)
        value = self.root
        try:
            for part in key:
                value = value[part]
        except (KeyError, IndexError, TypeError):
            return self.default_of(key)
        self.open.append(key)
        self.finished[key] = resolved = self.resolved(value, key)
        self.open.pop()
        return resolved

    def resolved(self, value: Any, key: Key) -> Any:
        if isinstance(value, dict):
            return {name: self.at((*key, name)) for name in value}
        if isinstance(value, list):
            return [self.at((*key, index)) for index in range(len(value))]
        if not isinstance(value, str) or "${" not in value:
            return value
        self.used.append([])
        parts, _ = self.parse(value, 0, key, inside=False)
        if len(parts) == 1 and isinstance(parts[0], _Call):
            result = self.call(parts[0], key)
        else:
            result = "".join(self.text(part, key) for part in parts)
        names = tuple(dict.fromkeys(self.used.pop()))
        is_secret = any(_SECRET_NAME.search(name) for name in names) or any(
            _SECRET_VALUE.search(self.environ.get(name, "")) for name in names
        )
        self.origins[key] = Origin(value, names, is_secret)
        return result

    def parse(self, text: str, start: int, key: Key, *, inside: bool) -> tuple[list[_Part], int]:
        """Return the parts of a text, or of the inside of one ``${...}`` and where that ends."""
        parts: list[_Part] = []
        position = start
        while position < len(text):
            if match := _OPENING.match(text, position):
                backslashes = len(match[1])
                parts.append("\\" * (backslashes // 2))
                if backslashes % 2:
                    parts.append("${")
                    position = match.end()
                else:
                    inner, position = self.parse(text, match.end(), key, inside=True)
                    parts.append(_Call(inner))
            elif inside and text[position] == "}":
                return [part for part in parts if part != ""], position + 1
            elif inside and text[position] in "'\"":
                end = text.find(text[position], position + 1)
                if end < 0:
                    break
                parts.append(_Quoted(text[position + 1 : end]))
                position = end + 1
            else:
                parts.append(text[position])
                position += 1
        if inside:
            self.fail(f"`${{` without its `}}` in {text}: a literal one is written \\${{", key)
        return _joined(parts), position

    def text(self, part: _Part, key: Key) -> str:
        if isinstance(part, _Quoted):
            return part.text
        value = self.call(part, key) if isinstance(part, _Call) else part
        if isinstance(value, Spelled):
            return str(value.value) if type(value.value) is int else value.text
        if isinstance(value, dict | list | tuple):
            self.fail("a mapping or a list cannot stand inside a text", key)
        return "null" if value is None else str(value)

    def call(self, call: _Call, key: Key) -> Any:  # noqa: RET503 (fail does not return)
        """Return what one ``${...}`` stands for."""
        arguments: list[str] = [""]
        is_quoted = [False]
        name: str | None = None
        for part in call.parts:
            if part == ":" and name is None:
                name, arguments[-1] = arguments[-1].strip(), ""
            elif part == "," and name is not None:
                arguments.append("")
                is_quoted.append(False)
            else:
                # Space around an argument does not count, unless it stands in quotes.
                before = arguments[-1] if is_quoted[-1] else arguments[-1].lstrip()
                is_quoted[-1] = is_quoted[-1] or isinstance(part, _Quoted)
                arguments[-1] = before + self.text(part, key)
        arguments = [
            argument if quoted else argument.strip()
            for argument, quoted in zip(arguments, is_quoted, strict=True)
        ]
        if name is None:
            return self.reference(arguments[0], key)
        if name == "oc.env" and len(arguments) <= 2:
            return self.variable(arguments, is_quoted, key)
        if name == "d.processes" and len(arguments) == 1 and re.fullmatch("[0-9]*", arguments[0]):
            self.used[-1].append(CORES)
            return max(1, (os.cpu_count() or 1) - int(arguments[0] or 0))
        if name == "d.glob":
            if key[-1] != "documents":
                self.fail("${d.glob:...} stands for `documents` only", key)
            return [",".join(arguments)]
        if name == "d.cache":
            self.fail("${d.cache:...} is not done while a recipe is read: name the location itself", key)
        said = f"${{{name}:{','.join(arguments)}}} is not known"
        known = "oc.env:NAME, oc.env:NAME,default, d.processes:n and references to keys"
        self.fail(f"{said}; there are {known}; a literal `${{` is written \\${{", key)

    def variable(self, arguments: list[str], is_quoted: list[bool], key: Key) -> Any:
        name = arguments[0]
        if name in self.environ:
            self.used[-1].append(name)
            value = self.environ[name]
            if value and (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value)):
                self.secrets[value] = None
            return value
        if len(arguments) == 1:
            self.fail(
                f"the environment variable {name} is not set; a default: ${{oc.env:{name},default}}", key
            )
        return arguments[1] if is_quoted[1] or not arguments[1] else core_value(arguments[1])

    def reference(self, written: str, key: Key) -> Any:
        steps = written.lstrip(".")
        num_dots = len(written) - len(steps)
        found = list(_STEP.finditer(steps))
        if not steps or "".join(match[0] for match in found) != steps:
            self.fail(f"${{{written}}} names no key; a literal `${{` is written \\${{", key)
        target: Key = key[: len(key) - num_dots] if num_dots else ()
        for match in found:
            part = match[1] or match[2]
            target = (*target, int(part) if part.isdigit() else part)
        try:
            value = self.at(target)
        except KeyError:
            self.fail(f"${{{written}}}: no key {dotted(target)}; a literal `${{` is written \\${{", key)
        for each, origin in self.origins.items():
            if each[: len(target)] == target:
                self.used[-1] += origin.environment
        return value

    def fail(self, message: str, key: Key) -> NoReturn:
        raise self.error_at(message, key)


def _joined(parts: list[_Part]) -> list[_Part]:
    """Return the parts with neighbouring texts made one."""
    joined: list[_Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined
