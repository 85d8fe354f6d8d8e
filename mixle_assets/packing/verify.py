"""What a packed epoch guarantees, checked against the documents it was made of.

Each function takes the task that made the epoch, or only the epoch's folder, and yields what is broken.
Nothing is believed that the stage wrote of itself: lengths and ids come from the doc arrays, weights and
settings from the task (from ``corpus.json`` where there is only a folder). Memory is bounded by the plan and
one window of rows. No exception is caught: a bug here looks like a bug.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.formats.packed_rows import StoredFile, hash_file
from mixle_assets.packing.corpus import Corpus
from mixle_assets.packing.description import FILE_NAME, rank_file
from mixle_assets.packing.doc_sources import DocSources
from mixle_assets.packing.epoch import PackTask
from mixle_assets.packing.gather import gather_rows
from mixle_assets.packing.plan import CHUNK, RowPlan, line_offsets
from mixle_assets.packing.pool import multiplicities
from mixle_assets.packing.rows import pack_documents
from mixle_assets.packing.stored_rows import StoredEpoch
from mixle_assets.records import Violation

WINDOW_IN_CELLS = 2**22
SAMPLED_ROWS = 64


def find_loss_mask_errors(packed: PackTask | str) -> Iterator[Violation]:
    """A target is trained on if, and only if, it is a real token.

    How many cells of each row are real is worked out anew from the lengths of the documents; the stored
    number must be that, and every cell behind it must hold the pad id.
    """
    declared, epoch = _open(packed)
    settings, width = declared.settings, declared.settings.block + 1
    for rank in range(settings.world_size):
        name = rank_file(rank, settings.world_size)
        real = _real_cells(declared, epoch, rank)
        stored = np.asarray(epoch.row_lengths(rank), np.int64)
        if len(stored) != len(real):
            yield Violation(name, f"masks for {len(real)} rows", f"masks for {len(stored)} rows")
            continue
        for row in np.flatnonzero(stored != real).tolist():
            yield Violation(
                f"{name} row {row}",
                f"{max(0, int(real[row]) - 1)} of {settings.block} targets trained on",
                f"{max(0, int(stored[row]) - 1)}",
            )
        if not epoch.has_rows:
            continue
        rows = epoch.rows(rank)
        for row in np.flatnonzero(real < width).tolist():
            padding = rows[row, real[row] :]
            if (padding != settings.pad_id).any():
                found = padding[padding != settings.pad_id][0]
                yield Violation(f"{name} row {row}", f"padding {settings.pad_id}", f"token {found}")


def find_rank_overlaps(packed: PackTask | str) -> Iterator[Violation]:
    """The ranks share what the epoch holds: nothing twice, nothing left out, but for declared equal steps.

    Documents are counted over the plans of all ranks and compared with the order; the files of the ranks must
    be as long as the deal says, and hold their own rows (a sample of 64 rows of each is compared).
    """
    declared, epoch = _open(packed)
    description, settings = epoch.description, epoch.description.settings
    num_plans = settings.world_size if settings.residency == "documents" else 1
    begun = np.zeros(len(declared), np.int64)
    packed_rows = []
    for number in range(num_plans):
        plan = epoch.plan(number)
        packed_rows.append(plan.num_rows)
        whole = plan.documents if plan.skips is None else plan.documents[plan.skips == 0]
        begun += multiplicities(whole, len(declared))
    expected = multiplicities(epoch.documents, len(declared))
    if settings.strategy == "best_fit" and not settings.has_boundary:
        expected[declared.sources.lengths == 0] = 0  # an empty document without boundary is in no row
    for document in np.flatnonzero(begun != expected).tolist():
        yield Violation(
            f"document {document}",
            f"{int(expected[document])} times on all ranks",
            f"{int(begun[document])} times",
        )

    deal = epoch.deal
    if settings.residency == "documents" and tuple(packed_rows) != description.packed_rows:
        yield Violation(FILE_NAME, f"rows of ranks {packed_rows}", f"{list(description.packed_rows)}")
    if settings.residency == "rows" and packed_rows[0] != description.num_rows:
        yield Violation(FILE_NAME, f"{packed_rows[0]} rows", f"{description.num_rows} rows")
    if deal.rows_per_rank != description.rows_per_rank:
        yield Violation(
            FILE_NAME, f"rows per rank {list(deal.rows_per_rank)}", f"{list(description.rows_per_rank)}"
        )
    if epoch.has_rows:
        for rank in range(settings.world_size):
            num_rows = description.rows_per_rank[rank]
            sample = np.unique(np.linspace(0, max(0, num_rows - 1), SAMPLED_ROWS).astype(np.int64))
            yield from _different_rows(declared, epoch, rank, sample[:num_rows])


def find_packing_losses(packed: PackTask | str) -> Iterator[Violation]:
    """Each document is packed as often as its weight says, whole, token for token.

    How often is drawn anew from weights and ids; a selector may leave documents out or repeat them, but then
    the order must hold what it returned. Every stored row is compared with the documents.
    """
    declared, epoch = _open(packed)
    settings = epoch.description.settings
    for difference in declared.settings.differences(settings):
        yield Violation(FILE_NAME, difference.replace(" here, ", " declared, "), "another setting")
    wanted = multiplicities(declared.order(), len(declared))
    found = multiplicities(epoch.documents, len(declared))
    for document in np.flatnonzero(wanted != found).tolist():
        yield Violation(
            f"document {document} ({declared.sources.provenance(document)})",
            f"{int(wanted[document])} times in the epoch",
            f"{int(found[document])} times",
        )
    num_plans = settings.world_size if settings.residency == "documents" else 1
    for number in range(num_plans):
        plan = epoch.plan(number)
        own = epoch.documents[number::num_plans]
        expected = int(line_offsets(own, declared.sources.lengths, settings.has_boundary)[-1])
        if plan.real_tokens != expected:
            yield Violation(f"plan {number}", f"{expected} tokens", f"{plan.real_tokens} tokens")
    if epoch.has_rows:
        for rank in range(settings.world_size):
            yield from _different_rows(
                declared, epoch, rank, np.arange(epoch.description.rows_per_rank[rank])
            )


def find_streaming_differences(packed: PackTask | str) -> Iterator[Violation]:
    """The rows are exactly what ``pack_documents`` makes of the same documents, in the order of mixle.

    Only for ``strategy: concatenate``, ``residency: documents`` and ``order: mixle``; for others there is
    nothing that mixle would give. Documents are packed a window at a time, so a shard need not fit in memory.
    """
    declared, epoch = _open(packed)
    description, settings = epoch.description, epoch.description.settings
    if (settings.strategy, settings.residency, settings.order) != ("concatenate", "documents", "mixle"):
        return
    if not epoch.has_rows:
        return
    order = declared.order()
    width = settings.block + 1
    for rank in range(settings.world_size):
        name = rank_file(rank, settings.world_size)
        kept = min(description.rows_per_rank[rank], description.packed_rows[rank])
        line = epoch.rows(rank)[:kept].reshape(-1)
        at = 0
        for documents in _windows(order[rank :: settings.world_size], declared):
            corpus = pack_documents(
                declared,
                documents.tolist(),
                settings.block,
                pad_id=settings.pad_id,
                boundary_id=settings.boundary_id,
            )
            tokens = corpus.rows.reshape(-1)[: corpus.real_tokens]
            stored = line[at : at + len(tokens)]
            tokens = tokens[: len(stored)]
            if (stored != tokens).any():
                cell = int(np.flatnonzero(stored != tokens)[0])
                row, column = divmod(at + cell, width)
                yield Violation(
                    f"{name} row {row} cell {column}",
                    f"token {int(tokens[cell])}",
                    f"token {int(stored[cell])}",
                )
                break
            at += corpus.real_tokens
        else:
            rows = -(-at // width)
            if rows != description.packed_rows[rank]:
                yield Violation(name, f"{rows} rows packed", f"{description.packed_rows[rank]}")
            if (line[at:] != settings.pad_id).any():
                yield Violation(name, f"padding {settings.pad_id} behind token {at}", "something else")


def find_broken_files(packed: PackTask | str) -> Iterator[Violation]:
    """Every file of the epoch holds the bytes that were written: a flipped bit is found and named."""
    folder = packed if isinstance(packed, str) else packed.output
    description = StoredEpoch(folder).description
    for name, expected in sorted(description.files.items()):
        path = storage.join(folder, name)
        if not storage.exists(path):
            yield Violation(name, f"{expected.size_in_bytes} bytes", "no file")
            continue
        found = hash_file(path)
        if found != expected:
            yield Violation(
                name,
                f"{expected.size_in_bytes} bytes with hash {expected.hash}",
                f"{found.size_in_bytes} bytes with hash {found.hash}",
            )
    for name in storage.list_folder(folder):
        if name not in description.files and name != FILE_NAME:
            yield Violation(name, "no such file", "a file that the epoch does not know")


def stored_files(folder: str) -> dict[str, StoredFile]:
    """Return hash and size of all files of an epoch, read from disk; see ``epoch.hash_of_files``."""
    return {name: hash_file(storage.join(folder, name)) for name in storage.list_folder(folder)}


class _Declared:
    """What an epoch should be: documents, settings and weights, as declared."""

    def __init__(self, packed: PackTask | str, epoch: StoredEpoch) -> None:
        self._packed = packed
        self._corpus = Corpus([epoch])
        if isinstance(packed, str):
            self.settings, self.sources = self._corpus.settings, self._corpus.sources
            self.epoch = epoch.description.epoch
        else:
            self.settings, self.epoch = packed.settings, packed.epoch
            self.sources = DocSources([stream.doc_arrays for stream in packed.streams], packed.dtype)

    def __len__(self) -> int:
        return self.sources.num_documents

    def __getitem__(self, document: int) -> NDArray[Any]:
        return self.sources.document(document)

    @property
    def num_plans(self) -> int:
        return self.settings.world_size if self.settings.residency == "documents" else 1

    def order(self) -> NDArray[Any]:
        if isinstance(self._packed, PackTask):
            return self._packed.order(self.sources, self._packed.scores(self.sources))
        return self._corpus.fresh_order(self.epoch)


def _open(packed: PackTask | str) -> tuple[_Declared, StoredEpoch]:
    epoch = StoredEpoch(packed if isinstance(packed, str) else packed.output)
    return _Declared(packed, epoch), epoch


def _real_cells(declared: _Declared, epoch: StoredEpoch, rank: int) -> NDArray[np.int64]:
    """Work out from the documents' lengths how many cells of each row of a rank are real."""
    settings, width = epoch.description.settings, epoch.description.settings.block + 1
    num_plans = settings.world_size if settings.residency == "documents" else 1
    if settings.strategy == "concatenate":
        own = epoch.documents[rank % num_plans :: num_plans]
        line = int(line_offsets(own, declared.sources.lengths, settings.has_boundary)[-1])
        cells = np.clip(line - np.arange(-(-line // width)) * width, 0, width)
    else:
        plan = epoch.plan(rank)
        sizes = _piece_sizes(plan, declared.sources.lengths)
        cells = np.bincount(plan.begins // width, weights=sizes, minlength=plan.num_rows).astype(np.int64)
    numbers = epoch.deal.rows_of(rank, 0, epoch.description.rows_per_rank[rank])
    return np.where(numbers >= 0, cells[numbers] if len(cells) else 0, 0)


def _piece_sizes(plan: RowPlan, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    sizes: NDArray[np.int64] = lengths[plan.documents] + plan.has_boundary
    if plan.skips is not None:
        sizes = np.minimum(sizes - plan.skips, plan.block + 1)
    return sizes


def _different_rows(
    declared: _Declared, epoch: StoredEpoch, rank: int, places: NDArray[np.int64]
) -> Iterator[Violation]:
    """Compare rows in a rank's file with the documents they should hold."""
    settings = epoch.description.settings
    plan, rows, deal = epoch.plan(rank), epoch.rows(rank), epoch.deal
    window = max(1, WINDOW_IN_CELLS // (settings.block + 1))
    for at in range(0, len(places), window):
        part = places[at : at + window]
        numbers = deal.rows_at(rank, part)
        expected = gather_rows(
            plan, declared.sources.tokens, numbers, boundary_id=settings.boundary_id, pad_id=settings.pad_id
        )
        for number in np.flatnonzero((rows[part] != expected).any(axis=1)).tolist():
            place = int(part[number])
            cell = int(np.flatnonzero(rows[place] != expected[number])[0])
            yield Violation(
                f"{rank_file(rank, settings.world_size)} row {place} cell {cell}",
                f"token {int(expected[number, cell])}",
                f"token {int(rows[place, cell])}",
            )


def _windows(documents: NDArray[Any], declared: _Declared) -> Iterator[NDArray[Any]]:
    """Cut a list of documents so that each part has few tokens, or is one document."""
    for at in range(0, len(documents), CHUNK):
        chunk = documents[at : at + CHUNK]
        ends = np.cumsum(declared.sources.lengths[chunk] + 1)
        first = 0
        while first < len(chunk):
            reached = (int(ends[first - 1]) if first else 0) + WINDOW_IN_CELLS
            stop = max(first + 1, int(np.searchsorted(ends, reached, side="right")))
            yield chunk[first:stop]
            first = stop
