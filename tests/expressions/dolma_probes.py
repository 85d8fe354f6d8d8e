"""What dolma 1.2.1 did with one document and one filter, and where we differ from it on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

PROBES = Path(__file__).parent.parent / "golden" / "mixer_probes.jsonl"

FAMILIES = ("jp_", "jpr_", "ie_", "jq_", "x_jq_", "recipe_")

REFUSED = "ExpressionError"
FAILS = "EvaluationError"


class Difference(NamedTuple):
    """Our outcome where Dolma's is another: kept or not, or the class of our error."""

    outcome: bool | str
    reason: str


BY_VALUE = "numbers are compared by value, Dolma's 5 and 5.0 are two things"
ELEMENT = "&& and || test the array's member itself, Dolma's iterate what the member holds"
LENGTH = "length() has a value in a comparison, Dolma's has none"
NEGATIVE = "[-1] counts from the end, Dolma's does not parse or panics"
QUOTES = "double quotes are taken, Dolma's do not parse"
EQTILDE = "=~ is taken for ~=, Dolma's does not parse"
AT_LOAD = "rules are compiled before any data is read, Dolma's are when one is reached"
NEVER = "refused when the recipe is loaded: in Dolma it silently never matches"
NULL_INDEX = "null indexes to null as in jq, in Dolma's jaq it is an error"
FLOAT_ZERO = "0.0 from the data is false like any other 0.0"
FUNCTIONS = "jq's functions and syntax are all there, Dolma's jaq lacks these"
DIVISION = "a division by zero is an error as in jq, in Dolma's jaq it is infinite or NaN"
NUMBERS = "numbers are doubles as in jq, Dolma's jaq wraps at 64 bits"

DIFFERENCES: dict[str, Difference] = {
    "jp_num_eq_float_lit": Difference(True, BY_VALUE),
    "jp_flt_eq_int_lit": Difference(True, BY_VALUE),
    "jp_flt_ge_int_lit": Difference(True, BY_VALUE),
    "jp_flt_le_int_lit": Difference(True, BY_VALUE),
    "jp_num_le_float_lit": Difference(True, BY_VALUE),
    "jp_ge_score1_int": Difference(True, BY_VALUE),
    "jp_ge_score1i_float": Difference(True, BY_VALUE),
    "jp_big_eq": Difference(True, BY_VALUE),
    "ie_exclude_ge1_float_int": Difference(False, BY_VALUE),
    "recipe_guard_dollarat_ge_1.0_int1": Difference(False, BY_VALUE),
    "jpr_spans_filter_and": Difference(True, ELEMENT),
    "jpr_spans_filter_or": Difference(True, ELEMENT),
    "jpr_spans_and_scalar_elems": Difference(False, ELEMENT),
    "jp_length_gt": Difference(True, LENGTH),
    "jp_length_eq": Difference(True, LENGTH),
    "jp_length_ne": Difference(False, LENGTH),
    "jp_neg_idx": Difference(True, NEGATIVE),
    "jpr_idx_neg": Difference(True, NEGATIVE),
    "jpr_idx_neg_union": Difference(True, NEGATIVE),
    "jp_dblquote": Difference(True, QUOTES),
    "jp_key_dquoted": Difference(True, QUOTES),
    "jpr_bracket_dq": Difference(True, QUOTES),
    "jp_regex_eqtilde": Difference(True, EQTILDE),
    "ie_bad_second_include_not_reached": Difference(REFUSED, AT_LOAD),
    "ie_bad_exclude_not_reached": Difference(REFUSED, AT_LOAD),
    "jp_regex_bad": Difference(REFUSED, NEVER),
    "jp_in_single_num": Difference(REFUSED, NEVER),
    "jp_lit_list_one_num": Difference(REFUSED, NEVER),
    "jp_num_leading_dot": Difference(REFUSED, NEVER),
    "jq_missing_deep": Difference(False, NULL_INDEX),
    "jq_missing_idx": Difference(False, NULL_INDEX),
    "jq_alt_deep": Difference(True, NULL_INDEX),
    "x_jq_missing_deep": Difference(True, NULL_INDEX),
    "jq_no_attributes_key": Difference(False, NULL_INDEX),
    "jq_no_attributes_key_deep": Difference(False, NULL_INDEX),
    "jq_empty_idx_deep": Difference(False, NULL_INDEX),
    "jq_idx_missing_cmp": Difference(False, NULL_INDEX),
    "jq_metadata_missing": Difference(False, NULL_INDEX),
    "jq_metadata_plain": Difference(False, NULL_INDEX),
    "jq_float0_data": Difference(False, FLOAT_ZERO),
    "x_jq_float0_data": Difference(True, FLOAT_ZERO),
    "jq_index": Difference(True, FUNCTIONS),
    "jq_indices": Difference(True, FUNCTIONS),
    "jq_ENV": Difference(True, FUNCTIONS),
    "jq_getpath": Difference(True, FUNCTIONS),
    "jq_label": Difference(True, FUNCTIONS),
    "jq_destruct": Difference(True, FUNCTIONS),
    "jq_comment": Difference(True, FUNCTIONS),
    "jq_arr_minus": Difference(True, FUNCTIONS),
    "jq_abs": Difference(True, FUNCTIONS),
    "jq_trim": Difference(True, FUNCTIONS),
    "jq_float_idx": Difference(True, FUNCTIONS),
    "jq_input": Difference(FAILS, "there is no further input: an error as in jq, empty in Dolma's jaq"),
    "jq_div0": Difference(FAILS, DIVISION),
    "jq_nan": Difference(FAILS, DIVISION),
    "jq_int_overflow": Difference(True, NUMBERS),
    "jq_big_eq": Difference(True, NUMBERS),
}


class Probe(NamedTuple):
    name: str
    include: list[str]
    exclude: list[str]
    syntax: str
    document: dict[str, Any]
    dolma: bool | None
    """Kept or not; None for an error."""


def read_probes() -> list[Probe]:
    """The filter cases, with the attribute rows merged into the document as the mixer does."""
    probes = []
    with PROBES.open(encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            if not case["name"].startswith(FAMILIES):
                continue
            document = case["document"]
            if case["attributes"]:
                merged = dict(document.get("attributes") or {})
                for row in case["attributes"].values():
                    merged |= row
                document = document | {"attributes": merged}
            rules = case["config"].get("filter") or {}
            probes.append(
                Probe(
                    case["name"],
                    rules.get("include", []),
                    rules.get("exclude", []),
                    rules.get("syntax", "jsonpath"),
                    document,
                    case["expected"].get("kept"),
                )
            )
    return probes
