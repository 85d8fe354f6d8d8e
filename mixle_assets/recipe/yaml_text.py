"""YAML text to plain values with the line of every key.

Scalars as in YAML 1.2's core schema, plus ``_`` between digits: ``no`` and ``on`` are text, ``1e-6`` is a
number, ``012`` is twelve, ``1:30`` and ``2024-01-01`` are text. A key that stands twice is refused. JSON is
YAML here. What keys there are, and what they mean, is none of this module's business.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, NamedTuple

import yaml

from mixle_assets.errors import RecipeError
from mixle_assets.recipe.scalars import Spelled

Key = tuple[str | int, ...]
"""Where a value stands: ``("streams", 0, "name")``; written ``streams.0.name``."""

# An alias may repeat what it points at; a few lines of aliases to aliases would fill the memory.
_MOST_VALUES = 200_000

_PLAIN = "!plain"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes only; tells a plain scalar from one that is quoted or has a tag of its own."""

    yaml_implicit_resolvers: ClassVar[dict[str | None, list[tuple[str, re.Pattern[str]]]]] = {
        None: [(_PLAIN, re.compile(""))]
    }


class Tree(NamedTuple):
    """A file as plain values.

    Attributes:
        value: Mappings as dict, lists as list, text as str, null as None, other scalars as ``Spelled``.
        lines: Key to the line on which it stands, from 1; () is the file's first line.
    """

    value: Any
    lines: dict[Key, int]


def dotted(key: Key) -> str:
    """Return a key as messages write it: ``streams.0.name``."""
    return ".".join(str(part) for part in key)


def read_yaml(text: str, *, path: str) -> Tree:
    """Return the values of one YAML or JSON document and the lines of their keys.

    Args:
        text: The whole file.
        path: Its name, for errors only.

    Raises:
        RecipeError: Not YAML, more than one document, a key twice in one mapping, a tag or an alias that
            makes no sense, a character that is none.
    """
    if text.lstrip().startswith("{") and _is_json(text):
        text = _as_yaml(text)
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise RecipeError(
            f"not YAML: {said}",
            path=path,
            line=mark.line + 1 if mark else None,
            column=mark.column + 1 if mark else None,
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise RecipeError(f"not YAML: {error.reason}", path=path, line=line) from None
    except RecursionError:
        raise RecipeError("not a recipe: nested too deep", path=path) from None
    reader = _Reader(path)
    if root is None:
        return Tree({}, {(): 1})
    return Tree(reader.read(root, (), 1), reader.lines)


_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_STRING_OR_TAB = re.compile(r'("(?:[^"\\]|\\.)*")|\t', re.DOTALL)
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _as_yaml(text: str) -> str:
    """Return JSON in the spelling that is YAML too.

    Escaped pairs of surrogates become one escape, tabs between values spaces, and inside strings the few
    characters are escaped that YAML folds or refuses. Lines stay as they are.
    """

    def joined(match: re.Match[str]) -> str:
        high, low = int(match[2], 16), int(match[3], 16)
        return f"{match[1]}\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08x}"

    def spelled(match: re.Match[str]) -> str:
        if match[1] is None:
            return " "
        return _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", _PAIR.sub(joined, match[1]))

    return _STRING_OR_TAB.sub(spelled, text)


class _Reader:
    """Walks composed nodes; an alias is walked again, under the key it is used at."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Key, int] = {}
        self.open: list[yaml.Node] = []
        self.num_values = 0

    def read(self, node: yaml.Node, key: Key, line: int) -> Any:
        self.lines[key] = line
        self.num_values += 1
        if self.num_values > _MOST_VALUES:
            raise self.error(f"more than {_MOST_VALUES:,} values: aliases of aliases?", node, key)
        if any(node is parent for parent in self.open):
            raise self.error("an alias points at a mapping or list that contains it", node, key)
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, key)
        self.open.append(node)
        value: Any
        if isinstance(node, yaml.SequenceNode):
            value = [
                self.read(item, (*key, index), item.start_mark.line + 1)
                for index, item in enumerate(node.value)
            ]
        elif isinstance(node, yaml.MappingNode):
            entries = self.entries(node, key).items()
            value = {name: self.read(item, (*key, name), line) for name, (item, line) in entries}
        self.open.pop()
        if node.tag not in ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
            raise self.error(f"unknown tag {node.tag}", node, key)
        return value

    def entries(self, node: yaml.MappingNode, key: Key) -> dict[str, tuple[yaml.Node, int]]:
        """Return name to (value, line of the name), merged mappings (``<<``) included."""
        entries: dict[str, tuple[yaml.Node, int]] = {}
        merge: tuple[yaml.Node, int] | None = None
        for name_node, item in node.value:
            line = name_node.start_mark.line + 1
            if not isinstance(name_node, yaml.ScalarNode):
                raise self.error("a key must be text, not a list or a mapping", name_node, key)
            name = name_node.value
            merges = name == "<<" and name_node.tag == _PLAIN
            earlier = merge if merges else entries.get(name)
            if earlier is not None:
                message = f"the key `{name}` stands twice, on lines {earlier[1]} and {line}"
                raise RecipeError(message, path=self.path, line=line, key=dotted((*key, name)))
            if merges:
                merge = item, line
            else:
                entries[name] = item, line
        if merge is None:
            return entries
        mappings = merge[0].value if isinstance(merge[0], yaml.SequenceNode) else [merge[0]]
        self.open.append(node)
        for mapping in mappings:  # own keys win over merged ones, and of those the first listed
            if not isinstance(mapping, yaml.MappingNode) or any(mapping is parent for parent in self.open):
                raise self.error("`<<` takes a mapping or a list of mappings, from elsewhere", node, key)
            for name, entry in self.entries(mapping, key).items():
                entries.setdefault(name, entry)
        self.open.pop()
        return entries

    def scalar(self, node: yaml.ScalarNode, key: Key) -> Any:
        text: str = node.value
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error("half of a surrogate pair is no character", node, key)
        tag = node.tag.removeprefix("tag:yaml.org,2002:")
        if tag in ("str", "!"):
            return text
        value = core_value(text)
        if tag == _PLAIN:
            return value
        kinds: dict[str, Any] = {"null": type(None), "bool": bool, "int": int, "float": (int, float)}
        if tag not in kinds:
            raise self.error(f"unknown tag {node.tag}", node, key)
        if not isinstance(value.value if isinstance(value, Spelled) else value, kinds[tag]):
            raise self.error(f"not of the type that its tag !!{tag} names: {text}", node, key)
        return value

    def error(self, message: str, node: yaml.Node, key: Key) -> RecipeError:
        return RecipeError(message, path=self.path, line=node.start_mark.line + 1, key=dotted(key) or None)


_DIGITS = "[0-9]+(?:_[0-9]+)*"
_INTEGER = re.compile(rf"[-+]?{_DIGITS}")
_OCTAL = re.compile(r"0o[0-7]+(?:_[0-7]+)*")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_FLOAT = re.compile(rf"[-+]?(?:\.{_DIGITS}|{_DIGITS}(?:\.(?:{_DIGITS})?)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def core_value(text: str) -> Any:
    """Return what a plain scalar means: None, a spelled boolean or number, or the text itself."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in _WORDS:
        return Spelled(_WORDS[text], text)
    # Longer numbers stay text: no key takes them, and Python refuses to read thousands of digits.
    if text[0] not in "+-.0123456789" or len(text) > 400:
        return text
    if _INTEGER.fullmatch(text):
        return Spelled(int(text), text)
    if _OCTAL.fullmatch(text) or _HEXADECIMAL.fullmatch(text):
        return Spelled(int(text, 0), text)
    if _FLOAT.fullmatch(text):
        return Spelled(float(text), text)
    if _INFINITE.fullmatch(text):
        return Spelled(float(text.replace(".", "")), text)
    return text
