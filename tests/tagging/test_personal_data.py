"""``pii_v1`` on a labelled set: what is found, what is missed, what is found by mistake."""

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from mixle_assets.tagging.personal_data import KINDS, find_personal_data, find_pii
from mixle_assets.tagging.pii import find_pii_v2
from mixle_assets.tagging.views import view_of_text

SET = (Path(__file__).parent.parent / "golden" / "tagger_probes_pii.txt").read_text("utf-8")
TUNED, HELD_OUT = ([line for line in part.split("\n")[1:] if line] for part in SET.split("\n# Held out"))
DOLMA = {"email": "EMAIL_ADDRESS", "phone_number": "PHONE_NUMBER", "ip_address": "IP_ADDRESS"}


def read_labels(line):
    """Return the text without its marks, and the set of (measure, start, end)."""
    text, labels = "", set()
    for piece in re.split(r"(\[[a-z_]+:[^\]]+\])", line):
        found = re.fullmatch(r"\[([a-z_]+):([^\]]+)\]", piece)
        data = found.group(2) if found else piece
        if found:
            labels.add((found.group(1), len(text), len(text) + len(data)))
        text += data
    return text, labels


def score(find, lines):
    """Return true positives, false positives and false negatives for each measure."""
    counts = {measure: Counter() for measure in dict.fromkeys(kind.measure for kind in KINDS)}
    for line in lines:
        text, labels = read_labels(line)
        found = set(find(text))
        for outcome, spans in (
            ("hit", found & labels),
            ("wrong", found - labels),
            ("missed", labels - found),
        ):
            for measure, start, end in sorted(spans):
                counts[measure][outcome] += 1
                if find is find_personal_data and outcome != "hit":
                    print(f"{outcome} {measure}: {text[start:end]!r} in {text!r}")
    return counts


def rates(counts):
    hit, wrong, missed = (sum(one[name] for one in counts) for name in ("hit", "wrong", "missed"))
    return hit / max(hit + wrong, 1), hit / max(hit + missed, 1)


def find_as_dolma(text):
    found = find_pii_v2(view_of_text(text))
    return ((ours, start, end) for ours, name in DOLMA.items() for start, end, _ in found.get(name, ()))


def test_precision_and_recall_on_the_labelled_set():
    ours, dolma = score(find_personal_data, TUNED), score(find_as_dolma, TUNED)

    for measure, counts in ours.items():
        print(
            "pii_v1 {}: precision {:.3f}, recall {:.3f}, {}".format(measure, *rates([counts]), dict(counts))
        )
    print("pii_v1 all: precision {:.3f}, recall {:.3f}".format(*rates(ours.values())))
    print("pii_regex_v2 all, exact spans: precision {:.3f}, recall {:.3f}".format(*rates(dolma.values())))
    for measure, counts in ours.items():
        assert rates([counts]) == (1.0, 1.0), measure


def test_precision_and_recall_on_lines_that_nothing_was_tuned_on():
    precision, recall = rates(score(find_personal_data, HELD_OUT).values())

    print(f"pii_v1, held out: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.8
    assert recall >= 0.7


def test_spans_are_code_points_and_hold_the_address_alone():
    text = "👍🏽 e\u0301 👨‍👩‍👧 a👍b@c.de z"
    start = text.index("b@c.de")

    assert find_pii(view_of_text(text)) == {
        "email": [[start, start + 6, 1.0]],
        "count": 1,
        "fraction": 6 / len(text),
    }


@pytest.mark.parametrize("text", ["", "\n\n", "!!!"])
def test_a_text_without_anything_has_count_and_fraction_zero(text):
    assert find_pii(view_of_text(text)) == {"count": 0, "fraction": 0.0}


@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, "1" * 1_000_000, "a@" * 200_000, "1:" * 200_000, "+1" * 100_000, "DE89 3704 " * 50_000],
)
def test_a_pathological_text_takes_time_in_proportion_to_its_length(text):
    started = time.process_time()
    list(find_personal_data(text))

    assert time.process_time() - started < 10
