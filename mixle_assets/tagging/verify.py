"""The guarantees of attribute files, each a search for what breaks it.

Every function reads a document file and attribute files of it, ours or another tool's, in one pass and in
constant memory. They catch nothing: a file that cannot be read is an error, not a violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from mixle_assets.formats.attributes import read_attribute_rows
from mixle_assets.formats.documents import read_texts
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.records import Counts, Document, Violation

_END: Any = object()


def find_misaligned_ids(
    documents: str,
    attributes: Iterable[str],
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
) -> Iterator[Violation]:
    """Yield every row whose id is not its document's, type included: ``7`` is not ``"7"``.

    Args:
        documents: Location of the document file.
        attributes: Locations of its attribute files.
        codec: Codec of the document file; None takes it from the extension.
        malformed_row: What the attributes were written under.
    """
    for path in attributes:
        for line, document, number, row_id, _ in _pairs(documents, path, codec, malformed_row):
            if document is _END or row_id is _END:
                break
            if type(row_id) is not type(document.id) or row_id != document.id:
                yield Violation(
                    f"{path}:{number}", f"id {document.id!r} as in {documents}:{line}", f"id {row_id!r}"
                )


def find_missing_rows(
    documents: str,
    attributes: Iterable[str],
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
) -> Iterator[Violation]:
    """Yield every attribute file that has not exactly one row for every document. Arguments as above."""
    for path in attributes:
        num_documents = num_rows = 0
        for _, document, _, row_id, _ in _pairs(documents, path, codec, malformed_row):
            num_documents += document is not _END
            num_rows += row_id is not _END
        if num_rows != num_documents:
            yield Violation(
                path, f"{num_documents} rows, one for each document of {documents}", f"{num_rows} rows"
            )


def find_spans_outside_text(
    documents: str,
    attributes: Iterable[str],
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
) -> Iterator[Violation]:
    """Yield every span that does not lie inside its text, or is reversed. Arguments as above.

    Values of a foreign set that are no lists of spans are passed over.
    """
    for path in attributes:
        for _, document, number, row_id, values in _pairs(documents, path, codec, malformed_row):
            if document is _END or row_id is _END:
                break
            length = len(document.text)
            for key, spans in values.items():
                for span in spans if isinstance(spans, list) else ():
                    if _is_span(span) and not 0 <= span[0] <= span[1] <= length:
                        yield Violation(
                            f"{path}:{number}",
                            f"{key} of document {document.id!r} inside its {length} characters",
                            f"{span}",
                        )


def _is_span(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= 2
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value[:2])
    )


def _pairs(
    documents: str, path: str, codec: str | None, malformed_row: OnMalformed
) -> Iterator[tuple[int, Document, int, Any, dict[str, Any]]]:
    """Yield line and document beside line, id and values of the row at its position; ``_END`` past an end."""
    texts = read_texts(documents, codec=codec, malformed_row=malformed_row, counts=Counts())
    rows = read_attribute_rows(path)
    for document, row in zip_longest(texts, rows):
        yield *(document or (0, _END)), *(row or (0, _END, {}))
