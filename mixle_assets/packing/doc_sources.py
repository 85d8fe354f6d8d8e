"""The doc arrays a corpus is made of, as one list of documents: lengths, tokens, ids, provenance.

Documents are numbered through all streams in the order of the recipe, and through a stream's files in plan
order. Nothing is opened before it is needed; lengths are read without touching a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import InputError
from mixle_assets.formats.doc_arrays import DocArrays, lengths_path_of
from mixle_assets.formats.packed_rows import open_array
from mixle_assets.manifest import new_hasher
from mixle_assets.packing.curricula import PoolFacts
from mixle_assets.packing.token_source import TokenSource, source_of
from mixle_assets.records import DocumentId


class DocSources:
    """Several files of doc arrays as one list of documents.

    Args:
        paths: Files of each stream, in order.
        dtype: Dtype of the tokens in every file.
    """

    def __init__(self, paths: Sequence[Sequence[str]], dtype: str) -> None:
        self.paths = [path for stream in paths for path in stream]
        self.dtype = np.dtype(dtype)
        self._stream_sizes = [len(stream) for stream in paths]
        self._arrays: dict[int, DocArrays] = {}

    @cached_property
    def file_starts(self) -> NDArray[np.int64]:
        """Number of the first document of each file, and at the end how many there are."""
        return np.concatenate([[0], np.cumsum([len(part) for part in self._file_lengths])]).astype(np.int64)

    @cached_property
    def stream_starts(self) -> NDArray[np.int64]:
        """Number of the first document of each stream, and at the end how many there are."""
        return self.file_starts[np.concatenate([[0], np.cumsum(self._stream_sizes)]).astype(np.int64)]

    @cached_property
    def _file_lengths(self) -> list[NDArray[np.int64]]:
        return [open_array(lengths_path_of(path), dtype=np.int64, ndim=1) for path in self.paths]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of every document, by document number."""
        if len(self._file_lengths) == 1:
            return self._file_lengths[0]
        return np.concatenate([np.empty(0, np.int64), *self._file_lengths])

    @property
    def num_documents(self) -> int:
        """Documents in all files."""
        return int(self.file_starts[-1])

    def arrays(self, file: int) -> DocArrays:
        """Return the doc arrays of one file, opened once.

        Raises:
            InputError: The file is missing or broken, or its tokens are of another dtype.
        """
        if file not in self._arrays:
            opened = DocArrays.open(self.paths[file])
            if opened.dtype != self.dtype:
                raise InputError(f"holds {opened.dtype} tokens, expected {self.dtype}", path=self.paths[file])
            self._arrays[file] = opened
        return self._arrays[file]

    @cached_property
    def tokens(self) -> TokenSource:
        """The tokens of all documents; opens every file."""
        opened = [self.arrays(file) for file in range(len(self.paths))]
        return source_of([(part.values, part.starts, part.lengths) for part in opened], self.dtype)

    def place(self, document: int) -> tuple[int, int]:
        """Return the file a document is in, and its number there.

        Raises:
            IndexError: There is no such document.
        """
        if not 0 <= document < self.num_documents:
            raise IndexError(f"document {document} of {self.num_documents}")
        file = int(np.searchsorted(self.file_starts, document, side="right")) - 1
        return file, document - int(self.file_starts[file])

    def document(self, document: int) -> NDArray[Any]:
        """Return the tokens of one document, a view."""
        file, number = self.place(document)
        return self.arrays(file).tokens(number)

    def id(self, document: int) -> DocumentId:
        """Return the id of a document, its JSON type kept."""
        file, number = self.place(document)
        return self.arrays(file).id(number)

    def provenance(self, document: int) -> str:
        """Return where a document came from, ``<file>:<line>``."""
        file, number = self.place(document)
        return self.arrays(file).provenance(number)

    def ids(self, stream: int) -> Iterator[DocumentId]:
        """Yield the ids of a stream's documents in order."""
        first = sum(self._stream_sizes[:stream])
        for file in range(first, first + self._stream_sizes[stream]):
            yield from self.arrays(file).ids()

    def provenances(self) -> Iterator[str]:
        """Yield where each document came from, all streams in order."""
        for file in range(len(self.paths)):
            yield from self.arrays(file).provenances()

    def stream_of(self, documents: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the stream of each document."""
        return np.searchsorted(self.stream_starts, documents, side="right") - 1

    def facts(
        self, pool: NDArray[Any] | None, names: Sequence[str], scores: NDArray[np.float64] | None
    ) -> PoolFacts:
        """Return what a curriculum looks at, for a pool of these documents."""
        return PoolFacts(pool, self.lengths, tuple(names), self.stream_starts, scores)

    def digest_of_file(self, file: int) -> str:
        """Return the digest of a file's dtype, lengths and tokens; reads all of it."""
        arrays = self.arrays(file)
        hasher = new_hasher()
        hasher.update(f"{arrays.dtype} {arrays.num_documents}\n".encode())
        hasher.update(np.ascontiguousarray(arrays.lengths).data)
        for first, stop in _runs(arrays):
            hasher.update(np.ascontiguousarray(arrays.values[first:stop]).data)
        return hasher.hexdigest()


def _runs(arrays: DocArrays, chunk: int = 2**23) -> Iterator[tuple[int, int]]:
    """Yield where the tokens lie in ``values``, in the order of documents, in long runs."""
    starts, lengths = arrays.starts, arrays.lengths
    for at in range(0, len(starts), 2**20):
        part_starts = starts[at : at + 2**20]
        part_stops = part_starts + lengths[at : at + 2**20]
        filled = np.flatnonzero(part_stops > part_starts)
        if not len(filled):
            continue
        begins, stops = part_starts[filled], part_stops[filled]
        breaks = np.flatnonzero(begins[1:] != stops[:-1])
        for first, stop in zip(
            begins[np.concatenate([[0], breaks + 1])].tolist(),
            stops[np.concatenate([breaks, [len(stops) - 1]])].tolist(),
            strict=True,
        ):
            for cut in range(first, stop, chunk):
                yield cut, min(cut + chunk, stop)
