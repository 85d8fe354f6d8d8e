"""A file that hashes and counts what is written to it, for writers that only know files, such as Arrow's."""

from __future__ import annotations

from typing import Any, BinaryIO

from mixle_assets.manifest import new_hasher


class HashingFile:
    """Hands on what is written.

    Attributes:
        size_in_bytes: Bytes written so far.
    """

    closed = False  # Arrow asks

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hasher = new_hasher()
        self.size_in_bytes = 0

    @property
    def file_hash(self) -> str:
        """Hash of the bytes written so far."""
        return self._hasher.hexdigest()

    def write(self, content: Any) -> int:
        """Write bytes, or an array's bytes."""
        view = memoryview(content).cast("B") if memoryview(content).nbytes else memoryview(b"")
        self._hasher.update(view)
        self.size_in_bytes += view.nbytes
        self._file.write(view)
        return view.nbytes

    def flush(self) -> None:
        """Hand on to the file."""
        self._file.flush()

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size_in_bytes
