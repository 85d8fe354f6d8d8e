"""Each check of attribute files passes on what we write, and fails on the fault it is there for."""

import json

from mixle_assets.records import Violation
from mixle_assets.tagging.verify import find_misaligned_ids, find_missing_rows, find_spans_outside_text

CHECKS = (find_misaligned_ids, find_missing_rows, find_spans_outside_text)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def documents(folder):
    return write(folder / "d.jsonl", [{"id": 7, "text": "abc"}, {"id": "b", "text": "👍 e\u0301"}])


def test_attributes_that_fit_break_no_guarantee(tmp_path):
    good = write(
        tmp_path / "a.jsonl",
        [
            {"id": 7, "attributes": {"k": [[0, 3, 1.0]]}},
            {"id": "b", "attributes": {"k": [[3, 4, 1]], "n": 5}},
        ],
    )

    assert [list(find(documents(tmp_path), [good])) for find in CHECKS] == [[], [], []]


def test_ids_align_fails_on_another_id_and_on_another_type(tmp_path):
    rows = write(tmp_path / "a.jsonl", [{"id": "7", "attributes": {}}, {"id": "c", "attributes": {}}])
    path = documents(tmp_path)

    assert list(find_misaligned_ids(path, [rows])) == [
        Violation(f"{rows}:1", f"id 7 as in {path}:1", "id '7'"),
        Violation(f"{rows}:2", f"id 'b' as in {path}:2", "id 'c'"),
    ]


def test_every_document_has_its_row_fails_on_a_short_and_on_a_long_file(tmp_path):
    path = documents(tmp_path)
    short = write(tmp_path / "short.jsonl", [{"id": 7, "attributes": {}}])
    long = write(tmp_path / "long.jsonl", [{"id": i, "attributes": {}} for i in (7, "b", "c")])
    expected = f"2 rows, one for each document of {path}"

    assert list(find_missing_rows(path, [short, long])) == [
        Violation(short, expected, "1 rows"),
        Violation(long, expected, "3 rows"),
    ]


def test_spans_inside_text_fails_on_a_span_that_counts_bytes(tmp_path):
    rows = write(
        tmp_path / "a.jsonl",
        [
            {"id": 7, "attributes": {"k": [[0, 3, 1.0], [2, 1, 1.0]]}},
            {"id": "b", "attributes": {"k": [[5, 8, 1.0]]}},
        ],
    )

    assert list(find_spans_outside_text(documents(tmp_path), [rows])) == [
        Violation(f"{rows}:1", "k of document 7 inside its 3 characters", "[2, 1, 1.0]"),
        Violation(f"{rows}:2", "k of document 'b' inside its 4 characters", "[5, 8, 1.0]"),
    ]
