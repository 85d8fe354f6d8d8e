"""What dolma 1.2.1's ``tokens`` wrote for the same texts: the same ids, or a difference on the list."""

import json
from pathlib import Path

import pytest

from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
# Both files hold only what the probed texts need, under the ids of the full files.
SPECS = {
    "gpt-neo": Tokenizer(file=str(GOLDEN / "tokens_neo_tokenizer.json")),
    "llama": Tokenizer(file=str(GOLDEN / "tokens_llama_tokenizer.json"), boundary="</s>", bos="<s>"),
}
ROWS = [json.loads(line) for line in (GOLDEN / "tokens_probe.jsonl").read_text().splitlines()]
REASONS = {"text is not stripped", "special strings are text"}


def surrounded(row, ids):
    before = [] if row["bos_id"] is None else [row["bos_id"]]
    after = [] if row["eos_id"] is None else [row["eos_id"]]
    return [*before, *ids, *after]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['case']}-{number}" for number, row in enumerate(ROWS)])
def test_the_ids_are_those_of_dolma_or_the_difference_is_known(row):
    found = surrounded(row, load_tokenizer(SPECS[row["tokenizer"]]).encode(row["text"]))

    assert found == row.get("ours", row["dolma"])


def test_each_difference_has_one_of_the_known_reasons():
    different = [row for row in ROWS if "ours" in row]

    assert {row["why"] for row in different} == REASONS
    assert len(different) == 9
    assert all(row["ours"] != row["dolma"] for row in different)


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("why") == "text is not stripped"])
def test_on_the_stripped_text_the_ids_are_equal(row):
    ids = load_tokenizer(SPECS[row["tokenizer"]]).encode(row["text"].strip())

    assert surrounded(row, ids) == row["dolma"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("why") == "special strings are text"])
def test_with_special_strings_as_ids_they_are_equal(row):
    spec = SPECS[row["tokenizer"]].model_copy(update={"special_strings": "as_ids"})
    ids = load_tokenizer(spec).encode(row["text"])
    # Dolma appends no boundary to a text that already ends with one.
    found = surrounded(row, ids) if ids[-1] != row["eos_id"] else ids

    assert found == row["dolma"]
