"""The two forms of an attribute file, JSON lines and the columns beside them, and opening either.

Reading JSON lines alone never loads Arrow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from mixle_assets.formats.attributes import AttributeRow, read_attribute_rows
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.records import Attributes, Counts, DocumentId, FileStamp

SUFFIX = ".parquet"


class AttributeRows(Protocol):
    """The rows of one attribute file in either form, as ``(line_number, id, attributes)``."""

    path: str

    @property
    def stamp(self) -> FileStamp:
        """Hash of the stored bytes, stored size and modification time; known once exhausted."""

    def __iter__(self) -> Iterator[tuple[int, DocumentId, Attributes]]: ...

    def rows(self) -> Iterator[AttributeRow]:
        """Return the rows without their lines."""

    def line_of(self, row: int) -> int:
        """Return the physical line of a row, counted from 0."""


def columns_path_of(path: str) -> str:
    """Return where the columns of an attribute file stand: beside it, under its whole name."""
    return path + SUFFIX


def is_columns_path(path: str) -> bool:
    """Return whether a location is that of columns."""
    return path.endswith(SUFFIX)


def open_attribute_rows(
    path: str,
    *,
    codec: str | None = None,
    malformed_row: OnMalformed = "error",
    counts: Counts | None = None,
    keys: Collection[str] | None = None,
    span_keys: Collection[str] = (),
    reuse: bool = False,
) -> AttributeRows:
    """Return the attribute rows at a location: from columns, if it is that of columns, else from JSON lines.

    Args:
        path: Location of the file.
        codec: As for ``read_attribute_rows``; columns have none.
        malformed_row: Likewise; columns were written from rows that could be read.
        counts: Likewise.
        keys: The attribute keys to read; None reads all.
        span_keys: Those of them whose spans may come as tuples.
        reuse: Let values hold only until the next row is taken; see ``read_attribute_columns``.

    Raises:
        InputError: The file is missing, or is not what it should be.
    """
    if is_columns_path(path):
        from mixle_assets.formats.attribute_column_reader import read_attribute_columns

        return read_attribute_columns(path, keys=keys, span_keys=span_keys, reuse=reuse)
    return read_attribute_rows(
        path, codec=codec, malformed_row=malformed_row, counts=counts, keys=keys, span_keys=span_keys
    )
