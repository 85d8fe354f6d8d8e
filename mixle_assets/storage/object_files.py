"""One object as a file: read in blocks with the next ones on their way, or written as one upload."""

from __future__ import annotations

import io
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from mixle_assets.errors import InputError
from mixle_assets.storage.locations import FileStat
from mixle_assets.storage.object_stores import translated

if TYPE_CHECKING:
    from obstore import WritableFile
    from obstore.store import ObjectStore

BLOCK_IN_BYTES = 8 * 2**20
"""Bytes of one request while reading."""
BLOCKS_AHEAD = 2
PART_IN_BYTES = 16 * 2**20
"""Bytes of one part of an upload; a smaller object is one request. Stores take at most 10,000 parts."""
PARTS_AT_ONCE = 4


class ObjectReader(io.RawIOBase):
    """Reads one version of an object, by requests of one block each; each is tried again on its own.

    While the blocks are asked for in order, the next ones are on their way. Memory: ``BLOCKS_AHEAD`` + 1
    blocks.

    Args:
        store: Connection to the bucket.
        key: The object.
        url: What it is called in messages.
        found: Size and etag of the version to read.
    """

    def __init__(self, store: ObjectStore, key: str, url: str, found: FileStat) -> None:
        self._store = store
        self._key = key
        self._url = url
        self._size = found.size_in_bytes
        self._etag = found.modified
        self._position = 0
        self._blocks: dict[int, Future[Any]] = {}
        self._last = -1
        self._threads = ThreadPoolExecutor(BLOCKS_AHEAD + 1, "object-blocks")

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a byte; nothing is requested before it is read."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def tell(self) -> int:
        """Return the byte that is read next."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read up to the end of the current block.

        Raises:
            InputError: The object is gone, or is another version than was opened.
            StoreError: The store cannot be reached.
        """
        number, start = divmod(self._position, BLOCK_IN_BYTES)
        if self._position >= self._size:
            return 0
        block = self._block(number)
        piece = block[start : start + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        """Give up what is on its way."""
        if not self.closed:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._blocks.clear()
        super().close()

    def _block(self, number: int) -> memoryview:
        ahead = BLOCKS_AHEAD if number in (self._last, self._last + 1) else 0
        wanted = range(number, min(number + ahead, (self._size - 1) // BLOCK_IN_BYTES) + 1)
        for passed in [each for each in self._blocks if each not in wanted]:
            self._blocks.pop(passed).cancel()
        for each in wanted:
            if each not in self._blocks:
                self._blocks[each] = self._threads.submit(self._fetch, each)
        self._last = number
        return memoryview(self._blocks[number].result())

    def _fetch(self, number: int) -> bytes:
        import obstore
        from obstore.exceptions import PreconditionError

        start = number * BLOCK_IN_BYTES
        stop = min(start + BLOCK_IN_BYTES, self._size)
        options: Any = {"range": (start, stop)}
        if isinstance(self._etag, str) and self._etag.startswith(('"', "0x")):
            options["if_match"] = self._etag
        try:
            with translated(self._url, "read"):
                try:
                    content = obstore.get(self._store, self._key, options=options).bytes().to_bytes()
                except PreconditionError:
                    content = b""
        except FileNotFoundError:
            raise InputError("is gone while it was read", path=self._url) from None
        if len(content) != stop - start:
            raise InputError("changed while it was read", path=self._url)
        return content


class ObjectWriter(io.RawIOBase):
    """Takes an object's bytes in order; whole and visible only when the upload is closed by its owner."""

    def __init__(self, upload: WritableFile, url: str) -> None:
        self._upload = upload
        self._url = url
        self._position = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the bytes that were written."""
        return self._position

    def write(self, content: Any) -> int:
        """Append bytes, or the bytes of an array."""
        view = memoryview(content)
        if view.nbytes:
            with translated(self._url, "written"):
                self._upload.write(view.cast("B"))
            self._position += view.nbytes
        return view.nbytes
