"""Checks of duplicate attributes: what they compare, and what they cannot know."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mixle_assets.engine import SerialEngine
from mixle_assets.pipeline import duplicate_checks
from mixle_assets.pipeline.asset_check import CheckOutcome
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.check import checks_of, run_check
from mixle_assets.pipeline.load import LoadedRecipe, load

Edit = Callable[[str, str], None]
MARKS = "exactly_the_repetitions_are_marked"


def built(recipe: Path) -> LoadedRecipe:
    loaded = load(recipe, str(recipe.parent / "corpora"))
    assert not build(loaded, SerialEngine()).failed
    return load(recipe, str(recipe.parent / "corpora"))


def looked(loaded: LoadedRecipe, name: str) -> CheckOutcome:
    (check,) = [one for one in checks_of(loaded) if (one.stage, one.name) == ("duplicate_attributes", name)]
    return run_check(loaded, check)


def unmark_all(loaded: LoadedRecipe, shard: str) -> None:
    path = Path(loaded.layout.folder) / f"attributes/duplicates/{shard}.jsonl.gz"
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) | {"attributes": {}} for line in file]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "dedupe",
    [
        "{documents: {}, paragraphs: {}}",
        "{documents: {}, paragraphs: {share_name: share}, keep: none}",
        "{paragraphs: {by_ngram: {ngram_length: 3}}, keep: {prefer: [notes, prose]}}",
        "{documents: {}, after: filter}",
        "{documents: {}, paragraphs: {}, against: [in/known.jsonl]}",
        "{documents: {}, decontamination: {reference: [in/known.jsonl]}}",
    ],
)
def test_what_the_deduper_marks_is_what_comparing_texts_gives(small: Path, edit: Edit, dedupe: str) -> None:
    known = {"id": "k", "text": "A fifth document, quite different."}
    (small.parent / "in/known.jsonl").write_text(json.dumps(known) + "\n")
    edit("dedupe: {documents: {}, paragraphs: {}}", f"dedupe: {dedupe}")
    if "documents" not in dedupe:
        edit("        - $.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]\n", "")
    loaded = built(small)

    outcomes = [
        run_check(loaded, check) for check in checks_of(loaded) if check.stage == "duplicate_attributes"
    ]

    assert [outcome.violations for outcome in outcomes] == [()] * (3 if "decontamination" in dedupe else 2)


def test_marks_are_held_against_the_shards_before_as_far_as_these_are_built(small: Path) -> None:
    loaded = built(small)
    unmark_all(loaded, "prose/0001")
    assert looked(loaded, MARKS).num_violations == 2  # no key for the repeated document, none for its lines

    first = Path(loaded.layout.folder) / "attributes/duplicates/prose/0000.jsonl.gz.manifest.json"
    first.unlink()
    assert looked(loaded, MARKS).num_violations == 0  # what came before "d" is not known


def test_where_every_copy_counts_marks_are_not_judged_by_some(small: Path, edit: Edit) -> None:
    edit("dedupe: {documents: {}, paragraphs: {}}", "dedupe: {documents: {}, keep: none}")
    loaded = built(small)
    unmark_all(loaded, "prose/0000")
    assert looked(loaded, MARKS).num_violations == 1

    last = Path(loaded.layout.folder) / "attributes/duplicates/prose/0001.jsonl.gz.manifest.json"
    last.unlink()
    assert looked(loaded, MARKS).num_violations == 0


def test_of_a_large_corpus_the_first_shards_are_compared(
    small: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = small.parent / "in/documents/prose"
    (documents / "0002.jsonl.gz").write_bytes((documents / "0001.jsonl.gz").read_bytes())
    loaded = built(small)
    unmark_all(loaded, "prose/0002")
    assert looked(loaded, MARKS).num_violations == 4

    monkeypatch.setattr(duplicate_checks, "COMPARED_IN_BYTES", 1)
    assert looked(loaded, MARKS).num_violations == 0


def test_a_recipe_has_the_checks_of_what_it_marks(small: Path, edit: Edit) -> None:
    edit("dedupe: {documents: {}, paragraphs: {}}", "dedupe: {near_documents: {}}")
    edit("        - $.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]\n", "")
    checks = checks_of(load(small, str(small.parent / "corpora")))

    assert [check.name for check in checks if check.stage == "duplicate_attributes"] == [
        "every_document_has_its_row"
    ]
