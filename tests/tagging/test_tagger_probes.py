"""What Dolma 1.2.1 measured on 1,735 pairs of tagger and document, and we do: equal but for named cases."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.registry import attribute_key, resolve_tagger
from mixle_assets.tagging.views import DocumentView

GOLDEN = Path(__file__).parent.parent / "golden"
PROBES = [json.loads(line) for line in (GOLDEN / "tagger_probes.jsonl").read_text("utf-8").split("\n")[:-1]]
TAGGERS = sorted({probe["tagger"] for probe in PROBES})

WORDS = "sex\nporn\nxx\nbarely legal\ntwo girls one cup\n"
"""The entries of Dolma's list that the probes touch; we ship no list."""

OUR_NAMES = {
    "base_url (inline blocklist)": "url_list_v1",
    "base_domain (inline blocklist)": "domain_list_v1",
    "adblock (inline rules)": "filter_rules_v1",
}
"""Probes of base classes, which have no name in Dolma."""

DELIBERATE: dict[tuple[str, str], dict[str, list[list[float]]]] = {
    # A crash becomes a value: there are no words to divide by, or no page to look into.
    ("pii_regex_v1", "empty"): {"doc": [[0, 0, -1.0]]},
    ("pii_regex_v1", "space"): {"doc": [[0, 1, -1.0]]},
    ("pii_regex_v1", "newlines"): {"doc": [[0, 3, -1.0]]},
    ("pii_regex_with_counts_v2", "empty"): {"doc": [[0, 0, -1.0]], "doc_count": [[0, 0, 0.0]]},
    ("pii_regex_with_counts_v2", "space"): {"doc": [[0, 1, -1.0]], "doc_count": [[0, 1, 0.0]]},
    ("pii_regex_with_counts_v2", "newlines"): {"doc": [[0, 3, -1.0]], "doc_count": [[0, 3, 0.0]]},
    ("cc_re", "lic7"): {},
    ("cc_re_fast", "lic7"): {},
    # A span that would reach beyond the text is cut: Dolma has [48, 66], [0, 1] and [0, 4].
    ("c4_v2", "turkish-i"): {
        "has_curly_brace": [[0, 61, 1.0]],
        "lines_with_no_ending_punctuation": [[0, 26, 1.0], [26, 48, 1.0], [48, 61, 1.0]],
        "line_count": [[0, 61, 3.0]],
    },
    ("code_copyright_comments_v1", "empty"): {"comment_block": [[0, 0, 1.0]], "doc": [[0, 0, -1.0]]},
    ("code_copyright_comments_v1", "newlines"): {"comment_block": [[0, 3, 1.0]], "doc": [[0, 3, 1.66667]]},
}
"""Where Dolma stops with an error, or points outside the text: the value that we document instead."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Make the tagger's files for a probe: word list, tokenizer, or the probe's own list."""
    folder = tmp_path_factory.mktemp("files")

    def parameters_for(probe: dict[str, Any]) -> dict[str, str]:
        if probe["tagger"] in ("c4_v1", "c4_v2"):
            parameter, content = "word_list", WORDS
        elif "lines" in probe:
            parameter, content = "url_list", "\n".join(probe["lines"])
        elif "tokenizer_repetitions" in probe["tagger"]:
            # Dolma's gpt-neo test tokenizer, cut down to the merges that these texts use.
            return {"tokenizer": str(GOLDEN / "repetition_tokenizer.json")}
        else:
            return {}
        path = folder / f"{parameter}-{len(content)}"
        path.write_text(content, encoding="utf-8")
        return {parameter: str(path)}

    return parameters_for


def outcome_of(probe: dict[str, Any], parameters: dict[str, str]) -> str:
    name, document = probe["tagger"], probe["document"]
    tagger = resolve_tagger(TaggerUse(tagger=OUR_NAMES.get(name, name), parameters=parameters))
    view = DocumentView(document["id"], document["text"], "probe", document.get("metadata") or {})
    measured = {}
    for measure, spans in tagger.measure(view).items():
        if isinstance(spans, int | float):
            spans = [[0, len(view.text), spans]]
        measured[measure] = [[start, end, round(float(score), 5)] for start, end, score in spans]
    wanted = DELIBERATE.get((name, document["id"]))
    if wanted is not None:
        assert measured == wanted
        return "deliberate"
    key_name = "x" if name in OUR_NAMES else name
    keyed = {attribute_key("probe", key_name, measure): spans for measure, spans in measured.items()}
    assert keyed == probe["attributes"], document
    assert list(keyed) == list(probe["attributes"]), "order of keys"
    return "equal"


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_measures_what_dolma_measured(name, files):
    outcomes = Counter(outcome_of(probe, files(probe)) for probe in PROBES if probe["tagger"] == name)

    print(f"{name}: {dict(outcomes)}, failing 0")
    assert outcomes["deliberate"] == sum(tagger == name for tagger, _ in DELIBERATE)


def test_of_1735_probes_1724_are_equal_and_11_differ_on_purpose():
    outcomes = Counter(
        "deliberate" if (probe["tagger"], probe["document"]["id"]) in DELIBERATE else "equal"
        for probe in PROBES
    )

    print(f"all: {dict(outcomes)}, failing 0")
    assert outcomes == {"equal": 1724, "deliberate": 11}


def test_every_deliberate_difference_is_on_a_probe():
    probes = {(probe["tagger"], probe["document"]["id"]) for probe in PROBES}

    assert set(DELIBERATE) <= probes
    assert len(PROBES) == 1735
