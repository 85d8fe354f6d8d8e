"""Documents held as a plain sequence, made into rows: read once, checked, kept as one array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.manifest import digest_of, hash_bytes
from mixle_assets.packing.layout import EpochLayout
from mixle_assets.packing.order import ORDERS, SequenceSelector, shard_documents_for_rank
from mixle_assets.packing.rows import document_tokens
from mixle_assets.packing.settings import PackingSettings
from mixle_assets.packing.token_source import source_in_memory
from mixle_assets.packing.views import PlannedRows

SAMPLED_DOCUMENTS = 64


def sequence_order(
    documents: Any, settings: PackingSettings, epoch: Any, selector: SequenceSelector | None
) -> NDArray[Any]:
    """Return the order of the documents of all ranks."""
    return ORDERS[settings.order](len(documents), seed=settings.seed, epoch=epoch, sequence_selector=selector)


def open_sequence(
    documents: Any,
    settings: PackingSettings,
    epoch: Any,
    selector: SequenceSelector | None,
    rank: int,
    first_row: int,
) -> PlannedRows:
    """Read what a rank needs of the documents and plan its rows of an epoch.

    With residency ``documents`` and ranks that need not be equal, a rank reads its own documents only.

    Raises:
        TypeError: A document holds something else than numbers.
        ValueError: A token is not whole or does not fit 64 bits; a document is not 1-D.
    """
    order = sequence_order(documents, settings, epoch, selector)
    alone = settings.residency == "documents" and settings.equalize == "none"
    indices = shard_documents_for_rank(order, rank, settings.world_size) if alone else order
    # Numbers of their own for the documents in the order they are read: an index may be repeated, negative,
    # or no number at all where the sequence is a dict.
    tokens = [document_tokens(documents, index) for index in indices]
    source = source_in_memory(tokens)
    if alone:
        settings, rank = replace(settings, world_size=1), 0
    layout = EpochLayout(settings, np.arange(len(tokens)), source.lengths)
    return PlannedRows(
        layout.plan_of(rank),
        layout.deal_from(first_row),
        rank,
        lambda: source,
        settings.boundary_id,
        settings.pad_id,
        names=indices,
    )


def sequence_digest(documents: Any) -> str:
    """Return what tells one sequence from another: its length, and 64 of its documents spread over it.

    A sample, since a digest of everything would read every document on every rank.
    """
    number = len(documents)
    positions = sorted({round(part) for part in np.linspace(0, max(0, number - 1), SAMPLED_DOCUMENTS)})
    sampled = [hash_bytes(document_tokens(documents, at).tobytes()) for at in positions if at < number]
    return digest_of(["sequence", number, sampled])
