"""A built corpus and its page: the numbers are those of the manifests, and nothing else gets in."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from read_page import Page

from mixle_assets import storage
from mixle_assets.engine import ProcessEngine, SerialEngine
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.check import run_checks
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.report import find_outputs, gather_numbers, report_path, write_report
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.summary import summarize
from mixle_assets.pipeline.work import read_manifest
from mixle_assets.reporting import render_page

Edit = Callable[[str, str], None]


def loaded_from(recipe: Path, root: str = "corpora") -> LoadedRecipe:
    return load(recipe, str(recipe.parent / root))


def built(recipe: Path, root: str = "corpora") -> LoadedRecipe:
    """The recipe, after a build without checks."""
    report = build(loaded_from(recipe, root), SerialEngine())
    assert not report.failed
    return loaded_from(recipe, root)


def page_of(loaded: LoadedRecipe) -> Page:
    return Page(render_page(gather_numbers(loaded)))


def test_the_fate_of_every_document_is_shown(recipe: Path) -> None:
    page = page_of(built(recipe))

    assert page.rows("Documents by what became of them") == [
        ["kept", "3", "50.0 %"],
        ["$.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]", "2", "33.3 %"],
        ["$.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]", "1", "16.7 %"],
        ["all documents in", "6", ""],
    ]
    assert page.rows("Documents by what became of them", 1) == [
        ["kept", "3", "100.0 %"],
        ["all documents in", "3", ""],
    ]


def test_hits_sole_hits_and_overlaps_are_those_of_all_shards(recipe: Path) -> None:
    page = page_of(built(recipe))

    short, shorter, copies = page.rows("What each rule matched, of 6 documents")
    assert short[:2] == ["exclude 1", "$.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]"]
    assert short[2:] == ["2", "33.3 %", "1", "0", "0"]
    assert shorter[:2] == ["exclude 2", "$.attributes[?(@.quality__char_length_v1__length[0][2] < 6)]"]
    assert shorter[2:] == ["1", "16.7 %", "0", "0", "0"]
    assert copies[:2] == ["exclude 3", "$.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]"]
    assert copies[2:] == ["1", "16.7 %", "1", "5", "0"]
    assert page.rows("Documents that two rules matched both") == [
        ["exclude 1", "2", "1", "·"],
        ["exclude 2", "1", "1", "·"],
        ["exclude 3", "·", "·", "1"],
    ]
    assert page.rows("Spans replaced") == [
        [
            "$.attributes.pii__pii_regex_with_counts_fast_v2__EMAIL_ADDRESS",
            "<b>address</b>",
            "1",
            "2",
            "0",
        ]
    ]


def test_measures_say_how_they_are_spread_and_how_many_documents_have_none(recipe: Path) -> None:
    page = page_of(built(recipe))

    lengths = [48, 5, 75, 7, 48, 34]
    assert page.rows("prose, set quality: 6 documents") == [
        ["char_length_v1__length", "6", "0", "0", "5", f"{sum(lengths) / 6:.4g}", "75", ""]
    ]
    addresses = page.rows("prose, set pii: 6 documents")[0]
    assert addresses[:4] == ["pii_regex_with_counts_fast_v2__EMAIL_ADDRESS", "2", "5", "0"]


def test_tokens_and_special_strings_are_those_of_the_doc_arrays(recipe: Path) -> None:
    html = render_page(gather_numbers(built(recipe)))
    page = Page(html)

    # A token is a byte. Of 75, two addresses of 20 with a blank on either side became 14 each.
    prose, notes = page.rows("Tokens of each stream")
    longest = 75 - 2 * 22 + 2 * 14
    assert prose[:3] == ["prose", "3", str(48 + 34 + longest)]
    assert prose[5:9] == ["1.000", f"{(48 + 34 + longest) / 3:.1f}", "30 (11.7 %)", "0"]
    assert notes[:3] == ["notes", "2", str(23 + 38)]
    assert notes[7:9] == ["20 (7.8 %)", "1"]
    assert "All streams together use 34 of 257 ids." in html
    assert page.rows("Special strings in texts") == [["notes", "<|endoftext|>", "1"]]
    assert page.rows("The longest documents")[:2] == [
        ["prose/0.jsonl:3", "prose", str(longest), ""],
        ["prose/0.jsonl:1", "prose", "48", ""],
    ]


def test_epochs_are_shown_as_their_manifests_have_them(recipe: Path) -> None:
    loaded = built(recipe)
    page = page_of(loaded)

    details = [read_manifest(loaded.layout.packed_epoch(epoch)).details for epoch in (0, 1)]
    assert [row[:7] for row in page.rows("Epochs, in rows of 16 targets")] == [
        [f"epoch {epoch}", "8"]
        + [f"{one[what]:,}" for what in ("rows", "tokens", "trainable_targets", "padding", "tokens_dropped")]
        for epoch, one in enumerate(details)
    ]
    assert [row[:5] for row in page.rows("Share of each stream")] == [
        ["epoch 0", "prose", "2", "3", "6"],
        ["epoch 0", "notes", "1", "2", "2"],
        ["epoch 1", "prose", "2", "3", "6"],
        ["epoch 1", "notes", "1", "2", "2"],
    ]
    assert page.rows("Documents by how often they come") == [["epoch 0", "2", "3"], ["epoch 1", "2", "3"]]
    assert [(row[0], row[1], row[2]) for row in page.rows("Rows of each rank")] == [
        (f"epoch {epoch}", str(rank), str(rows))
        for epoch, one in enumerate(details)
        for rank, rows in enumerate(one["rows_per_rank"])
    ]


def test_counts_balance_and_digests_are_those_the_build_prints(recipe: Path) -> None:
    report = build(loaded_from(recipe), SerialEngine())
    loaded = loaded_from(recipe)
    page = page_of(loaded)

    stages = {stage["name"]: stage["digest"] for stage in summarize(loaded, report)["stages"]}
    assert {row[0]: row[5] for row in page.rows("What each stage made")} == stages
    records = page.rows("Records in and out")
    assert {row[5] for row in records} == {"balanced"}
    assert ["mixed_shards", "prose", "6", "3", "3"] in [row[:5] for row in records]
    assert ["doc_arrays", "notes", "3", "2", "1"] in [row[:5] for row in records]
    assert ["packed_epoch", "epoch 1", "5", "5", "0"] in [row[:5] for row in records]
    reasons = {(row[0], row[1]): row[6] for row in records}
    assert reasons["doc_arrays", "notes"] == "1 empty_text"
    assert reasons["mixed_shards", "prose"] == "by rule"


def test_a_check_has_passed_only_in_the_content_it_looked_at(recipe: Path, edit: Edit) -> None:
    loaded = built(recipe)
    unchecked = page_of(loaded).rows("Checks of what is built")
    run_checks(loaded)
    checked = page_of(loaded).rows("Checks of what is built")
    edit("< 10)", "< 8)")
    changed = page_of(built(recipe)).rows("Checks of what is built")

    assert {row[3] for row in unchecked} == {"not passed"}
    assert ["mixed_shards", "provenance_resolves", "3 of 3", "passed"] in [row[:4] for row in checked]
    assert {row[3] for row in checked if row[1] != "no_dead_rule"} == {"passed"}
    # The rule is another, so every shard of prose was made anew; the notes are as they were.
    assert ["mixed_shards", "provenance_resolves", "1 of 3", "not passed"] in [row[:4] for row in changed]
    assert ["attributes", "ids_align", "3 of 3", "passed"] in [row[:4] for row in changed]


def test_shards_of_earlier_rules_are_not_added_to_those_of_these(recipe: Path, edit: Edit) -> None:
    built(recipe)
    edit("< 10)", "< 8)")
    build(loaded_from(recipe), SerialEngine(), shards=["prose/0000"])
    page = page_of(loaded_from(recipe))

    captions = [caption for caption, _ in page.tables if caption.startswith("What each rule matched")]
    assert captions == [
        "What each rule matched, of 4 documents, in 1 shards made by these rules (others were made by other "
        "rules)",
        "What each rule matched, of 2 documents, in 1 shards made by these rules (others were made by other "
        "rules)",
    ]


def test_names_from_outside_are_shown_and_never_run(recipe: Path) -> None:
    html = render_page(gather_numbers(built(recipe)))
    page = Page(html)

    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "&lt;script&gt;alert(&#x27;corpus&#x27;)&lt;/script&gt; &amp; more" in html
    assert any("prose/<1>&\"'.jsonl" in row[0] for row in page.rows("The longest documents"))


def test_the_page_asks_for_nothing_but_itself(recipe: Path) -> None:
    loaded = built(recipe)
    html = render_page(gather_numbers(loaded))

    assert all(reference.startswith("#") for reference in Page(html).references)
    assert not re.search(r"https?:|url\(|@import", html)
    assert str(recipe.parent) not in html
    assert "default-src 'none'" in html


def test_a_recipe_of_which_nothing_is_built_has_a_page_that_says_so(recipe: Path) -> None:
    page = page_of(loaded_from(recipe))

    assert [row[5] for row in page.rows("What each stage made")] == ["not built"] * 7
    assert {row[3] for row in page.rows("Checks of what is built")} == {"nothing built"}


def test_a_corpus_without_documents_has_a_page(recipe: Path) -> None:
    for path in (recipe.parent / "in").rglob("*.jsonl"):
        path.write_text("")
    build(loaded_from(recipe), SerialEngine())  # up to the epochs, which refuse to hold nothing
    page = page_of(loaded_from(recipe))

    assert page.rows("Documents by what became of them") == [
        ["kept", "0", "0.0 %"],
        ["all documents in", "0", ""],
    ]
    assert page.rows("The longest documents") == []
    assert [row[:2] for row in page.rows("What each stage made")][-2:] == [
        ["doc_arrays", "2 of 2"],
        ["packed_epoch", "0 of 2"],
    ]


def test_the_same_corpus_gives_the_same_page_in_any_folder(recipe: Path) -> None:
    first = built(recipe)
    engine = ProcessEngine(2)
    with engine:
        build(loaded_from(recipe, "elsewhere"), engine)
    second = loaded_from(recipe, "elsewhere")

    pages = [render_page(gather_numbers(loaded), times=False) for loaded in (first, second)]
    assert pages[0] == pages[1]


def test_the_documents_that_took_longest_are_named(recipe: Path) -> None:
    numbers = gather_numbers(built(recipe))
    slow = {"seconds": 2.5, "line": 3, "id": "<b>", "characters": 10_000}
    for number in range(12):
        numbers.slowest["prose"]["quality"].add(f"{number}.jsonl", [slow | {"seconds": 2 + number / 100}])

    rows = Page(render_page(numbers)).rows("prose, set quality: documents that took its taggers longest")

    assert rows[0] == ["2,110.0 ms", "10,000", "11.jsonl:3", "<b>"]
    assert len(rows) == 10
    assert "took its taggers longest" not in render_page(numbers, times=False)


def test_a_page_that_would_be_the_same_is_not_written_again(recipe: Path, edit: Edit) -> None:
    loaded = built(recipe)
    path = Path(write_report(loaded))
    before = path.stat().st_mtime_ns
    write_report(loaded)
    unchanged = path.stat().st_mtime_ns
    edit("< 10)", "< 8)")
    write_report(built(recipe))

    assert path == Path(report_path(loaded))
    assert unchanged == before
    assert path.stat().st_mtime_ns > before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dedupe: {documents: {}, paragraphs: {}}", "dedupe: {documents: {}}"),
        ("dedupe: {documents: {}, paragraphs: {}}", "dedupe: {documents: {}, after: filter}"),
        ("packing:", "execution: {attributes_place: beside}\npacking:"),
        ("tokenizer: {bytes: true}", "shuffle: false\ntokenizer: {train: {vocab_size: 300}}"),
        ("documents: [in/documents/notes/*.jsonl]", "source: {python_stdlib: code, only: [json]}"),
    ],
)
def test_the_report_looks_at_every_output_of_a_build(recipe: Path, edit: Edit, old: str, new: str) -> None:
    edit(old, new)
    loaded = built(recipe)

    for stage in STAGES.values():
        if stage.is_in(loaded):
            for key in stage.keys(loaded):
                works = stage.find_work(loaded, key)
                expected = [output.path for work in works for output in work.outputs]
                assert [output.path for output in find_outputs(loaded, stage.name, key)] == expected
                assert all(storage.exists(f"{path}.manifest.json") for path in expected)
