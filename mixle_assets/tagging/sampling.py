"""Taggers for sampling: a number that depends on the document's id and a seed, on nothing else."""

from __future__ import annotations

import json

import xxhash

from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures


@tagger("random_number_v1", measures=["random"])
def draw_number(document: DocumentView, *, seed: int = 0) -> Measures:
    """A number in [0, 1) from the hash of seed and id: the same in any file, order, worker and run.

    Two documents with one id get one number. Another seed gives an independent draw.
    """
    # JSON keeps the type of the id, so 7 and "7" draw apart; five decimals as everywhere, and never 1.0.
    content = json.dumps([seed, document.id], ensure_ascii=False).encode()
    return {"random": (xxhash.xxh3_64_intdigest(content) * 100_000 >> 64) / 100_000}
