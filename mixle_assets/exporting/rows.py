"""Packed rows for loaders that can carry a loss mask beside the tokens: ``datasets``, ``mds``, ``olmo``.

Megatron and litData pack by themselves and have no place for a mask, so they get documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixle_assets.errors import RecipeError
from mixle_assets.exporting.datasets import finish_datasets, write_table
from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.mds import encode_array, finish_mds, write_shards
from mixle_assets.exporting.olmo import write_olmo_rows
from mixle_assets.formats.columns import flag_column, list_column, number_column
from mixle_assets.manifest import digest_of
from mixle_assets.records import Counts, Written


def export_rows(
    batches: Iterable[tuple[NDArray[Any], NDArray[np.bool_]]], folder: str, to: str, *, stem: str = "rows"
) -> Written:
    """Write packed rows with their loss masks.

    Args:
        batches: Rows of shape (n, block + 1), uint16 or uint32, and masks of shape (n, block), in order.
        folder: Where the export goes.
        to: ``datasets`` (columns ``input_ids``, ``loss_mask``), ``mds`` (the same, the mask as uint8) or
            ``olmo`` (``<stem>.npy`` and ``label_mask/<stem>.npy``).
        stem: Name of the file, or for mds of the folder.

    Returns:
        Digest of the files, counts of rows, and as details ``files`` and the targets trained on.

    Raises:
        RecipeError: Another format.
        ValueError: There is no row, a mask does not fit its rows, or rows differ in dtype or length.
    """
    if to not in ("datasets", "mds", "olmo"):
        raise RecipeError(f"packed rows go to datasets, mds or olmo, got {to!r}", key="export.to")
    files = FileSet(folder)
    told = _Told()
    checked = told.watch(batches)
    first = next(checked, None)
    if first is None:
        raise ValueError("no row to export")
    dtype = first[0].dtype.name
    rows = itertools.chain([first], checked)
    if to == "datasets":
        features = {"input_ids": f"list:{dtype}", "loss_mask": "list:bool"}
        write_table(_tables(rows), features, files, f"{stem}.arrow")
        finish_datasets(files, {stem: [{"filename": f"{stem}.arrow", "features": features}]})
    elif to == "olmo":
        write_olmo_rows(rows, files, stem)
    else:
        columns = {"input_ids": f"ndarray:{dtype}", "loss_mask": "ndarray:uint8"}
        entries = write_shards(_samples(rows, folder), columns, files, stem)
        finish_mds(files, {stem: entries})
    digest = digest_of(files.files)
    return Written(
        rows_digest=digest,
        file_hash=digest,
        size_in_bytes=sum(facts["size_in_bytes"] for facts in files.files.values()),
        counts=Counts(num_in=told.num_rows, num_out=told.num_rows),
        details={"num_targets": told.num_targets, "files": files.files},
    )


class _Told:
    """Counts rows and trained targets as they pass, and refuses a mask that does not fit."""

    def __init__(self) -> None:
        self.num_rows = 0
        self.num_targets = 0

    def watch(
        self, batches: Iterable[tuple[NDArray[Any], NDArray[np.bool_]]]
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
        kind: tuple[Any, ...] = ()
        for rows, mask in batches:
            if rows.ndim != 2 or mask.shape != (len(rows), rows.shape[1] - 1):
                raise ValueError(
                    f"rows of shape {rows.shape} do not go with a loss mask of shape {mask.shape}"
                )
            kind = kind or (rows.dtype, rows.shape[1])
            if kind != (rows.dtype, rows.shape[1]):
                raise ValueError(
                    f"rows of {rows.shape[1]} {rows.dtype} do not go with those of {kind[1]} {kind[0]} before"
                )
            self.num_rows += len(rows)
            self.num_targets += int(mask.sum())
            if len(rows):
                yield rows, mask


def _tables(batches: Iterable[tuple[NDArray[Any], NDArray[np.bool_]]]) -> Iterator[dict[str, pa.Array]]:
    for rows, mask in batches:
        yield {
            "input_ids": _equal_lists(number_column(rows.ravel()), rows.shape),
            "loss_mask": _equal_lists(flag_column(mask.ravel()), mask.shape),
        }


def _equal_lists(values: pa.Array, shape: tuple[int, ...]) -> pa.Array:
    return list_column(values, np.full(shape[0], shape[1]), pa.list_(values.type))


def _samples(
    batches: Iterable[tuple[NDArray[Any], NDArray[np.bool_]]], folder: str
) -> Iterator[dict[str, bytes]]:
    for rows, mask in batches:
        for row, targets in zip(rows, mask, strict=True):
            yield {
                "input_ids": encode_array(row, folder),
                "loss_mask": encode_array(targets.astype(np.uint8), folder),
            }
