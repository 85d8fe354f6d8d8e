"""Documents in Dolma's format: one JSON object a line, with ``id``, ``text`` and whatever else it holds.

Two readers: whole rows for the mixer, ``(id, text, source, metadata)`` for all that only looks at the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from mixle_assets.errors import InputError
from mixle_assets.formats.lines import Block, LineReader, OnMalformed
from mixle_assets.formats.rows import UNDECODABLE, MalformedRowError, decode_exactly, encode_line, encode_row
from mixle_assets.formats.scan import find_line_ends, find_repeated_keys, is_an_object_a_line
from mixle_assets.records import Counts, Document, FileStamp

__all__ = ["DocumentReader", "TextReader", "encode_line", "encode_row", "read_documents", "read_texts"]

_PASSED_OVER = object()
_decode_objects = msgspec.json.Decoder(dict[str, Any]).decode_lines
_decode_documents = msgspec.json.Decoder(Document).decode_lines
_decode_document = msgspec.json.Decoder(Document).decode


class _RowReader:
    """What both readers share: the lines, the stamp, and the policy for rows that cannot be taken."""

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

    def _decode_slowly(self, number: int, line: bytes) -> Any:
        """Decode what the fast decoder refused, or what holds a key twice."""
        if not line.strip():
            self.counts.note("blank_lines")
            return _PASSED_OVER
        try:
            row = decode_exactly(line, self.counts)
        except MalformedRowError as error:
            return self._refuse(number, str(error))
        if not isinstance(row, dict):
            return self._refuse(number, f"a document must be a JSON object, got {_kind(row)}")
        return row

    def _refuse(self, line_number: int, message: str, document_id: Any = None) -> Any:
        """Raise for a malformed row, or count it as one that came in and was dropped."""
        if not self._skip:
            raise InputError(message, path=self.path, line=line_number, document_id=document_id)
        self.counts.num_in += 1
        self.counts.drop("malformed_row")
        return _PASSED_OVER


class DocumentReader(_RowReader):
    """Whole documents of one file as ``(line_number, row)``; made by ``read_documents``."""

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return chain.from_iterable(map(self._rows_of, self._lines.blocks()))

    def _rows_of(self, block: Block) -> Iterable[tuple[int, dict[str, Any]]]:
        """Decode all lines in one call, and again by themselves those that need it."""
        first, content, codes, ends = block
        try:
            rows = _decode_objects(content) if is_an_object_a_line(codes, ends) else []
        except UNDECODABLE:
            rows = []
        if len(rows) != len(ends) + 1:
            return self._take_one_by_one(block)
        for place in find_repeated_keys(codes, ends, rows):
            rows[place] = self._decode_slowly(first + place, block.line(place))
        return zip(range(first, first + len(rows)), rows, strict=True)

    def _take_one_by_one(self, block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(block.lines(), block.first_line):
            codes, ends = find_line_ends(line)
            try:
                rows = _decode_objects(line)
            except UNDECODABLE:
                rows = []
            if len(rows) != 1 or find_repeated_keys(codes, ends, rows):
                rows = [self._decode_slowly(number, line)]
            if rows[0] is not _PASSED_OVER:
                yield number, rows[0]


class TextReader(_RowReader):
    """Documents of one file as ``(line_number, Document)``; made by ``read_texts``."""

    def __iter__(self) -> Iterator[tuple[int, Document]]:
        return chain.from_iterable(map(self._documents_of, self._lines.blocks()))

    def blocks(self) -> Iterator[tuple[Block, Iterable[tuple[int, Document]]]]:
        """Yield the same documents by blocks, each with its lines, for who looks at the bytes too."""
        for block in self._lines.blocks():
            yield block, self._documents_of(block)

    def _documents_of(self, block: Block) -> Iterable[tuple[int, Document]]:
        first, content, codes, ends = block
        try:
            documents = _decode_documents(content) if is_an_object_a_line(codes, ends) else []
        except UNDECODABLE:
            documents = []
        if len(documents) != len(ends) + 1:
            return self._take_one_by_one(block)
        return zip(range(first, first + len(documents)), documents, strict=True)

    def _take_one_by_one(self, block: Block) -> Iterator[tuple[int, Document]]:
        for number, line in enumerate(block.lines(), block.first_line):
            document: Any
            try:
                document = _decode_document(line)
            except UNDECODABLE:
                row = self._decode_slowly(number, line)
                document = row if row is _PASSED_OVER else self._document_of(number, row)
            if document is not _PASSED_OVER:
                yield number, document

    def _document_of(self, number: int, row: dict[str, Any]) -> Any:
        if "id" not in row:
            return self._refuse(number, f"a document must have the key id, got the keys {sorted(row)}")
        text = row.get("text")
        if not isinstance(text, str):
            found = _kind(text) if "text" in row else f"the keys {sorted(row)}"
            return self._refuse(number, f"a document must have a string under text, got {found}", row["id"])
        source, metadata = row.get("source"), row.get("metadata")
        return Document(
            id=row["id"],
            text=text,
            source=source if isinstance(source, str) else "",
            metadata=metadata if isinstance(metadata, dict) else {},
        )


def read_documents(
    path: str,
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
    counts: Counts | None = None,
) -> DocumentReader:
    r"""Return the documents of a file as an iterable of ``(line_number, row)``.

    A row is the whole JSON object: key order kept, integers exact to the last digit, floats by value. Of a
    key that occurs twice the last value counts. Lone surrogates become U+FFFD.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        malformed_row: ``error`` raises; ``skip`` counts a row as in and as dropped for ``malformed_row``, and
            takes the rows before a cut (noted as ``truncated_inputs``).
        counts: Where ``blank_lines``, ``lone_surrogates``, ``duplicate_keys`` and skipped rows are counted.
            Rows that are handed out are counted by the caller.

    Returns:
        An iterable, to be run through once; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: The file is missing; while iterating: it is truncated, corrupt, not UTF-8, or a line is
            not a JSON object, with file and line.
    """
    return DocumentReader(path, codec=codec, malformed_row=malformed_row, counts=counts)


def read_texts(
    path: str,
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
    counts: Counts | None = None,
) -> TextReader:
    """Return the documents of a file as an iterable of ``(line_number, Document)``, for all that reads text.

    Takes the same lines as ``read_documents`` and, beyond that, asks for ``id`` and a string under ``text``.
    A ``source`` that is no string reads as ``""``, ``metadata`` that is no object as empty. What stands under
    other keys is not looked at.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        malformed_row: As for ``read_documents``.
        counts: As for ``read_documents``; repeated keys are counted there, not here.

    Returns:
        An iterable, to be run through once; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: As for ``read_documents``, or ``id`` or ``text`` is missing.
    """
    return TextReader(path, codec=codec, malformed_row=malformed_row, counts=counts)


def _kind(value: Any) -> str:
    """Name a JSON value with its type, cut to a readable length."""
    if isinstance(value, dict):
        return f"an object with the keys {sorted(value)[:8]}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    shown = msgspec.json.encode(value).decode()
    return shown if len(shown) <= 60 else shown[:57] + "..."
