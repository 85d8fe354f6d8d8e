"""Attribute rows in Dolma's format, a line each: ``{"id": ..., "attributes": {key: [[0, 5, 0.5], ...]}}``.

Row *n* belongs to document *n* of the file with the same name; ``mixing.alignment`` checks that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, TypedDict

import msgspec

from mixle_assets.errors import InputError
from mixle_assets.formats.lines import Block, LineReader, OnMalformed
from mixle_assets.formats.rows import UNDECODABLE, MalformedRowError, decode_exactly, encode_row
from mixle_assets.formats.scan import is_an_object_a_line
from mixle_assets.records import Attributes, Counts, DocumentId, FileStamp

__all__ = [
    "MISSING_ID",
    "UNREADABLE_ID",
    "AttributeReader",
    "AttributeRow",
    "encode_attribute_row",
    "read_attribute_rows",
]

MISSING_ID = msgspec.UNSET
"""The id of a row that has none; Dolma takes it as equal to a document's that has none either."""
UNREADABLE_ID = msgspec.NODEFAULT
"""The id of a row that could not be read and was tolerated."""


class AttributeRow(msgspec.Struct):
    """One row as it is decoded: what the document's id is, and its attributes."""

    attributes: dict[str, Any]
    id: Any = MISSING_ID


class AttributeReader:
    """The rows of one file as ``(line_number, id, attributes)``; made by ``read_attribute_rows``."""

    def __init__(
        self,
        path: str,
        *,
        codec: str | None,
        malformed_row: OnMalformed,
        counts: Counts | None,
        keys: Collection[str] | None,
        span_keys: Collection[str],
    ) -> None:
        if malformed_row not in ("error", "skip"):
            raise ValueError(f"malformed_row must be error or skip, got {malformed_row!r}")
        self.path = path
        self.counts = Counts() if counts is None else counts
        self._skip = malformed_row == "skip"
        self._lines = LineReader(path, codec=codec, counts=self.counts, malformed_row=malformed_row)
        self._codec = codec
        self._keys = keys
        # msgspec 0.23 may hand out the value of an empty key under another name, where types name it.
        if keys is not None and "" in keys:
            keys = None
        self._decoder = msgspec.json.Decoder(AttributeRow if keys is None else _row_type(tuple(sorted(keys))))
        self._span_decoder = (
            msgspec.json.Decoder(_row_type(tuple(sorted(keys)), tuple(sorted(span_keys))))
            if keys is not None and span_keys
            else None
        )

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time; known once exhausted."""
        return self._lines.stamp

    def __iter__(self) -> Iterator[tuple[int, DocumentId, Attributes]]:
        for block in self._lines.blocks():
            for number, row in self._numbered(block):
                yield number, row.id, row.attributes

    def rows(self) -> Iterator[AttributeRow]:
        """Return the rows without their lines, for a reader that has no time: same rows, same errors."""
        return chain.from_iterable(map(self._rows_of, self._lines.blocks()))

    def line_of(self, row: int) -> int:
        """Return the physical line of a row, counted from 0; reads the file again, for messages only."""
        again = AttributeReader(
            self.path,
            codec=self._codec,
            malformed_row="skip" if self._skip else "error",
            counts=None,
            keys=self._keys,
            span_keys=(),
        )
        return next(line for place, (line, _, _) in enumerate(again) if place == row)

    def _numbered(self, block: Block) -> Iterable[tuple[int, AttributeRow]]:
        rows = self._decode(block)
        return self._take_one_by_one(block) if rows is None else enumerate(rows, block.first_line)

    def _rows_of(self, block: Block) -> Iterable[AttributeRow]:
        rows = self._decode(block)
        return (row for _, row in self._take_one_by_one(block)) if rows is None else rows

    def _decode(self, block: Block) -> list[AttributeRow] | None:
        """Decode all lines in one call; None if a line must be looked at by itself."""
        if not is_an_object_a_line(block.codes, block.ends):
            return None
        rows: list[AttributeRow]
        try:
            if self._span_decoder is not None:
                rows = self._span_decoder.decode_lines(block.content)
                return rows if len(rows) == len(block.ends) + 1 else None
        except UNDECODABLE:
            self._span_decoder = None  # not all are spans; whoever reads them says what they are
        try:
            rows = self._decoder.decode_lines(block.content)
        except UNDECODABLE:
            return None
        return rows if len(rows) == len(block.ends) + 1 else None

    def _take_one_by_one(self, block: Block) -> Iterator[tuple[int, AttributeRow]]:
        for number, line in enumerate(block.lines(), block.first_line):
            try:
                row = self._decoder.decode(line)
            except UNDECODABLE:
                if not line.strip():
                    self.counts.note("blank_lines")
                    continue
                document_id, attributes = self._decode_slowly(number, line)
                row = AttributeRow(attributes, document_id)
            yield number, row

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
        if self._keys is not None:
            attributes = {key: value for key, value in attributes.items() if key in self._keys}
        return row.get("id", MISSING_ID), attributes


def read_attribute_rows(
    path: str,
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
    counts: Counts | None = None,
    keys: Collection[str] | None = None,
    span_keys: Collection[str] = (),
) -> AttributeReader:
    """Return the attribute rows of a file as an iterable of ``(line_number, id, attributes)``.

    Values are any JSON; integers are exact, NaN and infinities refused. The id is ``MISSING_ID`` where a row
    has none.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        malformed_row: ``error`` raises; ``skip`` hands out ``(line_number, UNREADABLE_ID, {})`` in place of a
            row that cannot be read, so that later rows keep their position, and notes
            ``malformed_attribute_rows``.
        counts: Where ``blank_lines`` and tolerated faults are noted.
        keys: The attribute keys to read, the others are passed over, unless the empty key is among them;
            None reads all.
        span_keys: Those of ``keys`` whose spans may come as tuples ``(int, int, int | float)``, checked while
            they are decoded: a value comes as a list of such tuples, or as any JSON if it is something else.

    Returns:
        An iterable, to be run through once; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: The file is missing; while iterating: it is truncated, corrupt, or a row has no object
            under ``attributes``, with file and line.
    """
    return AttributeReader(
        path, codec=codec, malformed_row=malformed_row, counts=counts, keys=keys, span_keys=span_keys
    )


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


@lru_cache(maxsize=64)
def _row_type(keys: tuple[str, ...], span_keys: tuple[str, ...] = ()) -> Any:
    """Return ``AttributeRow`` with only these keys: what is not named is skipped unbuilt."""
    spans = list[tuple[int, int, int | float]] | None
    types = {key: spans if key in span_keys else Any for key in keys}
    named = TypedDict("named", types, total=False)  # type: ignore[misc]
    return msgspec.defstruct("NamedAttributeRow", [("attributes", named), ("id", Any, MISSING_ID)])


def _refuse_non_finite(value: Any, document_id: DocumentId) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"document {document_id!r}: an attribute must be finite, got {value}")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_non_finite(item, document_id)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_non_finite(item, document_id)
