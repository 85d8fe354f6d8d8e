"""What dolma 1.2.1 did with 35 small corpora, beside what we do; every difference has its reason."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any

import pytest

from mixle_assets.errors import InputError
from mixle_assets.recipe import Dedupe

GOLDEN = Path(__file__).parent.parent / "golden" / "dedupe_probes.jsonl"
PROBES: dict[str, dict[str, Any]] = {
    probe["case"]: probe for probe in map(json.loads, GOLDEN.read_text(encoding="utf-8").splitlines())
}

CODE_POINTS = "dolma mixes characters and bytes: an end may lie one past the text, or be a length in bytes"
LENGTH_IN_CHARACTERS = "min_length counts characters; dolma counts bytes of documents"
MIN_WORDS = "min_words compares what has that many words; dolma then compares only what has fewer, or nothing"
SEPARATOR = "dolma counts every separator as one character, so that later spans drift"
WHOLE_DOCUMENT = "a repeated document's span is its text, whatever field was compared; dolma's is the field"
ONE_FILE = "a file that two patterns match is one file; dolma reads it twice and then flags all of it"
NO_KEY = (
    "a document without the field, or with null there, is not compared; dolma dies on it with exit code 0"
)
ANY_JSON = "any JSON value can be compared; dolma dies on numbers with exit code 0"
BLANK_LINE = "a blank line is passed over and counted; dolma loses the file"
BOTH = "documents and paragraphs are both marked; dolma leaves the paragraphs out"
NAMED = "the reference document that a span stands in is named; a Bloom filter forgot it"

PARAGRAPHS = "bff_duplicate_paragraph_spans"
DOCUMENTS = "bff_duplicate_docs"
CONTAMINATED = "bff_duplicate_paragraph_spans_decontamination"

DIFFERENCES: dict[str, tuple[str, dict[str, list[dict[str, Any]]]]] = {
    "paragraph_unicode": (
        CODE_POINTS,
        {
            "documents/000.jsonl": [
                {PARAGRAPHS: []},
                {PARAGRAPHS: [[0, 2, 1]]},
                {PARAGRAPHS: []},
                {PARAGRAPHS: [[0, 4, 1], [4, 9, 1], [9, 12, 1]]},
                {PARAGRAPHS: [[6, 11, 1]]},
                {PARAGRAPHS: [[0, 4, 1], [4, 10, 1], [10, 13, 1]]},
            ]
        },
    ),
    "paragraph_min_words": (MIN_WORDS, {"documents/000.jsonl": [{PARAGRAPHS: [[8, 16, 1]]}]}),
    "paragraph_separator": (SEPARATOR, {"documents/000.jsonl": [{PARAGRAPHS: [[14, 21, 1]]}]}),
    "doc_text": (
        CODE_POINTS,
        {
            "documents/000.jsonl": [
                {},
                {DOCUMENTS: [[0, 4, 1]]},
                {},
                {},
                {DOCUMENTS: [[0, 0, 1]]},
                {},
                {},
                {DOCUMENTS: [[0, 3, 1]]},
                {DOCUMENTS: [[0, 4, 1]]},
            ]
        },
    ),
    "doc_url": (
        WHOLE_DOCUMENT,
        {"documents/000.jsonl": [{}, {"bff_duplicate_url": [[0, 1, 1]]}, {}, {}]},
    ),
    "doc_min_words": (
        MIN_WORDS,
        {"documents/000.jsonl": [{}, {DOCUMENTS: [[0, 7, 1]]}, {DOCUMENTS: []}, {DOCUMENTS: []}]},
    ),
    "doc_min_length": (
        LENGTH_IN_CHARACTERS,
        {
            "documents/000.jsonl": [
                {},
                {DOCUMENTS: [[0, 3, 1]]},
                {DOCUMENTS: []},
                {DOCUMENTS: []},
                {DOCUMENTS: []},
                {DOCUMENTS: []},
            ]
        },
    ),
    "overlap": (ONE_FILE, {"documents/a.jsonl": [{PARAGRAPHS: []}]}),
    "nonstring_key": (ANY_JSON, {"documents/000.jsonl": [{}]}),
    "blankline": (BLANK_LINE, {"documents/000.jsonl": [{PARAGRAPHS: []}, {PARAGRAPHS: []}]}),
    "ngram_unicode": (
        CODE_POINTS,
        {
            "documents/000.jsonl": [
                {PARAGRAPHS: []},
                {PARAGRAPHS: [[0, 51, 0.6000000238418579]]},
                {PARAGRAPHS: [[0, 13, 0.5]]},
            ]
        },
    ),
    "decon_apply": (
        NAMED,
        {
            "documents/train.jsonl": [
                {CONTAMINATED: [[16, 49, 1]], CONTAMINATED + "_match": ["ev1"]},
                {CONTAMINATED: []},
                {},
            ]
        },
    ),
    "decon_ng_apply": (
        NAMED,
        {
            "documents/train.jsonl": [
                {CONTAMINATED: [[16, 49, 1.0]], CONTAMINATED + "_match": ["ev1"]},
                {CONTAMINATED: [[16, 49, 1.0]], CONTAMINATED + "_match": ["ev1"]},
                {},
                {CONTAMINATED: [[0, 49, 0.4285714328289032]], CONTAMINATED + "_match": ["ev1"]},
                {CONTAMINATED: []},
            ]
        },
    ),
    "both": (BOTH, {"documents/000.jsonl": [{PARAGRAPHS: []}]}),
}
"""Case to reason and our attributes of each row."""

REFUSED = {
    "missing_text": r"documents/000\.jsonl:2: .*text",
    "badjson": r"documents/000\.jsonl:2: not JSON",
    "decon_nofile": r"reference/\*\.jsonl: .*has no paragraph that could be compared",
    "missing_key": r"no document .* has a value at '\$\.metadata\.url'",
}
"""Case to the error we raise where dolma exits 0, or leaves a part of the output."""


def rules_of(probe: dict[str, Any]) -> Dedupe:
    """Dolma's section as ours; names of folders and numbers of partitions have no counterpart."""
    rules: dict[str, Any] = {"skip_empty": False}
    for key, value in probe["dedupe"].items():
        if key in ("skip_empty", "min_length", "min_words", "documents"):
            rules[key] = value
        elif key == "paragraphs":
            paragraphs = {{"paragraph_separator": "separator"}.get(k, k): v for k, v in value.items()}
            if (
                paragraphs.get("by_ngram", {}).get("ngram_length") == 0
            ):  # dolma's way to say: compare them whole
                del paragraphs["by_ngram"]
            if probe["read_only"]:
                rules["decontamination"] = {"reference": ["reference/*.jsonl"], **paragraphs}
            else:
                rules[key] = paragraphs
        else:
            assert key in ("name", "document_dir")
    return Dedupe.model_validate(rules)


REFERENCES = {"decon_apply": "decon_seed", "decon_ng_apply": "decon_ng_seed", "decon_nofile": None}
"""Case that reads a filter to the case that wrote it; None: there was none."""


def references_of(case: str) -> dict[str, dict[str, list[bytes]]]:
    """The reference set of a case: in dolma the filter that an earlier run had written."""
    if (seeded_by := REFERENCES.get(case)) is None:
        return {}
    files = files_in_order(PROBES[seeded_by])
    return {"decontamination": {f"reference/{name}": lines for name, lines in files.items()}}


def files_in_order(probe: dict[str, Any]) -> dict[str, list[bytes]]:
    """The input files as the patterns list them, each once."""
    ordered: dict[str, list[bytes]] = {}
    for pattern in probe["documents"]:
        for name, lines in sorted(probe["files"].items()):
            if fnmatch.fnmatch("ds/" + name, pattern):
                ordered.setdefault(name.removesuffix(".gz"), [line.encode() for line in lines])
    return ordered


@pytest.mark.parametrize("case", sorted(PROBES.keys() - REFUSED.keys()))
def test_rows_are_those_of_dolma_or_differ_for_a_reason(case, dedupe):
    probe = PROBES[case]
    corpus = dedupe({"probe/0000": files_in_order(probe)}, rules_of(probe), references=references_of(case))

    name = probe["dedupe"].get("name", PARAGRAPHS)
    for file in files_in_order(probe):
        rows = corpus.rows(file)
        theirs = {
            path.removesuffix(".gz"): [(row["id"], row["attributes"]) for row in found]
            for path, found in probe["attributes"].items()
        }.get(f"attributes/{name}/" + file.partition("/")[2])
        if case in DIFFERENCES:
            ids = [json.loads(line)["id"] for line in files_in_order(probe)[file] if line]
            ours = list(zip(ids, DIFFERENCES[case][1][file], strict=True))
            assert ours != theirs
            assert rows == ours
        else:
            assert rows == theirs


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_dolma_loses_in_silence_is_refused(case, dedupe):
    probe = PROBES[case]

    with pytest.raises(InputError, match=REFUSED[case]):
        dedupe({"probe/0000": files_in_order(probe)}, rules_of(probe), references=references_of(case))


def test_every_probe_is_replayed():
    assert len(PROBES) == 35
    assert DIFFERENCES.keys() | REFUSED.keys() <= PROBES.keys()
