"""``corpus.json``: what a packed epoch says of itself, so that its folder can be read without a recipe.

Written last of the epoch's files: an epoch without it is not finished. Paths in it are relative to the
epoch's folder where both have a folder in common, so a corpus may be moved as a whole.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.packed_rows import StoredFile
from mixle_assets.packing.settings import PackingSettings

FORMAT = "mixle_assets.packed_epoch/1"
FILE_NAME = "corpus.json"


class StoredDocArrays(msgspec.Struct, frozen=True):
    """One file of doc arrays: where, how many documents and tokens, and the digest of its content."""

    path: str
    num_documents: int
    num_tokens: int
    digest: str


class StoredStream(msgspec.Struct, frozen=True):
    """One stream of the corpus, its files in plan order."""

    name: str
    weight: float
    resample: bool
    doc_arrays: tuple[StoredDocArrays, ...]

    @property
    def num_documents(self) -> int:
        """Documents of the stream."""
        return sum(part.num_documents for part in self.doc_arrays)


class EpochDescription(msgspec.Struct, frozen=True, kw_only=True):
    """Everything needed to read a packed epoch, and to make others of the same corpus.

    Attributes:
        format: Always ``mixle_assets.packed_epoch/1``.
        digest: Of the documents, their weights and the boundary; the same for every epoch of a corpus.
        epoch: Which pass this is.
        settings: What decides which token stands where.
        batch_size: The recipe's, a default for readers.
        selector: Dotted path or description of the curriculum hook, or None.
        dtype: Dtype of tokens and rows.
        streams: In the order of the recipe.
        num_rows: Rows of all packings, before ranks are made equal.
        packed_rows: Rows of each rank before ranks are made equal.
        rows_per_rank: Rows of each rank.
        materialize: Whether the rows are stored, or the plan only.
        files: Name to hash and size of every other file in the folder.
    """

    format: str
    digest: str
    epoch: int
    settings: PackingSettings
    batch_size: int
    selector: Any
    dtype: str
    streams: tuple[StoredStream, ...]
    num_rows: int
    packed_rows: tuple[int, ...]
    rows_per_rank: tuple[int, ...]
    materialize: str
    files: dict[str, StoredFile]

    @property
    def num_documents(self) -> int:
        """Documents of all streams, each counted once."""
        return sum(stream.num_documents for stream in self.streams)


def encode_description(description: EpochDescription) -> bytes:
    """Return the description as indented JSON with sorted keys and a last newline."""
    return orjson.dumps(
        msgspec.to_builtins(description),
        option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    )


def read_description(folder: str) -> EpochDescription:
    """Read the description of the packed epoch in ``folder``.

    Raises:
        InputError: It is missing (the epoch was never finished), or not one of ours.
    """
    path = storage.join(folder, FILE_NAME)
    content = storage.read_bytes(path)
    try:
        description = msgspec.json.decode(content, type=EpochDescription)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InputError(f"not the description of a packed epoch: {error}", path=path) from error
    if description.format != FORMAT:
        raise InputError(f"format is {description.format!r}, expected {FORMAT!r}", path=path)
    return description


def relative_path(path: str, folder: str) -> str:
    """Return a path as written into a description: relative to the folder where both are in one place."""
    return storage.relative(path, folder)


def resolved_path(path: str, folder: str) -> str:
    """Return where a path of a description lies."""
    return storage.resolve(path, folder)


def rank_file(rank: int, world_size: int) -> str:
    """Return the name of a rank's rows, ``rank-00000-of-00008.npy``."""
    return f"rank-{rank:05d}-of-{world_size:05d}.npy"


def lengths_file(rank: int, world_size: int) -> str:
    """Return the name of the lengths of a rank's rows: how many cells of each are real."""
    return f"row_lengths-{rank:05d}-of-{world_size:05d}.npy"
