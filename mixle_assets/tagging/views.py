"""A document with its words, lines and paragraphs, each split once however many taggers ask.

Only ways to cut a text live here; measuring is the taggers' work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from mixle_assets.records import Document, SpanRow
from mixle_assets.tagging.counted import TextCounts
from mixle_assets.tagging.text_counts import count_text

Measures: TypeAlias = Mapping[str, Sequence[SpanRow] | float]
"""What a tagger returns: measure to ``[[start, end, score], ...]``; offsets in code points, half-open.

A number alone is short for one span over the whole text.
"""


class Piece(NamedTuple):
    """A stretch of the text: ``text[start:end] == piece.text``."""

    start: int
    end: int
    text: str


class DocumentView(Document, frozen=True, dict=True):
    r"""One document as every tagger of a pass sees it: a ``Document`` that remembers how it was cut.

    The text ``"one two\n\nthree"`` has::

        words       one, two, three
        lines       "one two", "", "three"
        paragraphs  "one two\n" [0, 8)   "\n" [8, 9)   "three" [9, 14)
    """

    @cached_property
    def words(self) -> list[str]:
        """The runs between Unicode white space, by the rules of ``str.split``."""
        return self.text.split()

    @cached_property
    def lines(self) -> list[str]:
        """The text cut at every line feed, which is left out; a last line feed leaves an empty last line."""
        return self.text.split("\n")

    @cached_property
    def paragraphs(self) -> list[Piece]:
        """The lines with their line feeds; none after a last one. Carriage return and U+2028 do not cut."""
        return list(_cut_paragraphs(self.text))

    @cached_property
    def filled_paragraphs(self) -> list[Piece]:
        """The paragraphs that hold more than white space."""
        return [piece for piece in self.paragraphs if not piece.text.isspace()]

    @cached_property
    def counts(self) -> TextCounts:
        """Words, lines and n-grams, counted."""
        return count_text(self.text)


def view_of(document: Document) -> DocumentView:
    """Return a view of a document; the text is not copied."""
    return DocumentView(document.id, document.text, document.source, document.metadata)


def view_of_text(text: str, metadata: Mapping[str, Any] | None = None) -> DocumentView:
    """Return a view of a text alone, for trying a tagger out."""
    return DocumentView("", text, "", metadata or {})


def _cut_paragraphs(text: str) -> Iterator[Piece]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield Piece(start, end, text[start:end])
        start = end
