"""Attribute rows in Dolma's format, a line each: ``{"id": ..., "attributes": {key: [[0, 5, 0.5], ...]}}``.

Row *n* belongs to document *n* of the file with the same name; ``mixing.alignment`` checks that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from mixle_assets.errors import InputError
from mixle_assets.formats.lines import LineReader, OnMalformed
from mixle_assets.formats.rows import MalformedRowError, decode_exactly, encode_row
from mixle_assets.records import Attributes, Counts, DocumentId, FileStamp

__all__ = ["MISSING_ID", "UNREADABLE_ID", "AttributeReader", "encode_attribute_row", "read_attribute_rows"]

MISSING_ID = msgspec.UNSET
"""The id of a row that has none; Dolma takes it as equal to a document's that has none either."""
UNREADABLE_ID = msgspec.NODEFAULT
"""The id of a row that could not be read and was tolerated."""


class _AttributeRow(msgspec.Struct):
    attributes: dict[str, Any]
    id: Any = MISSING_ID


class AttributeReader:
    """The rows of one file as ``(line_number, id, attributes)``; made by ``read_attribute_rows``."""

    def __init__(
        self, path: str, *, codec: str | None, malformed_row: OnMalformed, counts: Counts | None
    ) -> None:
        if malformed_row not in ("error", "skip"):
            raise ValueError(f"malformed_row must be error or skip, got {malformed_row!r}")
        self.path = path
        self.counts = Counts() if counts is None else counts
        self._skip = malformed_row == "skip"
        self._lines = LineReader(path, codec=codec, counts=self.counts, malformed_row=malformed_row)

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time; known once exhausted."""
        return self._lines.stamp

    def __iter__(self) -> Iterator[tuple[int, DocumentId, Attributes]]:
        decode = msgspec.json.Decoder(_AttributeRow).decode
        for first, lines, _ in self._lines.blocks():
            number = first - 1
            for line in lines:
                number += 1
                try:
                    row = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    if not line.strip():
                        self.counts.note("blank_lines")
                        continue
                    yield number, *self._decode_slowly(number, line)
                else:
                    yield number, row.id, row.attributes

    def _decode_slowly(self, number: int, line: bytes) -> tuple[DocumentId, Attributes]:
        """Decode what the fast decoder refused; a row that is passed over keeps its place, but is empty."""
        try:
            row = decode_exactly(line, self.counts)
            if not isinstance(row, dict):
                raise MalformedRowError("an attribute row must be a JSON object")
            attributes = row.get("attributes")
            if not isinstance(attributes, dict):
                found = type(attributes).__name__ if "attributes" in row else f"the keys {sorted(row)}"
                raise MalformedRowError(f"an attribute row must have an object under attributes, got {found}")
        except MalformedRowError as error:
            if not self._skip:
                raise InputError(str(error), path=self.path, line=number) from error
            self.counts.note("malformed_attribute_rows")
            return UNREADABLE_ID, {}
        return row.get("id", MISSING_ID), attributes


def read_attribute_rows(
    path: str,
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
    counts: Counts | None = None,
) -> AttributeReader:
    """Return the attribute rows of a file as an iterable of ``(line_number, id, attributes)``.

    Values are any JSON; integers are exact, NaN and infinities refused. The id is ``MISSING_ID`` where a row
    has none.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        malformed_row: ``error`` raises; ``skip`` hands out ``(line_number, UNREADABLE_ID, {})`` in place of a row that
            cannot be read, so that later rows keep their position, and notes ``malformed_attribute_rows``.
        counts: Where ``blank_lines`` and tolerated faults are noted.

    Returns:
        An iterable, to be run through once; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: The file is missing; while iterating: it is truncated, corrupt, or a row has no object
            under ``attributes``, with file and line.
    """
    return AttributeReader(path, codec=codec, malformed_row=malformed_row, counts=counts)


def encode_attribute_row(document_id: DocumentId, attributes: Attributes, source: str | None = None) -> bytes:
    """Return one attribute row as Dolma writes it, compact and without newline: id, attributes, source.

    Args:
        document_id: The document's id, type kept.
        attributes: Key to spans.
        source: The document's source; None leaves the key out.

    Raises:
        ValueError: A value is NaN or infinite: no comparison with it would mean anything.
    """
    row: dict[str, Any] = {"id": document_id, "attributes": attributes}
    if source is not None:
        row["source"] = source
    encoded = encode_row(row)
    # The encoder writes NaN and infinities as null; a null that was meant is rare enough to look twice.
    if b"null" in encoded:
        _refuse_non_finite(attributes, document_id)
    return encoded


def _refuse_non_finite(value: Any, document_id: DocumentId) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"document {document_id!r}: an attribute must be finite, got {value}")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_non_finite(item, document_id)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_non_finite(item, document_id)
