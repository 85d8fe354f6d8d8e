"""Taggers for source code that need no parser: copyright headers, and the RedPajama line statistics."""

from __future__ import annotations

import re

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures
from mixle_assets.tagging.words import num_pieces

_COPYRIGHT = re.compile("copyright", re.IGNORECASE)
_COMMENT_STARTS = ("//", "#", "--")


@tagger("code_copyright_comments_v1", measures=["copyright_notice", "comment_block", "doc"])
def find_copyright(document: DocumentView) -> Measures:
    """The first block comment if it speaks of copyright; without any, the comment lines the text begins with.

    As in Dolma the comment lines come out too short by one for each that is not blank, and too long for an
    empty text (the span is cut to the text, the share is not).
    """
    text = document.text
    length = len(text)
    measures: dict[str, list[SpanRow] | float] = {}
    end = None
    block_start = text.find("/*")
    block_end = text.find("*/", block_start + 2) + 2 if block_start >= 0 else 0
    if block_end > 2:
        if _COPYRIGHT.search(text, block_start, block_end):
            measures["copyright_notice"] = [[block_start, block_end, 1.0]]
            end = block_end - block_start
    else:
        skipped = 0
        for line in document.lines:
            if line and not line.startswith(_COMMENT_STARTS):
                break
            skipped += len(line) or 1
        if skipped:
            measures["comment_block"] = [[0, min(skipped, length), 1.0]]
            end = skipped
    share = -1.0 if not length else 0.0 if end is None else (end + 1) / length
    measures["doc"] = share
    return measures


@tagger(
    "code_redpajama_taggers_v1",
    measures=["max_line_length_doc", "avg_line_length_doc", "alnum_prop_doc", "alpha_token_prop_doc"],
)
def measure_lines_of_code(document: DocumentView) -> Measures:
    """Longest and mean line, share of letters and digits, letters for each whitespace token.

    Lines are those of ``str.splitlines``, which also cuts at form feeds and U+2028.
    """
    text = document.text
    lengths = [len(line) for line in text.splitlines()]
    return {
        "max_line_length_doc": max(lengths, default=0),
        "avg_line_length_doc": sum(lengths) / max(len(lengths), 1),
        "alnum_prop_doc": sum(map(str.isalnum, text)) / max(len(text), 1),
        "alpha_token_prop_doc": sum(map(str.isalpha, text)) / num_pieces(text),
    }
