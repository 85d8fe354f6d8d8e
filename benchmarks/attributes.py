"""The attributes that the mixing recipes read, made once by Dolma's own taggers and deduper."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from benchmarks.peers import peer_program

TAGGERS = {"gopher_rules": "gopher_v1", "pii_detection": "pii_regex_with_counts_fast_v2"}
SETS = (*TAGGERS, "dedupe_paragraphs", "dedupe_docs")
_DEDUPE = """
documents: ['{documents}']
dedupe: {{name: {name}, {what}, skip_empty: true}}
bloom_filter:
  {{file: {bloom}, read_only: false, estimated_doc_count: {number}, desired_false_positive_rate: 1.0e-6}}
processes: 1
"""


def make_attributes(corpus: Path, cache: Path) -> None:
    """Write ``corpus/attributes/SET/...`` for every set that is not there; some minutes for 200 MB."""
    dolma = peer_program("dolma", cache)
    documents = f"{corpus.resolve()}/documents/*.gz"
    for name, tagger in TAGGERS.items():
        if not (corpus / "attributes" / name).exists():
            subprocess.run(
                [dolma, "tag", "--documents", documents, "--experiment", name, "--taggers", tagger],
                check=True,
            )
    for name, what, number in (
        ("dedupe_paragraphs", "paragraphs: {attribute_name: bff_duplicate_paragraph_spans}", 3_000_000),
        ("dedupe_docs", "documents: {attribute_name: bff_duplicate_docs, key: $.text}", 300_000),
    ):
        if not (corpus / "attributes" / name).exists():
            bloom = corpus / f"{name}.bloom"
            bloom.unlink(missing_ok=True)
            config = corpus / f"{name}.yaml"
            config.write_text(
                _DEDUPE.format(documents=documents, name=name, what=what, bloom=bloom, number=number)
            )
            subprocess.run([dolma, "-c", str(config), "dedupe"], check=True)


def main(arguments: list[str]) -> None:
    """Make the attributes from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks attributes", description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="where the peers' environments are kept")
    given = parser.parse_args(arguments)
    make_attributes(given.corpus, given.cache)
