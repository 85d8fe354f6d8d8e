"""What dolma 1.2.1 made of one document, file and all: 724 cases, each equal or on a list with our value."""

import json
import runpy
from pathlib import Path

import pytest
from pydantic import ValidationError

from mixle_assets.errors import MixleError

GOLDEN = Path(__file__).parent.parent / "golden"
PROBES = {
    probe["name"]: probe
    for probe in map(json.loads, (GOLDEN / "mixer_probes.jsonl").read_text("utf-8").split("\n")[:-1])
}
FILTER_DIFFERENCES = runpy.run_path(str(GOLDEN.parent / "expressions" / "dolma_probes.py"))["DIFFERENCES"]

OVERLAP = "overlapping spans leave nothing of either, Dolma's leave the tail of the second"
LONGEST = "of spans with one start the longest is taken, Dolma's takes the first listed"
INNER = "inside {} what a span swallowed is applied first, Dolma's brings it back"
EMPTY = "a span of no length inserts, Dolma's eats a character and stops"
OUTSIDE = "a span beyond the text does nothing, Dolma's appends its replacement"
REVERSED = "a reversed span does nothing, Dolma's inserts, deletes and appends"
ONE_HIT = "one hit behaves like many, Dolma's panics"
SEVERAL = "several attributes are taken together, Dolma's panics"
WHOLE = "whole floats and negative starts are taken, Dolma's panics"
DOLLAR = "a leading \\$ is a dollar, Dolma's keeps the backslash"
NULL_INDEX = "null indexes to null as in jq, in Dolma's jaq it is an error"
REFUSED = "a range that no score is in is refused when the recipe is loaded"
SOURCE = "an earlier provenance is kept as provenance_source, Dolma's is overwritten"

# Ours where Dolma's is another: the text, or for a refused recipe None.
TEXT_DIFFERENCES = {
    "sp_overlap": ("0|X||X|789", OVERLAP),
    "sp_overlap3": ("0|X||X||X|89", OVERLAP),
    "sp_partial_overlap_then_gap": ("0|X||X|78|X|", OVERLAP),
    "sp_empty_replacement_overlap": ("0789", OVERLAP),
    "sp_braces_overlap": ("0<1234><56>789", OVERLAP),
    "sp_second_shorter_sorted_first": ("0BA9", OVERLAP),
    "sp_nested_shared_start_rev": ("0|X|89", LONGEST),
    "sp_two_replacers_overlap_same_start": ("01B6789", LONGEST),
    "sp_braces_nested": ("0<12<34>567>89", INNER),
    "sp_braces_nested_shared_start": ("0<<12>34567>89", INNER),
    "sp_empty_span_mid": ("0123|X|456789", EMPTY),
    "sp_empty_span_start": ("|X|0123456789", EMPTY),
    "sp_empty_then_real": ("0123|X|45|X|89", EMPTY),
    "sp_empty_same_start_as_real": ("0123|X|6789", EMPTY),
    "sp_empty_at_end_of_real": ("0123|X||X|6789", EMPTY),
    "sp_braces_empty": ("0123<>456789", EMPTY),
    "sp_start_beyond": ("0123456789", OUTSIDE),
    "sp_start_beyond_after_real": ("0|X|3456789", OUTSIDE),
    "sp_braces_start_beyond": ("0123456789", OUTSIDE),
    "sp_braces_start_beyond_after_real": ("0<12>3456789", OUTSIDE),
    "sp_braces_start_eq_len": ("0123456789", OUTSIDE),
    "sp_empty_text_span": ("", OUTSIDE),
    "sp_reversed": ("0123456789", REVERSED),
    "sp_reversed_then_real": ("01234567|X|9", REVERSED),
    "sp_reversed_before_real_before": ("0|X|234567|X|9", REVERSED),
    "sp_braces_reversed": ("0123456789", REVERSED),
    "sp_flat_span": ("|X|23456789", ONE_HIT),
    "sp_jq_iter_one": ("|X|23456789", ONE_HIT),
    "sp_jp_star_spans_one": ("|X|23456789", ONE_HIT),
    "sp_jp_filter_spans_one": ("|X|23456789", ONE_HIT),
    "sp_jp_wild_two_attrs": ("|X|23|X|6789", SEVERAL),
    "sp_jp_union_two": ("|X|23|X|6789", SEVERAL),
    "sp_span_float_pos": ("|X|23456789", WHOLE),
    "sp_jq_computed_float_pos": ("|X|23456789", WHOLE),
    "sp_span_neg": ("0123456789", WHOLE),
    "sp_dollar_repl_escaped": ("01$US456789", DOLLAR),
    "sp_jq_missing_deep": ("0123456789", NULL_INDEX),
    "sp_min_gt_max": (None, REFUSED),
}
ROW_DIFFERENCES = {
    "row_metadata_provenance_overwritten": (
        {"id": "1", "text": "t", "metadata": {"provenance": "000.jsonl:1", "provenance_source": "old"}},
        SOURCE,
    )
}
DIFFERENCES = FILTER_DIFFERENCES.keys() | TEXT_DIFFERENCES.keys() | ROW_DIFFERENCES.keys()


def outcome(bench, probe):
    """The document that was written, None if it was dropped, ``"error"`` if the shard failed."""
    document = probe["document"]
    row_id = {"id": document["id"]} if "id" in document else {}
    rows = {name: [{**row_id, "attributes": row}] for name, row in (probe["attributes"] or {}).items()}
    bench.documents([document], **rows)
    try:
        bench.mix(tolerate={"key_collision": "last"}, **probe["config"])
    except (MixleError, ValidationError):
        assert not bench.is_written
        return "error"
    rows = bench.rows
    return rows[0] if rows else None


def in_one_form(value):
    """Values compared with their types: 1 is not 1.0, nor True; the order of keys does not count."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("name", [name for name in PROBES if name not in DIFFERENCES])
def test_a_document_becomes_what_dolma_makes_of_it(bench, name):
    expected = PROBES[name]["expected"]

    found = outcome(bench, PROBES[name])

    if "kept" not in expected:
        assert found == "error"
    elif not expected["kept"]:
        assert found is None
    else:
        assert in_one_form(found) == in_one_form(expected["document"])


@pytest.mark.parametrize("name", TEXT_DIFFERENCES)
def test_a_text_is_ours_where_dolma_leaves_or_corrupts_some_of_it(bench, name):
    text, _ = TEXT_DIFFERENCES[name]

    found = outcome(bench, PROBES[name])

    if text is None:
        assert found == "error"
    else:
        assert found["text"] == text
        assert text != PROBES[name]["expected"].get("document", {}).get("text")


@pytest.mark.parametrize("name", ROW_DIFFERENCES)
def test_a_row_is_ours_where_dolma_loses_some_of_it(bench, name):
    row, _ = ROW_DIFFERENCES[name]

    assert in_one_form(outcome(bench, PROBES[name])) == in_one_form(row)


def test_every_case_is_on_one_list():
    assert len(PROBES) == 724
    assert PROBES.keys() >= DIFFERENCES
    assert len(DIFFERENCES) == len(FILTER_DIFFERENCES) + len(TEXT_DIFFERENCES) + len(ROW_DIFFERENCES)
