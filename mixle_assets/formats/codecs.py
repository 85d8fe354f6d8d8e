"""Compressed bytes in and out: gzip of many members, zstd of many frames, plain.

Here are bytes only; what a line or a row is stands in ``lines`` and ``documents``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import zstandard
from isal import igzip_lib

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.manifest import new_hasher
from mixle_assets.records import FileStamp

CODECS = ("gz", "zst", "")
READ_IN_BYTES = 256 * 1024
"""Stored bytes taken from the store at a time."""
CHUNK_IN_BYTES = 512 * 1024
"""Largest decompressed piece handed on, so that a file of zeros does not unfold in memory."""
MEMBER_IN_BYTES = 1024 * 1024
"""Uncompressed bytes in one gzip member."""
# Level 4 of libdeflate is about as small as zlib's 6 (+1.4 %) at four times its speed.
GZIP_LEVEL = 4
ZSTD_LEVEL = 3
_GzipError: type[Exception] = igzip_lib.error  # type: ignore[assignment]  # its stub calls it an instance
_EXTENSIONS = {"gz": "gz", "zst": "zst", "zstd": "zst"}


def codec_of(path: str, override: str | None = None) -> str:
    """Return ``gz``, ``zst`` or ``""`` (plain): the override if there is one, else by the last extension.

    Raises:
        ValueError: ``override`` is not a codec.
    """
    if override is None:
        return _EXTENSIONS.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")
    if override not in CODECS:
        raise ValueError(f"codec must be gz, zst or empty, got {override!r}")
    return override


class ChunkReader:
    """The decompressed bytes of one file, piece by piece; ``stamp`` is there once it is exhausted.

    An error is raised only after all bytes before the fault were handed out, so a caller that counts lines
    can say which one is cut. ``is_cut`` tells such a fault from a file that cannot be opened.
    """

    def __init__(self, path: str, codec: str | None = None) -> None:
        self.path = path
        self.codec = codec_of(path, codec)
        self.is_cut = False
        self._hasher = new_hasher()
        self._stamp: FileStamp | None = None
        before = storage.stat(path)
        if before is None:
            raise InputError("there is no such file", path=path)
        self._stat = before

    def __iter__(self) -> Iterator[bytes]:
        with storage.open_read(self.path) as file:
            stored = self._read(file)
            try:
                yield from _DECOMPRESS[self.codec](stored, self.path)
            except InputError:
                self.is_cut = True
                raise
            finally:
                # A reader that stops early, or tolerates the cut, still wants to know what it read.
                for _ in stored:
                    pass
        after = storage.stat(self.path)
        if after != self._stat:
            raise InputError(f"changed while it was read: {self._stat} became {after}", path=self.path)

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time."""
        if self._stamp is None:
            raise ValueError(f"{self.path}: the stamp is known only after the last chunk")
        return self._stamp

    def _read(self, file: BinaryIO) -> Iterator[bytes]:
        while stored := file.read(READ_IN_BYTES):
            self._hasher.update(stored)
            yield stored
        self._stamp = FileStamp(self._hasher.hexdigest(), self._stat.size_in_bytes, self._stat.modified)


def read_chunks(path: str, *, codec: str | None = None) -> ChunkReader:
    """Return the decompressed bytes of a file as an iterable of pieces, in constant memory.

    Args:
        path: Location of the file.
        codec: ``gz``, ``zst`` or ``""``; None takes it from the extension.

    Returns:
        An iterable of ``bytes``, none empty; ``stamp`` is there once it is exhausted.

    Raises:
        InputError: The file is missing; while iterating: it is cut, corrupt, or has bytes after its end.
    """
    return ChunkReader(path, codec)


def _pass_on(stored: Iterator[bytes], path: str) -> Iterator[bytes]:
    del path
    yield from stored


def _gunzip(stored: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Yield what all members of a gzip file hold; zeros between or after members are padding."""
    member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    started = False  # whether the member has seen a byte
    num_members = 0
    for piece in stored:
        rest = piece
        while rest:
            if not started:
                if num_members:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                started = True
            try:
                chunk = member.decompress(rest, CHUNK_IN_BYTES)
                if chunk:
                    yield chunk
                while not (member.needs_input or member.eof):
                    chunk = member.decompress(b"", CHUNK_IN_BYTES)
                    if chunk:
                        yield chunk
            except _GzipError as error:
                what = (
                    f"bytes after member {num_members} that are no gzip" if num_members else "not valid gzip"
                )
                raise InputError(f"corrupt: {what} ({error})", path=path) from error
            if not member.eof:
                break
            num_members += 1
            rest = member.unused_data
            member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
            started = False
    if started:
        raise InputError(f"truncated: gzip member {num_members + 1} has no end", path=path)
    if not num_members:
        raise InputError("truncated: a file of 0 bytes is no gzip", path=path)


def _unzstd(stored: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Yield what all frames of a zstd file hold."""
    # The recipe's author wrote the file, so a large window (``zstd --long``) is a choice, not an attack.
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)
    frame = decompressor.decompressobj()
    started = False
    num_frames = 0
    # decompressobj has no bound on its output, so the input is cut to what should unfold to about one chunk.
    step = 256
    for piece in stored:
        rest = memoryview(piece)
        while rest:
            started = True
            taken, rest = rest[:step], rest[step:]
            try:
                chunk = frame.decompress(taken)
            except zstandard.ZstdError as error:
                raise InputError(f"corrupt: {error}", path=path) from error
            step = max(128, min(2 * step, CHUNK_IN_BYTES * len(taken) // (len(chunk) + 1), READ_IN_BYTES))
            if chunk:
                yield chunk
            if frame.eof:
                num_frames += 1
                started = False
                if frame.unused_data:
                    rest = memoryview(frame.unused_data + bytes(rest))
                frame = decompressor.decompressobj()
    if started:
        raise InputError(f"truncated: zstd frame {num_frames + 1} has no end", path=path)
    if not num_frames:
        raise InputError("truncated: a file of 0 bytes is no zstd", path=path)


_DECOMPRESS = {"gz": _gunzip, "zst": _unzstd, "": _pass_on}


class ShardWriter:
    """Compresses rows into a file that is being written whole; made by ``write_shard``.

    Attributes:
        rows_digest: Hash of the uncompressed bytes; set after the block.
        file_hash: Hash of the stored bytes; set after the block.
        size_in_bytes: Stored size; set after the block.
    """

    def __init__(self, file: BinaryIO, codec: str) -> None:
        self._file = file
        self._compress, self._finish = _compressor(codec)
        self._rows: list[bytes] = []
        self._waiting_in_bytes = 0
        self._num_members = 0
        self._rows_hasher = new_hasher()
        self._file_hasher = new_hasher()
        self.rows_digest = ""
        self.file_hash = ""
        self.size_in_bytes = 0

    def write(self, rows: bytes) -> None:
        """Append rows, each with its last newline; how they are cut into calls changes no stored byte."""
        self._rows.append(rows)
        self._waiting_in_bytes += len(rows)
        if self._waiting_in_bytes >= MEMBER_IN_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what is waiting and set the digests; ``write_shard`` calls it."""
        self._flush(last=True)
        self._store(self._finish())
        self.rows_digest = self._rows_hasher.hexdigest()
        self.file_hash = self._file_hasher.hexdigest()

    def _flush(self, *, last: bool = False) -> None:
        waiting = memoryview(b"".join(self._rows))
        while len(waiting) >= MEMBER_IN_BYTES or (last and (len(waiting) or not self._num_members)):
            member, waiting = waiting[:MEMBER_IN_BYTES], waiting[MEMBER_IN_BYTES:]
            self._rows_hasher.update(member)
            self._store(self._compress(member))
            self._num_members += 1
        self._rows = [bytes(waiting)] if len(waiting) else []
        self._waiting_in_bytes = len(waiting)

    def _store(self, stored: bytes | bytearray) -> None:
        if stored:
            self._file_hasher.update(stored)
            self.size_in_bytes += len(stored)
            self._file.write(stored)


@contextmanager
def write_shard(path: str, codec: str) -> Iterator[ShardWriter]:
    """Write rows to ``path``, whole or not at all; an exception in the block leaves nothing.

    Gzip comes as independent members of 1 MB of rows (any gzip reader takes them) without time stamp or name,
    zstd as one frame with a checksum: the same rows give the same bytes with the same codec version.

    Args:
        path: Final location.
        codec: ``gz``, ``zst`` or ``""``.

    Raises:
        ValueError: ``codec`` is not a codec.
        StoreError: The store is full or refuses.
    """
    codec = codec_of(path, codec)
    with storage.write_whole(path) as file:
        writer = ShardWriter(file, codec)
        yield writer
        writer.close()


def _compressor(codec: str) -> tuple[Callable[[memoryview], bytes | bytearray], Callable[[], bytes]]:
    if codec == "gz":
        return gzip_member(), lambda: b""
    if codec == "zst":
        frame = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compressobj()
        return frame.compress, frame.flush
    return bytes, lambda: b""


def gzip_member(*, prefer_libdeflate: bool = True) -> Callable[[memoryview], bytes | bytearray]:
    """Return the function that makes one gzip member: libdeflate's, or zlib-ng's where that is missing."""
    if prefer_libdeflate:
        try:
            import deflate
        except ImportError:
            return gzip_member(prefer_libdeflate=False)
        return lambda rows: deflate.gzip_compress(rows, GZIP_LEVEL)
    from zlib_ng import zlib_ng

    def compress(rows: memoryview) -> bytes:
        # 31 = gzip header and trailer around a window of 2^15; the header's time is 0.
        member = zlib_ng.compressobj(6, zlib.DEFLATED, 31)
        return bytes(member.compress(rows) + member.flush())

    return compress
