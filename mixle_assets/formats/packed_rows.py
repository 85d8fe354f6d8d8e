"""Packed rows and plans at rest: plain ``.npy`` files, written as a stream, opened by memory map.

What a number in them means belongs to packing. Nothing else is in such a file, so ``np.load`` opens it
anywhere::

    rows = np.load("rank-00000-of-00008.npy", mmap_mode="r")       # (num_rows, block + 1), uint16 or uint32
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.manifest import new_hasher


class StoredFile(msgspec.Struct, frozen=True):
    """What was written: the hash of the stored bytes, and how many they are."""

    hash: str
    size_in_bytes: int


class ArrayWriter:
    """Takes an array in pieces, along its first axis."""

    def __init__(self, file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._file = file
        self._shape = shape
        self._dtype = dtype
        self._hasher = new_hasher()
        self._size_in_bytes = 0
        self._rows = 0
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        )
        self._put(header.getbuffer())

    def write(self, part: NDArray[Any]) -> None:
        """Append a piece, in the dtype and shape that were announced."""
        if part.dtype != self._dtype or part.shape[1:] != self._shape[1:]:
            raise ValueError(
                f"announced {self._dtype} {self._shape}, got a piece of {part.dtype} {part.shape}"
            )
        self._rows += len(part)
        if part.size:
            self._put(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)

    @property
    def stored(self) -> StoredFile:
        """Hash and size, once everything announced was written."""
        if self._rows != self._shape[0]:
            raise ValueError(f"announced {self._shape[0]} rows, got {self._rows}")
        return StoredFile(self._hasher.hexdigest(), self._size_in_bytes)

    def _put(self, content: memoryview) -> None:
        self._hasher.update(content)
        self._size_in_bytes += content.nbytes
        self._file.write(content)


@contextmanager
def write_array(path: str, shape: tuple[int, ...], dtype: np.dtype[Any] | type) -> Iterator[ArrayWriter]:
    """Write one array in pieces, whole or not at all; fewer or more rows than announced are an error.

    The bytes are those of ``np.save``.
    """
    with storage.write_whole(path) as file:
        writer = ArrayWriter(file, shape, np.dtype(dtype))
        yield writer
        assert writer.stored  # noqa: S101 - raises ValueError itself when rows are missing


def write_pieces(
    path: str, pieces: Iterable[NDArray[Any]], shape: tuple[int, ...], dtype: np.dtype[Any] | type
) -> StoredFile:
    """Write the array that ``pieces`` are; see ``write_array``."""
    with write_array(path, shape, dtype) as writer:
        for piece in pieces:
            writer.write(piece)
    return writer.stored


def open_array(path: str, *, dtype: np.dtype[Any] | type, ndim: int, private: bool = False) -> NDArray[Any]:
    """Open an array by memory map.

    Args:
        path: Where it lies.
        dtype: What it must hold.
        ndim: Dimensions it must have.
        private: Give an array that may be written to; nothing of it reaches the file.

    Raises:
        InputError: The file is missing, cut short, not an ``.npy`` file, or holds something else.
    """
    local = storage.local_path(path)
    try:
        with local.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read_header = np.lib.format.read_array_header_1_0
            shape, _, _ = read_header(file) if version == (1, 0) else (None, None, None)
        # A map cannot be empty, so an array without rows is read.
        mode: Any = None if shape is None or 0 in shape else "c" if private else "r"
        array = np.load(local, mmap_mode=mode, allow_pickle=False)
    except FileNotFoundError as error:
        raise InputError("is missing", path=path) from error
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"not a whole .npy file: {error}", path=path) from error
    if array.dtype != np.dtype(dtype) or array.ndim != ndim:
        raise InputError(
            f"expected {np.dtype(dtype)} with {ndim} dimensions, found {array.dtype} {array.shape}", path=path
        )
    return cast(NDArray[Any], array)


def hash_file(path: str, chunk_in_bytes: int = 2**24) -> StoredFile:
    """Return hash and size of the stored bytes."""
    hasher, size_in_bytes = new_hasher(), 0
    with storage.open_read(path) as file:
        while chunk := file.read(chunk_in_bytes):
            hasher.update(chunk)
            size_in_bytes += len(chunk)
    return StoredFile(hasher.hexdigest(), size_in_bytes)
