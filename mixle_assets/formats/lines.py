"""Lines of a file: split at LF only, numbered from 1, blank ones counted.

What a line means is not known here; documents and attributes are read on top of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import ChunkReader
from mixle_assets.formats.scan import Codes, Positions, find_line_ends
from mixle_assets.records import Counts, FileStamp

OnMalformed = Literal["error", "skip"]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Consecutive lines, blank ones included.

    Attributes:
        first_line: Number of the first.
        content: All of them joined by LF, without the last one's end.
        codes: The content as an array of bytes.
        ends: Where its LFs are: one fewer than there are lines.
    """

    first_line: int
    content: bytes
    codes: Codes
    ends: Positions

    def lines(self) -> list[bytes]:
        """Return the lines without their ends."""
        return self.content.split(b"\n")

    def line(self, place: int) -> bytes:
        """Return one line, its place counted from 0."""
        start = self.ends[place - 1] + 1 if place else 0
        return self.content[start : self.ends[place] if place < len(self.ends) else None]


class LineReader:
    """The lines of one file; ``stamp`` is there once it is exhausted. Made by ``read_lines``."""

    def __init__(
        self, path: str, *, codec: str | None, counts: Counts | None, malformed_row: OnMalformed
    ) -> None:
        self.path = path
        self.counts = Counts() if counts is None else counts
        self.malformed_row = malformed_row
        self._chunks = ChunkReader(path, codec)

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time."""
        return self._chunks.stamp

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for block in self.blocks():
            for number, line in enumerate(block.lines(), block.first_line):
                if line and (line[0] > 32 or line.strip(b" \t\r")):
                    yield number, line
                else:
                    self.counts.note("blank_lines")

    def blocks(self) -> Iterator[Block]:
        """Yield the lines in blocks of about one chunk, blank ones included; for readers that parse anyway.

        Raises:
            InputError: The file is truncated or corrupt; ``line`` is the one that is cut.
        """
        first = 1
        waiting: Block | None = None
        parts: list[bytes | memoryview] = []
        chunks = iter(self._chunks)
        while True:
            try:
                chunk = next(chunks, None)
            except InputError as error:
                if not self._chunks.is_cut:
                    raise
                # Where the bytes end with a line, it is the last line that nobody vouches for.
                if waiting is not None and not any(parts):
                    first -= 1
                    before, _, _ = waiting.content.rpartition(b"\n")
                    waiting = _block(waiting.first_line, [before]) if waiting.first_line < first else None
                if self.malformed_row == "error":
                    raise error.at(line=first) from error
                self.counts.note("truncated_inputs")
                if waiting is not None:
                    yield waiting
                return
            if chunk is None:
                break
            end = chunk.rfind(b"\n")
            if end < 0:
                parts.append(chunk)
                continue
            parts.append(memoryview(chunk)[:end])
            if waiting is not None:
                yield waiting
            waiting = _block(first, parts)
            parts = [chunk[end + 1 :]]
            first += len(waiting.ends) + 1
        if waiting is not None:
            yield waiting
        if any(parts):
            yield _block(first, parts)


def read_lines(
    path: str,
    *,
    codec: str | None = None,
    counts: Counts | None = None,
    malformed_row: OnMalformed = "error",
) -> LineReader:
    r"""Return the lines of a file as an iterable of ``(line_number, line)``.

    Lines end at LF, or CR LF; U+2028, U+0085 and the like are text. A byte order mark at the start is left
    out, the last line needs no LF. Blank lines keep their number, are left out and noted as ``blank_lines``::

        b'{"id":1}\r\n\n{"id":2}'   gives   (1, b'{"id":1}') (3, b'{"id":2}')

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.
        counts: Where blank lines and tolerated faults are noted.
        malformed_row: ``skip`` takes the lines before a cut and notes ``truncated_inputs``.

    Returns:
        An iterable, to be run through once; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: The file is missing; while iterating: it is truncated or corrupt, with the line at fault.
    """
    return LineReader(path, codec=codec, counts=counts, malformed_row=malformed_row)


def _block(first: int, parts: list[bytes | memoryview]) -> Block:
    content = b"".join(parts)
    if first == 1:
        content = content.removeprefix(BYTE_ORDER_MARK)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return Block(first, content, *find_line_ends(content))
