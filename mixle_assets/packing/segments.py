"""What a batch consists of, for attention and for masks: position ids, document ids, cumulative lengths.

All of it comes from the plan, by position; no token value is looked at, so a document may hold the boundary
or the pad id. Everything is about the context, ``row[:-1]``, as a model sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixle_assets.packing.views import Batch
from mixle_assets.records import Segment

PADDING = -1
"""Document id of padding."""


class SegmentArrays(NamedTuple):
    """A batch's segments as arrays.

    Rows ``[5 6 2] [7 2 _]`` with documents 0 = ``5 6``, 1 = ``7`` and boundary 2, block 2::

        position_ids   [0 1] [0 1]
        document_ids   [0 0] [1 1]
        cu_seqlens     [0 2 4]

    Attributes:
        position_ids: Shape (b, block), int64; begins anew at 0 with each segment of a row, padding included.
        document_ids: Shape (b, block), int64; -1 in padding.
        cu_seqlens: Running lengths of all segments of the batch, flattened row after row, int32, from 0 to
            b * block; what variable-length attention kernels take. Padding is a segment of its own.
        max_seqlen: Length of the longest segment.
    """

    position_ids: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    cu_seqlens: NDArray[np.int32]
    max_seqlen: int


class SegmentedBatch(NamedTuple):
    """A batch with the documents in it.

    Attributes:
        context: Shape (b, block), int64.
        targets: Shape (b, block), int64.
        loss_mask: Shape (b, block), bool.
        segments: For each row what it consists of.
        arrays: The same as arrays.
    """

    context: NDArray[np.int64]
    targets: NDArray[np.int64]
    loss_mask: NDArray[np.bool_]
    segments: Sequence[Sequence[Segment]]
    arrays: SegmentArrays


def segmented_batch(batch: Batch, segments: Sequence[Sequence[Segment]]) -> SegmentedBatch:
    """Return a batch with its segments."""
    return SegmentedBatch(*batch, segments, segment_arrays(segments, batch.context.shape[1]))


def segment_arrays(segments: Sequence[Sequence[Segment]], block: int) -> SegmentArrays:
    """Return the segments of a batch as arrays.

    Args:
        segments: For each row what it consists of, as ``StreamingCorpus.segments`` gives it.
        block: Targets in a row.
    """
    starts, documents = [], []
    for number, row in enumerate(segments):
        filled = 0
        for segment in row:
            if segment.row_start < block:
                starts.append(number * block + segment.row_start)
                documents.append(segment.document)
                filled = min(segment.row_stop, block)
        if filled < block:
            starts.append(number * block + filled)
            documents.append(PADDING)
    edges = np.array([*starts, len(segments) * block], np.int64)
    sizes = np.diff(edges)
    positions = np.arange(edges[-1]) - np.repeat(edges[:-1], sizes)
    shape = (len(segments), block)
    return SegmentArrays(
        positions.reshape(shape),
        np.repeat(np.array(documents, np.int64), sizes).reshape(shape),
        edges.astype(np.int32),
        int(sizes.max(initial=0)),
    )


def edge_mask(segments: Sequence[Sequence[Segment]], block: int) -> NDArray[np.bool_]:
    """Return which targets belong to the document of the token before them: shape (b, block).

    False where a document begins: nothing before it could tell. The boundary is its document's last token, so
    predicting that a document ends stays True. Padding is False.
    """
    mask = np.zeros((len(segments), block), np.bool_)
    for number, row in enumerate(segments):
        for segment in row:
            mask[number, segment.row_start : segment.row_stop - 1] = True
    return mask


def document_mask(
    segments: Sequence[Sequence[Segment]], block: int, keep: Callable[[int], bool]
) -> NDArray[np.bool_]:
    """Return which targets belong to documents that are to be trained on: shape (b, block); padding is False.

    Args:
        segments: For each row what it consists of.
        block: Targets in a row.
        keep: Says of a document number whether its tokens are targets.
    """
    mask = np.zeros((len(segments), block), np.bool_)
    for number, row in enumerate(segments):
        for segment in row:
            if keep(segment.document):
                mask[number, max(0, segment.row_start - 1) : segment.row_stop - 1] = True
    return mask


class MaskedMean(NamedTuple):
    """Sum and number of the values a mask keeps, and their mean; 0.0 where it keeps none, never 0/0.

    Means of several batches or ranks are added up by ``total`` and ``num_targets``, never averaged.
    """

    total: float
    num_targets: int

    @property
    def mean(self) -> float:
        """``total / num_targets``, or 0.0."""
        return self.total / self.num_targets if self.num_targets else 0.0

    def __add__(self, other: tuple[Any, ...]) -> MaskedMean:
        return MaskedMean(self.total + other[0], self.num_targets + other[1])


def masked_mean(values: ArrayLike, mask: ArrayLike) -> MaskedMean:
    """Return sum, number and mean of the values that a mask keeps.

    What the mask leaves out may be NaN or infinite: it is not looked at.

    Args:
        values: Losses, any shape.
        mask: Of the same shape.

    Raises:
        ValueError: The shapes differ.
    """
    kept, chosen = np.asarray(values), np.asarray(mask, np.bool_)
    if kept.shape != chosen.shape:
        raise ValueError(f"mask has shape {chosen.shape}, values have {kept.shape}")
    return MaskedMean(float(kept[chosen].sum(dtype=np.float64)), int(chosen.sum()))
