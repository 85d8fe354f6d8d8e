"""Taggers that count word segments by Unicode's default rules (UAX 29)."""

from __future__ import annotations

from collections.abc import Iterable

from mixle_assets.records import SpanRow
from mixle_assets.segmentation.word_breaks import count_segments
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures, Piece


@tagger("uniseg_length_v1", measures=["length"])
def count_all_segments(document: DocumentView) -> Measures:
    """Word segments of the stripped text, those of white space included."""
    return {"length": count_segments(document.text.strip())[0]}


@tagger("uniseg_length_paragraphs_v1", measures=["paragraph", "negative_paragraph"])
def count_words_of_paragraphs(document: DocumentView) -> Measures:
    """Word segments that are not white space, of each filled paragraph; and the same below zero."""
    return _with_negative(_words_of(document.filled_paragraphs))


@tagger("uniseg_length_paragraphs_with_empty_v1", measures=["paragraph", "negative_paragraph"])
def count_words_of_all_paragraphs(document: DocumentView) -> Measures:
    """As ``uniseg_length_paragraphs_v1``, with 0 for blank paragraphs."""
    return _with_negative(_words_of(document.paragraphs))


@tagger(
    "uniseg_length_paragraphs_with_doc_length_v1",
    measures=["paragraph", "negative_paragraph", "document", "negative_document"],
)
def count_words_with_sum(document: DocumentView) -> Measures:
    """As ``uniseg_length_paragraphs_v1``, and the sums."""
    spans = _words_of(document.filled_paragraphs)
    total = sum(score for _, _, score in spans)
    return {**_with_negative(spans), "document": total, "negative_document": -total}


def _words_of(paragraphs: Iterable[Piece]) -> list[SpanRow]:
    return [[start, end, count_segments(text.strip())[1]] for start, end, text in paragraphs]


def _with_negative(spans: list[SpanRow]) -> dict[str, list[SpanRow] | float]:
    if not spans:
        return {}
    return {"paragraph": spans, "negative_paragraph": [[start, end, -score] for start, end, score in spans]}
