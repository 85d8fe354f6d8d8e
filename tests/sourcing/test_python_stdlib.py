import ast
import inspect
import json
import json.decoder
import platform
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

from mixle_assets.recipe import Source
from mixle_assets.sourcing import python_stdlib
from mixle_assets.sourcing.python_stdlib import digest_of, find_documents
from mixle_assets.sourcing.sources import Left

LIBRARY = Path(sysconfig.get_path("stdlib"))


def documents(kind, *only):
    return [
        each for each in find_documents(Source(python_stdlib=kind, only=only)) if not isinstance(each, Left)
    ]


def test_prose_is_the_docstrings_as_help_shows_them_with_the_place_they_stand_at():
    by_id = {each["id"]: each for each in documents("prose", "json")}

    assert by_id["json"]["text"] == inspect.getdoc(json)
    assert by_id["json:loads"]["text"] == inspect.getdoc(json.loads)
    decode = by_id["json.decoder:JSONDecoder.decode"]
    assert decode["text"] == inspect.getdoc(json.decoder.JSONDecoder.decode)
    assert decode["source"] == "python_stdlib"
    assert {key: decode["metadata"][key] for key in ("module", "path", "kind")} == {
        "module": "json.decoder",
        "path": "json/decoder.py",
        "kind": "function",
    }
    line = (LIBRARY / "json/decoder.py").read_text("utf-8").splitlines()[decode["metadata"]["line"] - 1]
    assert decode["text"].splitlines()[0] in line


def test_code_is_the_modules_as_they_stand_on_disk():
    by_id = {each["id"]: each for each in documents("code", "json.decoder", "textwrap")}

    assert sorted(by_id) == ["json.decoder", "textwrap"]
    assert by_id["textwrap"]["text"] == Path(textwrap.__file__).read_text("utf-8")
    assert by_id["textwrap"]["metadata"] == {
        "module": "textwrap",
        "path": "textwrap.py",
        "line": 1,
        "kind": "code",
    }


def test_the_topics_of_help_are_prose_and_no_code():
    topics = [each for each in documents("prose", "pydoc_data") if each["metadata"]["kind"] == "topic"]

    ids = [each["id"] for each in topics]
    assert ids == sorted(ids)
    assert "pydoc_data.topics:assert" in ids
    assert topics[ids.index("pydoc_data.topics:assert")]["text"].startswith('The "assert" statement')
    assert [each["id"] for each in documents("code", "pydoc_data")] == []


@pytest.mark.parametrize("kind", ["prose", "code"])
def test_the_whole_library_gives_unique_ids_in_a_fixed_order_and_nothing_that_is_no_text_of_it(kind):
    found = documents(kind)
    ids = [each["id"] for each in found]
    modules = [each["metadata"]["module"] for each in found]

    assert len(set(ids)) == len(ids) > 500
    assert modules == sorted(modules)
    assert all(each["text"].strip() for each in found)
    parts = {part for module in modules for part in module.split(".")}
    assert not parts & {"test", "tests", "idle_test", "turtledemo", "site-packages", "sitecustomize"}
    assert not any(part.startswith("_sysconfigdata") for part in parts)
    assert all((LIBRARY / each["metadata"]["path"]).is_file() for each in found[::50])


def test_nothing_of_the_library_is_imported():
    before = set(sys.modules)

    documents("prose", "this", "antigravity", "turtle")

    assert not {"this", "antigravity", "turtle"} & (set(sys.modules) - before)


def test_names_say_where_a_definition_stands_and_a_second_one_is_numbered():
    source = '''
"""Module."""
if True:
    def twice():
        """First."""
else:
    def twice():
        """Second."""
class A:
    """Class."""
    async def f(self):
        """Method."""
        try:
            def inner():
                """Inner."""
        except ValueError:
            pass
    def silent(self): ...
    def blank(self):
        "  "
'''
    module = python_stdlib._Module("pkg.mod", "pkg/mod.py")

    found = list(python_stdlib._prose_of(module, source.encode()))

    assert [
        (each["id"], each["text"], each["metadata"]["line"]) for each in found if isinstance(each, dict)
    ] == [
        ("pkg.mod", "Module.", 2),
        ("pkg.mod:twice", "First.", 5),
        ("pkg.mod:twice#2", "Second.", 8),
        ("pkg.mod:A", "Class.", 10),
        ("pkg.mod:A.f", "Method.", 12),
        ("pkg.mod:A.f.<locals>.inner", "Inner.", 15),
    ]
    assert [each for each in found if isinstance(each, Left)] == [Left("empty")]


def test_what_cannot_be_read_is_left_with_its_reason():
    module = python_stdlib._Module("m", "m.py")

    assert list(python_stdlib._prose_of(module, b"def f(:")) == [Left("not parsable")]
    assert list(python_stdlib._code_of(module, b"# coding: utf-8\n\xff")) == [Left("not decodable")]
    assert list(python_stdlib._code_of(module, b"# coding: nonsense\n")) == [Left("not decodable")]
    assert list(python_stdlib._code_of(module, b"\n\n")) == [Left("empty")]


def test_other_encodings_line_ends_and_halves_of_characters_become_plain_text():
    module = python_stdlib._Module("m", "m.py")

    (latin,) = python_stdlib._code_of(module, b"# coding: latin-1\r\n# \xe9\r\n")
    (half,) = python_stdlib._prose_of(module, b'"a \\ud800 b"')

    assert latin["text"] == "# coding: latin-1\n# é\n"
    assert half["text"] == "a \ufffd b"


def test_the_digest_names_the_version_of_the_interpreter(monkeypatch):
    source = Source(python_stdlib="code", only=["this"])
    before = digest_of(source)

    monkeypatch.setattr(platform, "python_version", lambda: "9.9.9")

    assert digest_of(source) != before


def test_every_docstring_that_the_parser_finds_is_there():
    tree = ast.parse((LIBRARY / "textwrap.py").read_bytes())
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    expected = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]

    found = [each["text"] for each in documents("prose", "textwrap")]

    assert sorted(found) == sorted(text for text in expected if text)
