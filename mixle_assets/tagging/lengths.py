"""Taggers that count: characters, bytes, documents, words by several definitions.

Lengths of text are code points unless a name says otherwise.
"""

from __future__ import annotations

from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures


@tagger("char_length_v1", measures=["length"])
def count_characters(document: DocumentView) -> Measures:
    """Length of the text."""
    return {"length": len(document.text)}


@tagger("char_length_strip_ws_v1", measures=["length_no_ws"])
def count_stripped_characters(document: DocumentView) -> Measures:
    """Length of the text without white space at its two ends; that inside counts."""
    return {"length_no_ws": len(document.text.strip())}


@tagger("char_length_with_paragraphs_v1", measures=["paragraph", "document"])
def count_characters_of_paragraphs(document: DocumentView) -> Measures:
    """Length of each filled paragraph with its line feed, and of the text."""
    spans = [[start, end, end - start] for start, end, _ in document.filled_paragraphs]
    return {**({"paragraph": spans} if spans else {}), "document": len(document.text)}


@tagger("bytes_length_v1", measures=["bytes"])
def count_bytes(document: DocumentView) -> Measures:
    """Length of the text in UTF-8 bytes."""
    return {"bytes": len(document.text.encode())}


@tagger("doc_count_v1", measures=["docs"])
def count_documents(document: DocumentView) -> Measures:
    """One for every document, so that a sum counts them."""
    return {"docs": 1}
