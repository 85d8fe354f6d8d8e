"""The page docs/reference/deduping.md says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from mixle_assets.recipe import (
    ByNgram,
    Decontamination,
    Dedupe,
    DedupeDocuments,
    DedupeParagraphs,
    NearDocuments,
)

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "deduping.md").read_text(encoding="utf-8")


def fences(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_example_gives_the_attributes_shown(dedupe):
    documents, rows = fences("jsonl")
    section = yaml.safe_load(fences("yaml")[0])["dedupe"]
    corpus = dedupe({"p/0000": {"a.jsonl": documents.encode().splitlines()}}, Dedupe.model_validate(section))

    assert Path(corpus.attribute_path("a.jsonl")).read_text() == rows


def shown_default(default: object) -> str:
    if default is None or default == ():
        return "none"
    return f"`{json.dumps(default).strip(chr(34))}`"


def test_the_tables_show_every_key_with_its_default():
    expected = {}
    for prefix, model in (
        ("", Dedupe),
        ("documents.", DedupeDocuments),
        ("paragraphs.", DedupeParagraphs),
        ("by_ngram.", ByNgram),
        ("near_documents.", NearDocuments),
        ("decontamination.", Decontamination),
    ):
        for name, field in model.model_fields.items():
            expected[prefix + name] = "required" if field.is_required() else shown_default(field.default)
    found = {}
    for title, table in re.findall(r"\| key of `(\w+)` .*\n\|---.*\n((?:\|.*\n)+)", PAGE):
        for key, default in re.findall(r"^\| `([\w.]+)` \| (\S+) \|", table, flags=re.MULTILINE):
            found[key if title == "dedupe" else f"{title}.{key}"] = default

    assert found == expected
