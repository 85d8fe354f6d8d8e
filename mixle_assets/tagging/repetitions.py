"""Taggers of text that repeats itself at once, by characters or by the tokens of a tokenizer.

Values are Dolma's. Finding the repetitions is done in ``repetition_kernel`` and ``token_periods``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mixle_assets.records import SpanRow
from mixle_assets.tagging.registry import FilePath, tagger
from mixle_assets.tagging.token_periods import Found, PeriodicTokens
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

    @property
    def memory_in_bytes(self) -> int:
        """What a copy keeps in a worker."""
        return self._tokens.memory_in_bytes

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return self.measure_all([document])[0]

    def measure_all(self, documents: Sequence[DocumentView]) -> list[Measures]:
        """Measure several documents."""
        pieces = [self._pieces(document) for document in documents]
        found = iter(self._tokens.find_all([text for of_document in pieces for _, text in of_document]))
        return [
            self._measures(document, [(offset, next(found)) for offset, _ in of_document])
            for document, of_document in zip(documents, pieces, strict=True)
        ]

    def _pieces(self, document: DocumentView) -> list[tuple[int, str]]:
        """Return the texts that are looked at, each with its place in the document."""
        return [(0, document.text)]

    def _measures(self, document: DocumentView, found: list[tuple[int, list[Found]]]) -> Measures:
        return _measures(
            document,
            (
                (offset + start, offset + end, copies)
                for offset, of_piece in found
                for start, end, copies in of_piece
            ),
        )


@tagger("tokenizer_repetitions_v1", measures=MEASURES)
class TokenRepetitions(_TokenRepetitions):
    """Sequences of tokens with a period of up to 13 and three copies or more, multiples of a period too."""


@tagger("paragraph_tokenizer_repetitions_v1", measures=MEASURES)
class TokenRepetitionsInParagraphs(_TokenRepetitions):
    """As ``tokenizer_repetitions_v1``, within each paragraph, before which a space is put."""

    def _pieces(self, document: DocumentView) -> list[tuple[int, str]]:
        return [(offset, f" {text}") for offset, _, text in document.paragraphs]

    def _measures(self, document: DocumentView, found: list[tuple[int, list[Found]]]) -> Measures:
        return _measures(
            document,
            (
                (max(offset + start - 1, offset), offset + end - 1, copies)
                for offset, of_paragraph in found
                for start, end, copies in of_paragraph
            ),
        )


@tagger("tokenizer_repetitions_v2r2", measures=MEASURES)
class OuterTokenRepetitions(_TokenRepetitions):
    """As ``tokenizer_repetitions_v1`` without those inside another; nothing where nothing is found."""

    def _pieces(self, document: DocumentView) -> list[tuple[int, str]]:
        text = document.text
        return [(offset, text[offset : offset + BLOCK]) for offset in range(0, len(text), BLOCK)]

    def _measures(self, document: DocumentView, found: list[tuple[int, list[Found]]]) -> Measures:
        spans = [
            (offset + start, offset + end, copies)
            for offset, of_piece in found
            for start, end, copies in of_piece
        ]
        return _measures(document, _outer(spans)) if spans else {}


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
