"""The page docs/reference/tokenizers.md says what the code does."""

import json
import re
from pathlib import Path

import yaml

from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import tiktoken_ranks
from mixle_assets.tokenizers.engines import FAST_ENGINES
from mixle_assets.tokenizing.tokenize import CHECK_EVERY, TokenizeTask, tokenize_shard
from mixle_assets.tokenizing.train import SAMPLE_IN_BYTES

PAGE = (Path(__file__).parents[2] / "docs/reference/tokenizers.md").read_text("utf-8")


def table(header):
    """Return the cells of the table that begins with this header."""
    lines = PAGE[PAGE.index(header) :].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def test_every_recipe_section_on_the_page_is_valid():
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)

    specs = [Tokenizer.model_validate(yaml.safe_load(block)["tokenizer"]) for block in blocks]

    assert len(specs) == 6
    assert specs[2].pattern == "cl100k_base"


def test_the_known_ranks_and_their_sizes_are_those_of_the_code():
    known = {
        name: max(ranks.special.values()) + 1
        for name, ranks in tiktoken_ranks._KNOWN.items()
        if name != "p50k_base"
    }

    # The ranks of p50k_base go on after its special token.
    assert {name: int(size) for name, size in table("| known ranks |")} == {**known, "p50k_base": 50281}


def test_the_engines_and_their_order_are_those_of_the_code():
    assert [row[0] for row in table("| engine |")] == [
        "tokenizers",
        "pieces",
        "fastokens",
        "gigatoken",
        "sentencepiece",
        "bytes",
    ]
    order = ", ".join(f"`{name}`" for name in FAST_ENGINES)
    assert f"`auto` takes the first of {order}" in PAGE
    assert f"every {CHECK_EVERY}th document" in PAGE
    assert f"up to {SAMPLE_IN_BYTES // 2**20} MiB" in PAGE


def test_the_details_and_the_example_are_those_of_the_code(tmp_path, monkeypatch, capsys):
    shard = tmp_path / "prose-0000.jsonl"
    row = {"id": 7, "text": "a<|endoftext|>", "metadata": {"provenance": "prose/0000.jsonl:1"}}
    shard.write_text(json.dumps(row) + "\n")
    task = TokenizeTask(
        key="prose/0000",
        mixed_shard=str(shard),
        tokenizer=Tokenizer(bytes=True),
        output=str(tmp_path / "doc_arrays" / "prose-0000.arrow"),
    )

    details = tokenize_shard(task).details

    assert {row[0] for row in table("| key |")} == set(details)
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "tokenizers.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == (
        "1 14 uint16\n7 prose/0000.jsonl:1 [ 97  60 124 101 110 100 111 102]\n"
    )


def test_the_reasons_for_leaving_documents_out_are_those_of_the_code():
    source = (Path(tiktoken_ranks.__file__).parents[1] / "tokenizing" / "tokenize.py").read_text("utf-8")

    assert {row[0] for row in table("| dropped as |")} == set(re.findall(r'\.drop\("(\w+)"', source))
