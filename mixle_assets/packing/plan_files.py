"""The plan of an epoch at rest, and opened again by memory map.

::

    order.npy      document numbers of the epoch in order, all ranks; rank r packs order[r::world_size]
    offsets.npy    running sum of tokens in that order, from 0, boundaries included; with residency
                   ``documents`` one such sum after another for rank 0, 1, …
    scores.npy     only where the order is by score: the score of each document
    pieces.npy     best_fit only, instead of offsets: (document, skip, begin, end) of each piece, likewise
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.formats.packed_rows import StoredFile, open_array, write_pieces
from mixle_assets.packing.layout import EpochLayout
from mixle_assets.packing.plan import CHUNK, RowPlan, from_offsets
from mixle_assets.packing.pool import number_dtype
from mixle_assets.packing.settings import PackingSettings

SCORES = "scores.npy"
ORDER = "order.npy"
OFFSETS = "offsets.npy"
PIECES = "pieces.npy"


def write_plan(folder: str, layout: EpochLayout) -> dict[str, StoredFile]:
    """Write order and plans of an epoch; returns name to hash and size of what was written."""
    files = {}
    documents = layout.documents
    files[ORDER] = write_pieces(
        storage.join(folder, ORDER),
        (documents[at : at + CHUNK] for at in range(0, len(documents), CHUNK)),
        documents.shape,
        documents.dtype,
    )
    plans = [layout.plan_of(rank) for rank in range(layout.num_plans)]
    if layout.settings.strategy == "concatenate":
        total = sum(len(plan.documents) + 1 for plan in plans)
        files[OFFSETS] = write_pieces(storage.join(folder, OFFSETS), _offsets(plans), (total,), np.int64)
    else:
        sizes = np.array([len(plan.documents) for plan in plans], np.int64)
        total = int(sizes.sum())
        files[OFFSETS] = write_pieces(
            storage.join(folder, OFFSETS),
            [np.concatenate([[0], np.cumsum(sizes)])],
            (len(plans) + 1,),
            np.int64,
        )
        files[PIECES] = write_pieces(storage.join(folder, PIECES), _pieces(plans), (total, 4), np.int64)
    return files


def read_plan(folder: str, settings: PackingSettings, rank: int, num_documents: int) -> RowPlan:
    """Open the plan that a rank's row numbers count in; nothing is loaded.

    Raises:
        InputError: A file is missing, cut short, or of another shape.
    """
    num_plans = settings.world_size if settings.residency == "documents" else 1
    number = rank if num_plans > 1 else 0
    # Private maps: numba would compile once more for read-only arrays.
    offsets = open_array(storage.join(folder, OFFSETS), dtype=np.int64, ndim=1, private=True)
    if settings.strategy == "concatenate":
        order = read_order(folder, num_documents)
        documents = np.ascontiguousarray(order[number::num_plans])
        # Plans before this one have one number more than documents each.
        first = sum(-(-(len(order) - before) // num_plans) + 1 for before in range(number))
        own = offsets[first : first + len(documents) + 1]
        return from_offsets(documents, own, settings.block, settings.has_boundary)
    pieces = open_array(storage.join(folder, PIECES), dtype=np.int64, ndim=2)
    document, skip, begin, end = pieces[int(offsets[number]) : int(offsets[number + 1])].T
    return RowPlan(
        settings.block,
        np.ascontiguousarray(document),
        np.ascontiguousarray(begin),
        np.ascontiguousarray(end),
        np.ascontiguousarray(skip) if skip.any() else None,
        settings.has_boundary,
        has_gaps=True,
    )


def read_order(folder: str, num_documents: int) -> NDArray[np.uint32] | NDArray[np.int64]:
    """Open the order of an epoch: document numbers, all ranks."""
    return open_array(storage.join(folder, ORDER), dtype=number_dtype(num_documents), ndim=1)


def _offsets(plans: list[RowPlan]) -> Iterator[NDArray[np.int64]]:
    for plan in plans:
        yield np.zeros(1, np.int64)
        yield plan.ends


def _pieces(plans: list[RowPlan]) -> Iterator[NDArray[np.int64]]:
    for plan in plans:
        for at in range(0, len(plan.documents), CHUNK):
            part = slice(at, at + CHUNK)
            skips = np.zeros_like(plan.begins[part]) if plan.skips is None else plan.skips[part]
            yield np.stack([plan.documents[part], skips, plan.begins[part], plan.ends[part]], axis=1).astype(
                np.int64, copy=False
            )
