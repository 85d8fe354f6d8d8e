"""Documents from web archives: WET files hold text, WARC files the pages as they were fetched.

Reads the record format of ISO 28500 (WARC 1.0 and 1.1), plain, gzip or zstd. Turning markup into text is
done elsewhere; so is every judgement about the page.

``warcio`` would be as fast, but ends a cut archive, and the page that was cut, without an error, and refuses
an archive that is one gzip member. The tests read and write with it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import read_chunks
from mixle_assets.recipe import Source
from mixle_assets.sourcing.charsets import decode_page
from mixle_assets.sourcing.extractors import Extractor, load_extractor, versions_of
from mixle_assets.sourcing.inputs import SourceFile, digest_of_files, find_source_files
from mixle_assets.sourcing.sources import Left

SOURCE = "warc"

_MARKUP_TYPES = ("text/html", "application/xhtml+xml")
_TYPES_WITHOUT_PAGES = ("warcinfo", "request", "metadata", "revisit", "continuation")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]+)[^\r\n]*\r\n")
_LARGEST_HEADER_IN_BYTES = 1 << 20


class Record(NamedTuple):
    """One record of an archive.

    Attributes:
        headers: Lower-case name to value.
        content: The block, as stored.
        number: Position in the file, from 0.
    """

    headers: dict[str, str]
    content: bytes
    number: int


def find_documents(source: Source) -> Iterator[dict[str, Any] | Left]:
    """Yield one document a page, in the order of the files and of the records in them.

    The id is the record's own (``WARC-Record-ID`` without ``<urn:uuid:>``). Records that are no pages, and
    pages that are no text, are left with their reason.

    Raises:
        InputError: A pattern matches nothing, or a file is no archive, broken or cut short.
        RecipeError: The extractor is not installed.
    """
    extract = load_extractor(source.extractor)
    for file in find_source_files(source.warc):
        for record in read_records(file):
            yield _document(record, file, extract)


def digest_of(source: Source) -> str:
    """Return a digest of the files' names, sizes and modification times, and the extractor's version."""
    return digest_of_files(find_source_files(source.warc), SOURCE, *versions_of(source.extractor))


def read_records(file: SourceFile) -> Iterator[Record]:
    """Yield the records of one archive, one at a time in memory."""
    stored = _Buffer(iter(read_chunks(file.path)))
    number = 0
    while True:
        version = stored.line()
        while version in (b"\r\n", b"\n"):  # two line ends close a record; writers disagree on how many
            version = stored.line()
        if not version:
            return
        if not version.startswith(b"WARC/"):
            raise InputError(f"record {number} starts with {version[:40]!r}, not with WARC/", path=file.path)
        headers = _headers(stored, file, number)
        try:
            size_in_bytes = int(headers["content-length"])
        except (KeyError, ValueError):
            found = headers.get("content-length")
            raise InputError(f"record {number} has the Content-Length {found!r}", path=file.path) from None
        content = stored.take(size_in_bytes)
        if len(content) < size_in_bytes:
            message = f"record {number} is cut short: {len(content)} of {size_in_bytes} bytes"
            raise InputError(message, path=file.path)
        yield Record(headers, content, number)
        number += 1


class _Buffer:
    """Lines and runs of bytes out of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.held = bytearray()

    def line(self) -> bytes:
        """Return the next line with its end; empty at the end of the file."""
        start = 0
        while (end := self.held.find(b"\n", start)) < 0 and len(self.held) < _LARGEST_HEADER_IN_BYTES:
            start = len(self.held)
            if not self.more():
                break
        return self.take_held(end + 1 if end >= 0 else len(self.held))

    def take(self, size_in_bytes: int) -> bytes:
        while len(self.held) < size_in_bytes and self.more():
            pass
        return self.take_held(min(size_in_bytes, len(self.held)))

    def take_held(self, size_in_bytes: int) -> bytes:
        taken = bytes(memoryview(self.held)[:size_in_bytes])
        del self.held[:size_in_bytes]
        return taken

    def more(self) -> bool:
        piece = next(self.pieces, None)
        if piece is None:
            return False
        self.held += piece
        return True


def _headers(stored: _Buffer, file: SourceFile, number: int) -> dict[str, str]:
    headers: dict[str, str] = {}
    last = ""
    while True:
        line = stored.line()
        if line in (b"\r\n", b"\n"):
            return headers
        if not line.endswith(b"\n"):
            raise InputError(f"record {number} is cut short in its headers", path=file.path)
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text[:1] in (" ", "\t") and last:
            headers[last] += " " + text.strip()
            continue
        name, colon, value = text.partition(":")
        if not colon:
            raise InputError(f"record {number} has the header {text[:80]!r}", path=file.path)
        last = name.strip().lower()
        headers[last] = value.strip()


def _document(record: Record, file: SourceFile, extract: Extractor) -> dict[str, Any] | Left:
    kind = record.headers.get("warc-type", "").lower()
    if kind in _TYPES_WITHOUT_PAGES:
        return Left(f"{kind} record")
    content_type = record.headers.get("content-type", "")
    content = record.content
    if kind == "response":
        page = _page(content)
        if isinstance(page, Left):
            return page
        content_type, content = page
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in ("text/plain", *_MARKUP_TYPES):
        return Left("neither text nor HTML")
    text = decode_page(content, content_type, is_markup=media_type in _MARKUP_TYPES)
    text = extract(text) if media_type in _MARKUP_TYPES else text.replace("\r\n", "\n")
    if not text.strip():
        return Left("empty")
    identifier = record.headers.get("warc-record-id", "").strip("<>").removeprefix("urn:uuid:")
    metadata = {
        "path": file.name,
        "record": record.number,
        "url": record.headers.get("warc-target-uri", "").strip("<>"),
        "date": record.headers.get("warc-date", ""),
        "content_type": media_type,
    }
    document_id = identifier or f"{file.name}:{record.number}"
    return {"id": document_id, "text": text, "source": SOURCE, "metadata": metadata}


def _page(content: bytes) -> tuple[str, bytes] | Left:
    """Return content type and body of a fetched page, decoded from what HTTP wrapped around it."""
    head, _, body = content.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    status = status_line.split(" ")[1:2]
    if not status_line.startswith("HTTP/") or not status:
        return Left("no HTTP response")
    if status != ["200"]:
        return Left("status is not 200")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding in ("gzip", "x-gzip", "deflate"):
        unpacked = _unpacked(body)
        if unpacked is None:
            return Left("broken compression")
        body = unpacked
    elif encoding not in ("", "identity"):
        return Left("other compression")
    return headers.get("content-type", ""), body


def _unchunked(body: bytes) -> bytes:
    """Return a body without its chunk sizes; archives often keep the header and store the body unwrapped."""
    parts: list[bytes] = []
    position = 0
    while match := _CHUNK_SIZE.match(body, position):
        size_in_bytes = int(match[1], 16)
        if size_in_bytes == 0:
            return b"".join(parts)
        parts.append(body[match.end() : match.end() + size_in_bytes])
        position = match.end() + size_in_bytes + 2
    return body


def _unpacked(body: bytes) -> bytes | None:
    """Return an unpacked body, the body itself if it is not packed after all, or None if it is broken."""
    is_packed = body[:2] == b"\x1f\x8b" or body[:1] == b"\x78"
    if not is_packed:
        return body
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body)
    except zlib.error:
        return None
