"""Taggers of text that repeats itself at once, by characters or by the tokens of a tokenizer.

Values are Dolma's. Finding the repetitions is done in ``repetition_kernel`` and ``token_periods``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import FilePath, tagger
from mixle_assets.tagging.token_periods import PeriodicTokens
from mixle_assets.tagging.views import DocumentView, Measures

MEASURES = (
    "repetition",
    "doc_max_score_repetition",
    "doc_max_length_repetition",
    "doc_frac_repetition",
)
BLOCK = 100_000
"""Characters that ``tokenizer_repetitions_v2r2`` looks at as one text."""


@tagger("repetitions_v1", measures=MEASURES)
def find_repetitions(document: DocumentView) -> Measures:
    """Units of characters that stand four times or more in a row, white space between them allowed."""
    return _measures(document, _find_units(document.text))


@tagger("paragraph_repetitions_v1", measures=MEASURES)
def find_repetitions_in_paragraphs(document: DocumentView) -> Measures:
    """As ``repetitions_v1``, within each paragraph."""
    return _measures(
        document,
        (
            (offset + start, offset + end, copies)
            for offset, _, text in document.paragraphs
            for start, end, copies in _find_units(text)
        ),
    )


def _find_units(text: str) -> list[tuple[int, int, int]]:
    # Only here, since it loads numba: half a second that other taggers need not wait for.
    from mixle_assets.tagging.repetition_kernel import find_repeated_units

    return find_repeated_units(text)


class _TokenRepetitions:
    def __init__(self, *, tokenizer: FilePath) -> None:
        self._tokens = PeriodicTokens(tokenizer)


@tagger("tokenizer_repetitions_v1", measures=MEASURES)
class TokenRepetitions(_TokenRepetitions):
    """Sequences of tokens with a period of up to 13 and three copies or more, multiples of a period too."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return _measures(document, self._tokens.find(document.text))


@tagger("paragraph_tokenizer_repetitions_v1", measures=MEASURES)
class TokenRepetitionsInParagraphs(_TokenRepetitions):
    """As ``tokenizer_repetitions_v1``, within each paragraph, before which a space is put."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return _measures(
            document,
            (
                (max(offset + start - 1, offset), offset + end - 1, copies)
                for offset, _, text in document.paragraphs
                for start, end, copies in self._tokens.find(f" {text}")
            ),
        )


@tagger("tokenizer_repetitions_v2r2", measures=MEASURES)
class OuterTokenRepetitions(_TokenRepetitions):
    """As ``tokenizer_repetitions_v1`` without those inside another; nothing where nothing is found."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        text = document.text
        found = [
            (offset + start, offset + end, copies)
            for offset in range(0, len(text), BLOCK)
            for start, end, copies in self._tokens.find(text[offset : offset + BLOCK])
        ]
        return _measures(document, _outer(found)) if found else {}


def _outer(found: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield what does not lie inside the one yielded before, by start, longest first."""
    last_end = -1
    for start, end, copies in sorted(found, key=lambda span: (span[0], -span[1], -span[2])):
        if end > last_end:
            yield start, end, copies
            last_end = end


def _measures(document: DocumentView, found: Iterable[tuple[int, int, int]]) -> Measures:
    spans: list[SpanRow] = [list(span) for span in found]
    lengths = [end - start for start, end, _ in spans]
    return {
        **({"repetition": spans} if spans else {}),
        "doc_max_score_repetition": max((copies for _, _, copies in spans), default=0),
        "doc_max_length_repetition": max(lengths, default=0),
        "doc_frac_repetition": sum(lengths) / max(len(document.text), 1),
    }
