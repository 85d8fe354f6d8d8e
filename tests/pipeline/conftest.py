"""A corpus small enough to be read at a glance: two streams, three document files, eight documents."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

RECIPE = """\
name: small
streams:
  - name: prose
    documents: [in/documents/prose/*.jsonl.gz]
    taggers: {quality: [char_length_v1], pii: [pii_regex_with_counts_fast_v2]}
    dedupe: {documents: {}, paragraphs: {}}
    filter:
      exclude:
        - $.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]   # too short to teach anything
        - $.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]
    span_replacement:
      - span: $.attributes.pii__pii_regex_with_counts_fast_v2__EMAIL_ADDRESS
        min_score: 0.5
        replacement: " |||EMAIL_ADDRESS||| "
    output: {max_size_in_bytes: 1}
  - name: notes
    documents: [in/documents/notes/*.jsonl.gz]
tokenizer: {bytes: true}
packing: {block: 16, batch_size: 2, seed: 3, epochs: 2, world_size: 2}
"""

DOCUMENTS = {
    "prose/0000.jsonl.gz": [
        {"id": "a", "text": "The first document says hello.\nIt has two lines.", "source": "s"},
        {"id": "b", "text": "short", "source": "s"},
        {"id": "c", "text": "Write to jane.doe@example.com for more of this.", "source": "s"},
    ],
    "prose/0001.jsonl.gz": [
        {"id": "d", "text": "The first document says hello.\nIt has two lines.", "source": "s"},
        {"id": "e", "text": "A fifth document, quite different.", "source": "s"},
    ],
    "notes/0000.jsonl.gz": [
        {"id": 1, "text": "Note one."},
        {"id": 2, "text": ""},
        {"id": 3, "text": "Note three is longer than note one."},
    ],
}


def write_documents(path: Path, documents: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The recipe file of the small corpus, its documents beside it."""
    for name, documents in DOCUMENTS.items():
        write_documents(tmp_path / "in" / "documents" / name, documents)
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def edit(small: Path) -> Callable[[str, str], None]:
    """Replace a piece of the small recipe's text."""

    def replace(old: str, new: str) -> None:
        text = small.read_text()
        assert old in text
        small.write_text(text.replace(old, new))

    return replace
