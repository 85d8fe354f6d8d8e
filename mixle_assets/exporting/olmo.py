"""OLMo-core's and Dolma's token files: ``.npy`` without a header, and ``.csv.gz`` with a line a document.

Every document ends with the boundary, by which the loader finds documents. The line is
``start,end,id,source,line`` in tokens, end exclusive, as ``dolma tokens`` writes it.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.flat import boundary_of, runs, text_of_id
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.formats.doc_batches import encode_id


def write_olmo(arrays: DocArrays, files: FileSet, stem: str, *, append_boundary: bool) -> list[Any]:
    """Write ``<stem>.npy`` and ``<stem>.csv.gz``; nothing for no documents: no reader can map that.

    Raises:
        RecipeError: The tokenizer has no boundary.
    """
    if not len(arrays):
        return []
    boundary = boundary_of(arrays, append_boundary=append_boundary)
    with files.write(f"{stem}.npy") as file:
        for run in runs(arrays, boundary):
            file.write(run.values.astype(arrays.dtype.newbyteorder("<"), copy=False))
    with (
        files.write(f"{stem}.csv.gz") as file,
        # No name and no time in the header: the same bytes each day.
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        rows = csv.writer(text)
        start = 0
        sizes = (arrays.lengths + len(boundary)).tolist()
        for document_id, provenance, size in zip(arrays.ids(), arrays.provenances(), sizes, strict=True):
            source, _, line = provenance.rpartition(":")
            id_text = text_of_id(document_id, encode_id(document_id))
            rows.writerow([start, start + size, _on_one_line(id_text), _on_one_line(source), line])
            start += size
    return []


def write_olmo_rows(
    batches: Iterable[tuple[NDArray[Any], NDArray[np.bool_]]], files: FileSet, stem: str
) -> None:
    """Write packed rows as ``<stem>.npy``, their masks as ``label_mask/<stem>.npy``, both without a header.

    OLMo-core's label mask has a byte for each token: whether it is trained on as a target. The first token of
    a row is the target of none. With ``sequence_length`` at the length of a row, its rows are these::

        row [5 6 7 2], loss mask [1 1 0]      label mask [0 1 1 0]
    """
    with files.write(f"{stem}.npy") as tokens, files.write(f"label_mask/{stem}.npy") as masks:
        for rows, mask in batches:
            tokens.write(np.ascontiguousarray(rows, rows.dtype.newbyteorder("<")))
            masks.write(np.pad(mask, ((0, 0), (1, 0))))


def _on_one_line(text: str) -> str:
    """Return a text, as JSON where it has line ends: OLMo-core reads by lines and knows no quoted ones."""
    return encode_id(text) if "\n" in text or "\r" in text else text
