"""Documents in Dolma's format: one JSON object a line, with ``id``, ``text`` and whatever else it holds.

Two readers: whole rows for the mixer, ``(id, text, source, metadata)`` for all that only looks at the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from mixle_assets.errors import InputError
from mixle_assets.formats.lines import LineReader, OnMalformed
from mixle_assets.formats.rows import MalformedRowError, decode_exactly, encode_row
from mixle_assets.formats.scan import find_suspicious_lines
from mixle_assets.records import Counts, Document, FileStamp

__all__ = ["DocumentReader", "TextReader", "encode_row", "read_documents", "read_texts"]


_PASSED_OVER = object()


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

    def _refuse(self, line_number: int, message: str, document_id: Any = None) -> None:
        """Raise for a malformed row, or count it as one that came in and was dropped."""
        if not self._skip:
            raise InputError(message, path=self.path, line=line_number, document_id=document_id)
        self.counts.num_in += 1
        self.counts.drop("malformed_row")


class DocumentReader(_RowReader):
    """Whole documents of one file as ``(line_number, row)``; made by ``read_documents``."""

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        loads = orjson.loads
        for first, lines, content in self._lines.blocks():
            decoded_slowly: set[int] = set()
            try:
                rows = [loads(line) for line in lines]
            except ValueError:
                rows = []
                for place, line in enumerate(lines):
                    try:
                        rows.append(loads(line))
                    except ValueError:
                        rows.append(self._decode_slowly(first + place, line))
                        decoded_slowly.add(place)
            for place in find_suspicious_lines(content, rows):
                if place not in decoded_slowly:
                    rows[place] = self._decode_slowly(first + place, lines[place])
            for number, row in enumerate(rows, first):
                if type(row) is dict:
                    yield number, row
                elif row is not _PASSED_OVER:
                    self._refuse(number, f"a document must be a JSON object, got {_kind(row)}")

    def _decode_slowly(self, number: int, line: bytes) -> Any:
        """Decode what the fast decoder refused or might round."""
        if not line.strip():
            self.counts.note("blank_lines")
            return _PASSED_OVER
        try:
            return decode_exactly(line, self.counts)
        except MalformedRowError as error:
            self._refuse(number, str(error))
            return _PASSED_OVER


class TextReader(_RowReader):
    """Documents of one file as ``(line_number, Document)``; made by ``read_texts``."""

    def __iter__(self) -> Iterator[tuple[int, Document]]:
        decode = msgspec.json.Decoder(Document).decode
        for first, lines, _ in self._lines.blocks():
            number = first - 1
            for line in lines:
                number += 1
                try:
                    document = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    loose = self._decode_slowly(number, line)
                    if loose is None:
                        continue
                    document = loose
                yield number, document

    def _decode_slowly(self, number: int, line: bytes) -> Document | None:
        if not line.strip():
            self.counts.note("blank_lines")
            return None
        try:
            row = decode_exactly(line, self.counts)
        except MalformedRowError as error:
            self._refuse(number, str(error))
            return None
        if not isinstance(row, dict):
            self._refuse(number, f"a document must be a JSON object, got {_kind(row)}")
            return None
        if "id" not in row:
            self._refuse(number, f"a document must have the key id, got the keys {sorted(row)}")
            return None
        text = row.get("text")
        if not isinstance(text, str):
            found = _kind(text) if "text" in row else f"the keys {sorted(row)}"
            self._refuse(number, f"a document must have a string under text, got {found}", row["id"])
            return None
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
    A ``source`` that is no string reads as ``""``, ``metadata`` that is no object as empty.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        malformed_row: As for ``read_documents``.
        counts: As for ``read_documents``.

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
