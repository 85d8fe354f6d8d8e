"""What an epoch holds, in numbers: by stream, by multiplicity, by rank; nothing packed goes uncounted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.doc_sources import DocSources
from mixle_assets.packing.layout import EpochLayout
from mixle_assets.packing.pool import PoolStream
from mixle_assets.packing.views import real_tokens
from mixle_assets.records import Counts


def count_epoch(layout: EpochLayout, multiplicity: NDArray[np.int64]) -> Counts:
    """Return the documents that went in and came out; one that this epoch leaves out was ``not_drawn``."""
    drawn = int((multiplicity > 0).sum())
    counts = Counts(num_in=len(multiplicity), num_out=drawn)
    if drawn < len(multiplicity):
        counts.drop("not_drawn", len(multiplicity) - drawn)
    counts.note("rows_dropped_to_equalize", layout.deal.num_dropped_rows)
    counts.note("rows_padded_to_equalize", layout.deal.num_padded_rows)
    return counts


def detail_epoch(
    layout: EpochLayout,
    sources: DocSources,
    streams: Sequence[PoolStream],
    multiplicity: NDArray[np.int64],
    trainable: int,
) -> dict[str, Any]:
    """Return the statistics of an epoch as plain JSON.

    Args:
        layout: The epoch.
        sources: Its documents.
        streams: Its streams.
        multiplicity: How often each document is in it.
        trainable: Targets that are real tokens, in all rows that are read.

    Returns:
        Among others ``tokens`` (boundaries included, equal rows aside), ``padding``, ``trainable_targets``,
        ``rows_per_rank``, ``multiplicities`` (how many documents come 0, 1, … times), and for each stream its
        declared share, from weights and documents, and the real one, in tokens.
    """
    settings, deal = layout.settings, layout.deal
    width = settings.block + 1
    read_rows = sum(deal.rows_per_rank)
    read_tokens = sum(real_tokens(layout.plan_of(rank), deal, rank) for rank in range(settings.world_size))
    packed_tokens = sum(layout.plan_of(number).real_tokens for number in range(layout.num_plans))
    times, documents = np.unique(multiplicity, return_counts=True)
    return {
        "documents": len(layout.documents),
        "rows": sum(deal.packed_rows),
        "rows_per_rank": list(deal.rows_per_rank),
        "rows_dropped": deal.num_dropped_rows,
        "rows_padded": deal.num_padded_rows,
        "tokens": packed_tokens,
        "tokens_dropped": packed_tokens - read_tokens,
        "padding": read_rows * width - read_tokens,
        "packing_efficiency": read_tokens / (read_rows * width) if read_rows else 1.0,
        "trainable_targets": trainable,
        "multiplicities": dict(zip(map(str, times.tolist()), documents.tolist(), strict=True)),
        "streams": _shares(layout, sources, streams, multiplicity),
    }


def _shares(
    layout: EpochLayout,
    sources: DocSources,
    streams: Sequence[PoolStream],
    multiplicity: NDArray[np.int64],
) -> list[dict[str, Any]]:
    boundary = int(layout.settings.has_boundary)
    rows: list[dict[str, Any]] = []
    for number, stream in enumerate(streams):
        part = slice(*sources.stream_starts[number : number + 2].tolist())
        lengths, times = sources.lengths[part], multiplicity[part]
        own_tokens = int(lengths.sum()) + len(lengths) * boundary
        rows.append(
            {
                "name": stream.name,
                "weight": stream.weight,
                "documents": stream.num_documents,
                "entries": int(times.sum()),
                "tokens": int(np.dot(lengths, times)) + int(times.sum()) * boundary,
                "declared": stream.weight * own_tokens,
            }
        )
    declared, real = sum(row["declared"] for row in rows), sum(row["tokens"] for row in rows)
    for row in rows:
        row["declared_share"] = row.pop("declared") / declared if declared else 0.0
        row["real_share"] = row["tokens"] / real if real else 0.0
    return rows
