"""A corpus of nine documents in two streams, with everything that a report shows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

RECIPE = """\
name: "<script>alert('corpus')</script> & more"
streams:
  - name: prose
    documents: [in/documents/prose/*.jsonl]
    taggers: {quality: [char_length_v1], pii: [pii_regex_with_counts_fast_v2]}
    dedupe: {documents: {}, paragraphs: {}}
    filter:
      exclude:
        - $.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]
        - $.attributes[?(@.quality__char_length_v1__length[0][2] < 6)]
        - $.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]
    span_replacement:
      - span: $.attributes.pii__pii_regex_with_counts_fast_v2__EMAIL_ADDRESS
        min_score: 0.5
        replacement: "<b>address</b>"
    output: {max_size_in_bytes: 1}
    weight: 2.0
  - name: notes
    documents: [in/documents/notes/*.jsonl]
tokenizer: {bytes: true}
packing: {block: 16, batch_size: 2, seed: 3, epochs: 2, world_size: 2}
"""

DOCUMENTS = {
    "prose/0.jsonl": [
        "The first document says hello.\nIt has two lines.",
        "short",
        "Write to jane.doe@example.com and to john.doe@example.com for more of this.",
        "seven 7",
    ],
    "prose/<1>&\"'.jsonl": [
        "The first document says hello.\nIt has two lines.",
        "A fifth document, quite different.",
    ],
    "notes/0.jsonl": ["Note one. <|endoftext|>", "", "Note three is longer than note one is."],
}


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """The recipe file, its documents beside it."""
    for name, texts in DOCUMENTS.items():
        path = tmp_path / "in" / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"id": f"{name}-{place}", "text": text} for place, text in enumerate(texts)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def edit(recipe: Path) -> Callable[[str, str], None]:
    """Replace a piece of the recipe's text."""

    def replace(old: str, new: str) -> None:
        text = recipe.read_text()
        assert old in text
        recipe.write_text(text.replace(old, new))

    return replace
