"""Word segments by Unicode's default rules (UAX 29), and the taggers that count them.

The rules run as one regular expression over the text's classes, a letter for each character; the classes are
fixed at Unicode 16.0, so that counts do not depend on the Python that runs.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures, Piece
from mixle_assets.tagging.word_break_table import CHANGES

# Classes: A letter, B letter that is a pictograph, H Hebrew letter, n digit, K Katakana, x connector (_),
# q apostrophe, D quotation mark, m l u marks inside words, inside letters, inside numbers; w space, C L N
# line ends, R regional indicator, P pictograph, E F Z what attaches (Z the joiner), s other white space,
# o the rest.
_ATTACHED = "[EFZ]*+"
_LETTER = "[ABH]"


@functools.cache
def _segments() -> re.Pattern[str]:
    x = _ATTACHED
    # A mark inside a word belongs to it only between two letters, or two digits. A Hebrew letter takes an
    # apostrophe in any case, but then the word ends, unless a letter follows: ``ended``.
    letter = f"[AB]{x}(?:[lmq]{x}(?={_LETTER}))?+"
    hebrew = f"H(?!{x}q{x}(?!{_LETTER})){x}(?:D{x}(?=H)|[lmq]{x}(?={_LETTER}))?+"
    number = f"n{x}(?:[umq]{x}(?=n))?+"
    alphanumerics = f"(?:{letter}|{hebrew}|{number})++"
    ended = f"H{x}q{x}"
    katakana = f"(?:K{x})++"
    connectors = f"(?:x{x})++"
    word = (
        f"(?=[ABHnKx])(?:{connectors})?+(?:(?:{alphanumerics}|{katakana}){connectors})*+"
        f"(?:{alphanumerics}(?:{ended})?|{ended}|{katakana})?+"
    )
    joined = f"(?:(?<=Z)(?:P{x}|(?=B){word}))*+"
    return re.compile(f"CL|[CLN]|(?:{word}|w++{x}|R{x}(?:R{x})?+|[PosqDmluEFZ]{x}){joined}")


class _Classes(dict[int, str]):
    """Code point to class, looked up once for each character that occurs."""

    def __missing__(self, point: int) -> str:
        starts, classes = _table()
        kind = classes[bisect_right(starts, point) - 1]
        if kind == "o" and chr(point).isspace():
            kind = "s"
        self[point] = kind
        return kind


_CLASSES = _Classes()


@functools.cache
def _table() -> tuple[list[int], list[str]]:
    starts, classes = [], []
    point = 0
    for distance, kind in re.findall("([0-9a-f]+)([A-Zg-z])", CHANGES):
        point += int(distance, 16)
        starts.append(point)
        classes.append(kind)
    return starts, classes


def count_segments(text: str) -> tuple[int, int]:
    """Return the number of word segments, and of those that hold more than white space.

    ``"can't stop"`` has three, ``can't``, the space and ``stop``; two of them are more than white space.
    """
    found = _segments().findall(text.translate(_CLASSES))
    blank = sum(1 for segment in found if segment[0] in "wsCLN" and not segment.strip("wsCLN"))
    return len(found), len(found) - blank


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
