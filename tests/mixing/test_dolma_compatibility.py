"""The page on Dolma compatibility says what the lists of differences say."""

import re
import runpy
from collections import Counter
from itertools import dropwhile, takewhile
from pathlib import Path

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "reference" / "dolma-compatibility.md"
DOCUMENTS = runpy.run_path(str(TESTS / "mixing" / "test_dolma_documents.py"))
FOLDERS = runpy.run_path(str(TESTS / "mixing" / "test_dolma_files.py"))


def rows_of(heading):
    """The rows of the first table under a heading, as lists of cells."""
    lines = PAGE.read_text("utf-8").split(heading)[1].splitlines()
    lines = list(dropwhile(lambda line: not line.startswith("|"), lines))
    lines = list(takewhile(lambda line: line.startswith("|"), lines))
    return [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[2:]
    ]


def test_the_page_counts_the_cases_of_every_reason():
    reasons = Counter(difference.reason for difference in DOCUMENTS["FILTER_DIFFERENCES"].values())
    for lists in (DOCUMENTS["TEXT_DIFFERENCES"], DOCUMENTS["ROW_DIFFERENCES"], FOLDERS["DIFFERENCES"]):
        reasons.update(reason for _, reason in lists.values())

    assert {reason: int(number) for reason, number in rows_of("## Cases by reason")} == dict(reasons)


def test_the_page_counts_the_cases_that_are_equal():
    documents, folders, packed, _ = rows_of("# Dolma compatibility")
    num_stage = len(FOLDERS["PROBES"]) - len(FOLDERS["OF_THE_PIPELINE"])

    assert [int(cell) for cell in documents[1:4]] == [
        len(DOCUMENTS["PROBES"]),
        len(DOCUMENTS["PROBES"]) - len(DOCUMENTS["DIFFERENCES"]),
        len(DOCUMENTS["DIFFERENCES"]),
    ]
    assert [int(cell) for cell in folders[1:4]] == [
        num_stage,
        num_stage - len(FOLDERS["DIFFERENCES"]),
        len(FOLDERS["DIFFERENCES"]),
    ]
    assert int(packed[1]) == len(FOLDERS["OF_THE_PIPELINE"])


def test_every_difference_names_a_test_that_exists():
    for _, _, held_by in rows_of("## Where we differ on purpose"):
        assert (TESTS.parent / held_by.strip("`")).exists(), held_by
