"""What the documentation says of taggers is what the registry knows, and its examples run."""

import gzip
import importlib
import json
import re
import sys
from itertools import groupby
from pathlib import Path

import pytest

from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.entries import measures_of, parameters_of
from mixle_assets.tagging.registry import registered_taggers
from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file

DOCS = Path(__file__).parent.parent.parent / "docs"


def render_table():
    """Return a row for every tagger; taggers that differ by name alone share one."""
    rows = []
    for name, entry in registered_taggers().items():
        parameters = parameters_of(entry)
        # A measure that needs a file is shown.
        given = {
            key: "file" if one.default in (one.empty, None) else one.default
            for key, one in parameters.items()
        }
        if "model" in parameters and callable(entry.measures):
            shown = "the model's labels"
        elif (measures := measures_of(entry, given)) is None:
            shown = "depends on the document"
        else:
            shown = ", ".join(f"`{measure}`" for measure in measures)
        takes = ", ".join(
            f"`{key}`" if one.default is one.empty else f"`{key}={one.default!r}`"
            for key, one in parameters.items()
        )
        rows.append((shown, takes, entry.summary.replace("``", "`"), name))
    order = {row: number for number, row in enumerate(dict.fromkeys(row[:3] for row in rows))}
    rows.sort(key=lambda row: (order[row[:3]], row[3]))
    lines = ["| tagger | measures | parameters | meaning |", "|---|---|---|---|"]
    for (shown, takes, summary), group in groupby(rows, key=lambda row: row[:3]):
        names = ", ".join(f"`{row[3]}`" for row in group)
        lines.append(f"| {names} | {shown} | {takes} | {summary} |")
    return "\n".join(lines)


def test_the_reference_lists_every_tagger_with_its_measures_and_parameters():
    assert render_table() in (DOCS / "reference" / "taggers.md").read_text("utf-8")


def test_the_reference_names_no_tagger_that_is_not_there():
    text = (DOCS / "reference" / "taggers.md").read_text("utf-8")
    absent = set(re.findall(r"`(\w+)`", text.partition("## Not there")[2]))
    named = set(re.findall(r"`(\w+_v\d\w*|cc_re\w*|ft_lang_id_1e2|dclm-[\w-]+|dolma17-[\w-]+)`", text))

    assert named - absent == set(registered_taggers())
    assert not absent & set(registered_taggers())


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Make the how-to's code blocks a module, as a reader would."""
    text = (DOCS / "how-to" / "write-a-tagger.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "my_tags.py").write_text("\n\n".join(blocks), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("my_tags")


def test_the_taggers_of_the_how_to_run(examples):
    (examples / "a.jsonl").write_text('{"id": "1", "text": "a|b|c\\nplain\\nd|e"}\n', encoding="utf-8")
    (examples / "list").write_text("plain d|e", encoding="utf-8")
    uses = (
        TaggerUse(tagger="my_tags.tables", parameters={"threshold": 2}),
        TaggerUse(tagger="my_tags.Glossary", parameters={"word_list": str(examples / "list")}),
        TaggerUse(tagger="my_tags.Vowels"),
    )
    output = str(examples / "out.jsonl.gz")

    tag_file(TagTask(str(examples / "a.jsonl"), "a.jsonl", "s", (TaggerSet("layout", uses, output),)))

    with gzip.open(output) as file:
        assert json.loads(file.read())["attributes"] == {
            "layout__my_tags_tables__tables": [[0, 5, 1.0]],
            "layout__my_tags_Glossary__known": [[0, 15, 2.0]],
            "layout__my_tags_Vowels__vowels": [[0, 15, 4.0]],
        }
