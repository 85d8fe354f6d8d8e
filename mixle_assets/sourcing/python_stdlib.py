"""Documents from the standard library of the running interpreter: text that is on every machine.

``prose`` is what is written for people: the docstrings of modules, classes and functions, and the topics of
``help()``. ``code`` is the modules' source. Nothing is imported or run: modules are parsed. Tests, installed
packages and files that were made when the interpreter was built are left out.
"""

from __future__ import annotations

import ast
import inspect
import io
import os
import platform
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from mixle_assets.errors import InputError
from mixle_assets.manifest import digest_of as digest_of_json
from mixle_assets.manifest import hash_bytes
from mixle_assets.recipe import Source
from mixle_assets.sourcing.sources import Left
from mixle_assets.storage import join, read_bytes

SOURCE = "python_stdlib"
TOPICS_MODULE = "pydoc_data.topics"

# Folders and modules of the library that hold no text of it. Names that are no identifiers (site-packages,
# lib-dynload, config-3.11-x86_64-linux-gnu) are never modules and need no mention.
_LEFT_OUT = frozenset(
    {
        "__pycache__",
        "test",
        "tests",
        "idle_test",
        "turtledemo",
        "sitecustomize",
        "usercustomize",
        "__phello__",
    }
)
_BUILT = "_sysconfigdata"


class _Module(NamedTuple):
    name: str
    path: str
    """Below the library, with slashes: ``json/decoder.py``."""


def find_documents(source: Source) -> Iterator[dict[str, Any] | Left]:
    """Yield the documents of the library, or of the modules in ``source.only``, sorted by module and line.

    Ids are ``module:qualname``, such as ``json:JSONDecoder.decode``; a docstring of the module itself, and
    its code, is ``json``; the second definition of one name in a module is ``name#2``.

    Raises:
        InputError: There is no library on disk, or ``only`` names a module that is not in it.
    """
    library = _library()
    documents = _prose_of if source.python_stdlib == "prose" else _code_of
    for module in _modules(library, source.only):
        yield from documents(module, read_bytes(join(library, module.path)))


def digest_of(source: Source) -> str:
    """Return a digest of the interpreter's version and of every file that ``source`` takes."""
    library = _library()
    hashes = [
        [module.path, hash_bytes(read_bytes(join(library, module.path)))]
        for module in _modules(library, source.only)
    ]
    return digest_of_json([SOURCE, source.python_stdlib, platform.python_version(), hashes])


def _library() -> str:
    folder = sysconfig.get_path("stdlib")
    if not os.path.isfile(join(folder, "os.py")):  # noqa: PTH113
        raise InputError("the standard library of this interpreter does not lie in a folder", path=folder)
    return folder


def _modules(library: str, only: tuple[str, ...]) -> list[_Module]:
    """Return the modules of the library, sorted by name."""
    found = sorted(_walk(library, ()))
    for wanted in only:
        if not any(_is_below(module.name, wanted) for module in found):
            raise InputError(f"only: the standard library has no module {wanted!r}", path=library)
    return [module for module in found if not only or any(_is_below(module.name, each) for each in only)]


def _is_below(name: str, above: str) -> bool:
    return name == above or name.startswith(above + ".")


def _walk(library: str, above: tuple[str, ...]) -> Iterator[_Module]:
    for entry in os.scandir(join(library, *above)):
        stem, extension = os.path.splitext(entry.name)  # noqa: PTH122
        if stem in _LEFT_OUT or stem.startswith(_BUILT) or not stem.isidentifier():
            continue
        if extension == ".py" and entry.is_file():
            names = above if stem == "__init__" and above else (*above, stem)
            yield _Module(".".join(names), "/".join((*above, entry.name)))
        elif not extension and entry.is_dir():
            yield from _walk(library, (*above, stem))


def _document(identifier: str, text: str, module: _Module, line: int, kind: str) -> dict[str, Any]:
    # A literal may hold half a surrogate pair, which no UTF-8 file can.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    metadata = {"module": module.name, "path": module.path, "line": line, "kind": kind}
    return {"id": identifier, "text": whole, "source": SOURCE, "metadata": metadata}


def _code_of(module: _Module, content: bytes) -> Iterator[dict[str, Any] | Left]:
    if module.name == TOPICS_MODULE:
        yield Left("prose kept as a literal")
        return
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        yield Left("not decodable")
        return
    # An installation on Windows has CR LF; the documents are to be the same everywhere.
    text = text.replace("\r\n", "\n")
    yield _document(module.name, text, module, 1, "code") if text.strip() else Left("empty")


def _prose_of(module: _Module, content: bytes) -> Iterator[dict[str, Any] | Left]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes, say: the library's own affair
            tree = ast.parse(content)
    except (SyntaxError, ValueError):
        yield Left("not parsable")
        return
    if module.name == TOPICS_MODULE:
        yield from _topics_of(module, tree)
        return
    seen: dict[str, int] = {}
    for node, qualname, kind in _definitions(tree, ()):
        identifier = f"{module.name}:{qualname}" if qualname else module.name
        seen[identifier] = seen.get(identifier, 0) + 1
        if seen[identifier] > 1:
            identifier += f"#{seen[identifier]}"
        docstring = ast.get_docstring(node, clean=False)
        if docstring is None:
            continue
        text = inspect.cleandoc(docstring)
        line = node.body[0].lineno
        yield _document(identifier, text, module, line, kind) if text.strip() else Left("empty")


_Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(node: ast.AST, above: tuple[str, ...]) -> Iterator[tuple[_Definition, str, str]]:
    """Yield module, classes and functions in the order of the file, with their qualified names and kinds."""
    below = above
    if isinstance(node, ast.Module):
        yield node, "", "module"
    elif isinstance(node, ast.ClassDef):
        below = (*above, node.name)
        yield node, ".".join(below), "class"
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node, ".".join((*above, node.name)), "function"
        below = (*above, node.name, "<locals>")
    # Only statements hold definitions; expressions may be nested deeper than the stack.
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(child, below)


def _topics_of(module: _Module, tree: ast.Module) -> Iterator[dict[str, Any] | Left]:
    """Yield the topics of ``help()``: the entries of one dictionary literal, sorted."""
    literals = [
        node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
    ]
    topics = {
        (key.value, key.lineno): ast.literal_eval(value)
        for literal in literals
        if isinstance(literal, ast.Dict)
        for key, value in zip(literal.keys, literal.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
    for name, line in sorted(topics):
        text = str(topics[name, line]).strip("\n")
        identifier = f"{module.name}:{name}"
        yield _document(identifier, text, module, line, "topic") if text.strip() else Left("empty")
