import json
from pathlib import Path

import pytest

from mixle_assets.mixing.verify import (
    find_dead_rules,
    find_leaked_spans,
    find_unbalanced_counts,
    find_unresolved_provenance,
    paint_spans,
)
from mixle_assets.records import Violation

SPANS = [{"span": "$.attributes.pii", "replacement": "<>"}]
SHORT = "$.attributes[?(@.words < 2)]"


@pytest.fixture
def mixed(bench):
    """Three documents of two files; the second is dropped, the others hold a span."""
    bench.documents(
        [{"id": 1, "text": "0123456789"}, {"id": 2, "text": "gone"}],
        "a.jsonl",
        q=[{"words": 5, "pii": [[2, 4, 1.0], [3, 6, 1.0]]}, {"words": 1}],
    )
    bench.documents([{"id": 3, "text": "abc"}], "b.jsonl", q=[{"words": 9, "pii": [[0, 1, 1.0]]}])
    task = bench.task(filter={"exclude": [SHORT]}, span_replacement=SPANS)
    written = bench.mix(filter={"exclude": [SHORT]}, span_replacement=SPANS)
    assert [row["text"] for row in bench.rows] == ["01<><>6789", "<>bc"]
    return bench, task, written


def rewrite(task, change):
    """Change the rows of the mixed shard behind the mixer's back."""
    path = Path(task.output_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))


def test_a_shard_as_it_was_mixed_breaks_nothing(mixed):
    _, task, written = mixed

    assert list(find_leaked_spans(task)) == []
    assert list(find_unresolved_provenance(task)) == []
    assert list(find_unbalanced_counts(task, written.counts)) == []
    assert list(find_dead_rules([written.details])) == []


def test_a_selected_character_that_came_back_is_found(mixed):
    _, task, _ = mixed
    rewrite(task, lambda rows: [{**rows[0], "text": "012<>6789"}, rows[1]])

    assert list(find_leaked_spans(task)) == [
        Violation(
            f"{task.output_path}:1", "the text of a.jsonl:1, rewritten: at 2 '01<><>6789'", "'012<>6789'"
        )
    ]


def test_a_lost_and_an_added_document_are_found(mixed):
    _, task, written = mixed
    rewrite(task, lambda rows: rows[:1])
    [lost] = find_leaked_spans(task)
    assert (lost.expected, lost.found) == ("the text of b.jsonl:1, rewritten", "None")
    [number] = find_unbalanced_counts(task, written.counts)
    assert (number.expected, number.found) == ("2 documents, as counted", "1 documents")

    rewrite(task, lambda rows: [rows[0], {"id": 3, "text": "<>bc"}, {"id": 9, "text": "new"}])
    assert [(one.expected, one.found) for one in find_leaked_spans(task)] == [
        ("no further document", "document 9")
    ]


@pytest.mark.parametrize(
    ("provenance", "expected", "found"),
    [
        ("a.jsonl:2", "document 2, which stands at a.jsonl:2", "document 3"),
        ("b.jsonl:7", "a document at b.jsonl:7", "no document on that line"),
        ("c.jsonl:1", "metadata.provenance is a line of an input, behind the one before", "'c.jsonl:1'"),
        ("a.jsonl:1", "metadata.provenance is a line of an input, behind the one before", "'a.jsonl:1'"),
        ("b.jsonl:x", "metadata.provenance is a line of an input, behind the one before", "'b.jsonl:x'"),
        (None, "metadata.provenance is a line of an input, behind the one before", "None"),
    ],
)
def test_a_provenance_that_leads_to_another_document_or_nowhere_is_found(mixed, provenance, expected, found):
    _, task, _ = mixed
    rewrite(task, lambda rows: [rows[0], {**rows[1], "metadata": {"provenance": provenance}}])

    assert list(find_unresolved_provenance(task)) == [Violation(f"{task.output_path}:2", expected, found)]


def test_an_id_of_another_type_is_another_document(mixed):
    _, task, _ = mixed
    rewrite(task, lambda rows: [rows[0], {**rows[1], "id": "3"}])

    [violation] = find_unresolved_provenance(task)
    assert (violation.expected, violation.found) == ("document 3, which stands at b.jsonl:1", "document '3'")


def test_counts_that_do_not_add_up_are_found(mixed):
    _, task, written = mixed
    written.counts.num_in = 4

    assert [(one.expected, one.found) for one in find_unbalanced_counts(task, written.counts)] == [
        ("4 documents in = 2 out + 1 dropped", "a difference of 1"),
        ("4 documents in, as counted", "3 documents"),
    ]


def test_rules_and_spans_that_never_fire_are_found(bench):
    bench.documents([{"id": 1, "text": "a"}], q=[{"words": 5}])
    dead = "$.attributes[?(@.word_cuont < 2)]"

    written = bench.mix(filter={"exclude": [SHORT, dead]}, span_replacement=SPANS)

    assert list(find_dead_rules([written.details, written.details])) == [
        Violation(f"exclude {SHORT}", "at least one hit", "0 hits of 2 documents, 0 of which lack a value"),
        Violation(f"exclude {dead}", "at least one hit", "0 hits of 2 documents, 2 of which lack a value"),
        Violation("span $.attributes.pii", "at least one span", "0 spans in 2 documents"),
    ]
    assert list(find_dead_rules([])) == []


def test_painting_gives_every_character_one_owner():
    spans = [(1, -5, 0, "A"), (3, -7, 1, "<{}>"), (4, -6, 2, "B"), (8, -8, 3, "|")]

    assert paint_spans("0123456789", spans) == "0A<B6>7|89"
    assert paint_spans("", []) == ""
