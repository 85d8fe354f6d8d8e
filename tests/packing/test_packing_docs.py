"""The examples of the two pages on packing are run, and give what they show."""

import doctest
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["reference/streaming-corpus.md", "explanation/packing.md"])
def test_examples_give_what_they_show(corpus_folder, page):
    corpus_folder.add_stream("prose", [[1], [2, 2], [3, 3, 3, 3, 3]])
    corpus_folder.pack(block=4, batch_size=8)
    text = (PAGES / page).read_text()
    examples = doctest.DocTestParser().get_doctest(
        text, {"root": corpus_folder.root, "np": np}, page, str(PAGES / page), 0
    )

    assert len(examples.examples) > 5
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)
    assert outcome.failed == 0
