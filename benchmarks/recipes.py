"""The two mixing recipes that are timed, in both dialects, as Dolma configs.

``full`` has the rules of Dolma's own c4 recipe (v1.6): 24 excludes, 6 span replacements; ``small`` four of
each. The rules of taggers that were not run here stay in, as they would in practice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.attributes import SETS

_GOPHER = "gopher_rules__gopher_v1__"
_PII = "pii_detection__pii_regex_with_counts_fast_v2__"
_REPETITIONS = "tokenizer_repetitions_v2r2__tokenizer_repetitions_v2r2__doc_max_score_repetition"
# Attribute, comparison, threshold: facts of the published recipe; a document goes if one holds.
EXCLUDES: list[tuple[str, str, float]] = [
    (f"{_GOPHER}word_count", "<", 50),
    (f"{_GOPHER}word_count", ">", 100000),
    (f"{_GOPHER}median_word_length", "<", 3),
    (f"{_GOPHER}median_word_length", ">", 10),
    (f"{_GOPHER}symbol_to_word_ratio", ">", 0.1),
    (f"{_GOPHER}fraction_of_words_with_alpha_character", "<", 0.8),
    (f"{_GOPHER}required_word_count", "<", 2),
    (f"{_GOPHER}fraction_of_lines_starting_with_bullet_point", ">", 0.9),
    (f"{_GOPHER}fraction_of_lines_ending_with_ellipsis", ">", 0.3),
    (f"{_GOPHER}fraction_of_duplicate_lines", ">", 0.3),
    (f"{_GOPHER}fraction_of_characters_in_duplicate_lines", ">", 0.3),
    (f"{_GOPHER}fraction_of_characters_in_most_common_2grams", ">", 0.2),
    (f"{_GOPHER}fraction_of_characters_in_most_common_3grams", ">", 0.18),
    (f"{_GOPHER}fraction_of_characters_in_most_common_4grams", ">", 0.16),
    *((f"{_GOPHER}fraction_of_characters_in_duplicate_{n}grams", ">", (20 - n) / 100) for n in range(5, 11)),
    ("bff_duplicate_paragraph_spans_decontamination", ">=", 1.0),
    (f"{_PII}doc_count", ">", 5),
    (_REPETITIONS, ">=", 100),
    ("bff_duplicate_docs", ">=", 1.0),
]
# Attribute, least score, replacement.
SPANS: list[tuple[str, float, str]] = [
    ("bff_duplicate_paragraph_spans", 0.5, ""),
    ("hatespeech_nsfw_cc_v3__jigsaw_hatespeech_sentence_v2____label__toxic", 0.4, ""),
    ("hatespeech_nsfw_cc_v3__jigsaw_nsfw_sencence_v2____label__nsfw", 0.4, ""),
    (f"{_PII}EMAIL_ADDRESS", 0.5, " |||EMAIL_ADDRESS||| "),
    (f"{_PII}PHONE_NUMBER", 0.5, " |||PHONE_NUMBER||| "),
    (f"{_PII}IP_ADDRESS", 0.5, " |||IP_ADDRESS||| "),
]
SMALL = {"excludes": (0, 1, 11, 21), "spans": (0, 3, 4, 5)}
FORMS = ("full", "full-jq", "small", "small-jq")


def write_config(form: str, corpus: Path, output: Path, config: Path, *, codec: str = "gz") -> None:
    """Write one of ``FORMS`` as a Dolma config that mixes ``corpus`` into ``output``, a shard a file."""
    size, _, syntax = form.partition("-")
    places = SMALL if size == "small" else {"excludes": range(len(EXCLUDES)), "spans": range(len(SPANS))}
    rule = _in_jq if syntax == "jq" else _in_jsonpath
    stream: dict[str, Any] = {
        "name": "c4",
        "documents": [f"{corpus.resolve()}/documents/*.gz"],
        "attributes": list(SETS),
        "output": {
            "path": str(output.resolve()),
            "max_size_in_bytes": 1,
            "min_text_length": 1,
            "discard_fields": ["attributes"],
        },
        "filter": {
            "syntax": syntax or "jsonpath",
            "include": [],
            "exclude": [rule(*EXCLUDES[place]) for place in places["excludes"]],
        },
        "span_replacement": [
            {"span": f"$.attributes.{key}", "min_score": score, "replacement": replacement}
            for key, score, replacement in (SPANS[place] for place in places["spans"])
        ],
        "compression": {"output": codec},
    }
    work = output.resolve().with_suffix(".work")
    content = {
        "streams": [stream],
        "processes": 1,
        "work_dir": {"input": f"{work}/in", "output": f"{work}/out"},
    }
    config.write_text(json.dumps(content, indent=1))


def _in_jsonpath(key: str, comparison: str, threshold: float) -> str:
    return f"$.attributes[?(@.{key} && @.{key}[0] && @.{key}[0][2] {comparison} {threshold})]"


def _in_jq(key: str, comparison: str, threshold: float) -> str:
    return (
        f'(.attributes.{key} | if type == "array" and length > 0 and .[0] != null and .[0][2] != null '
        f"then .[0][2] {comparison} {threshold} else false end)"
    )
