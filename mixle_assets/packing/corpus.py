"""A packed corpus opened for reading: its documents, its stored epochs, and any epoch that is not stored.

Opening reads ``corpus.json`` and nothing else. Rows of a stored epoch are read by memory map and need no doc
arrays; other settings, or an epoch beyond those that were built, are planned from the doc arrays' lengths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.packed_rows import open_array
from mixle_assets.packing.arguments import non_negative
from mixle_assets.packing.curricula import PoolFacts
from mixle_assets.packing.dealing import Deal, deal_documents, deal_rows
from mixle_assets.packing.description import (
    FILE_NAME,
    resolved_path,
)
from mixle_assets.packing.doc_sources import DocSources
from mixle_assets.packing.layout import EpochLayout, order_documents
from mixle_assets.packing.order import SequenceSelector
from mixle_assets.packing.plan import RowPlan
from mixle_assets.packing.plan_files import SCORES
from mixle_assets.packing.pool import PoolStream, pool_documents
from mixle_assets.packing.selectors import RecipeSelector, recipe_selector
from mixle_assets.packing.settings import PackingSettings
from mixle_assets.packing.stored_rows import StoredEpoch, StoredRows
from mixle_assets.packing.views import PlannedRows, RankRows
from mixle_assets.records import DocumentId

_EPOCH_FOLDER = re.compile(r"\d{4,}")


def load_corpus(path: str) -> Corpus:
    """Open a packed corpus, lazily.

    Args:
        path: The folder of a recipe's corpus (``<root>/<recipe>``), its ``packed_epoch`` folder, or that of
            one epoch.

    Returns:
        The corpus, to be handed to ``StreamingCorpus``.

    Raises:
        InputError: No finished packed epoch is there, or the epochs are not of one corpus.
    """
    path = str(path).rstrip("/") or "/"
    if storage.exists(storage.join(path, FILE_NAME)):
        return Corpus([StoredEpoch(path)])
    for folder in (storage.join(path, "packed_epoch"), path):
        found = [
            name.rpartition("/")[0]
            for name in storage.find_files(storage.join(folder, "*", FILE_NAME))
            if _EPOCH_FOLDER.fullmatch(name.split("/")[-2])
        ]
        if found:
            return Corpus([StoredEpoch(name) for name in found])
    raise InputError(
        "holds no packed epoch: expected packed_epoch/0000/corpus.json below it (build the recipe first)",
        path=path,
    )


class Corpus(Sequence[NDArray[Any]]):
    """The documents of a packed corpus, and its epochs.

    ``corpus[i]`` are the token ids of document ``i``, a view of the doc arrays; documents count through the
    streams in the order of the recipe, each once, whatever its weight.

    Attributes:
        epochs: The stored epochs, by number.
        description: That of the first stored epoch.
    """

    def __init__(self, epochs: Sequence[StoredEpoch]) -> None:
        self.epochs = {epoch.description.epoch: epoch for epoch in epochs}
        self._first = epochs[0]
        self.description = self._first.description
        for epoch in epochs[1:]:
            there = epoch.description
            differences = self.settings.differences(there.settings)
            if there.digest != self.digest:
                differences.insert(0, f"the corpus is {self.digest} here, {there.digest} there")
            if differences:
                raise InputError(
                    f"is not of the corpus in {self._first.folder}: {'; '.join(differences)}",
                    path=epoch.folder,
                )

    @property
    def settings(self) -> PackingSettings:
        """The settings its epochs were built with."""
        return self.description.settings

    @property
    def digest(self) -> str:
        """Digest of documents, weights and boundary; the same for all its epochs, on any machine."""
        return self.description.digest

    @property
    def boundary_id(self) -> int | None:
        """The token that follows each document."""
        return self.settings.boundary_id

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of tokens and stored rows."""
        return np.dtype(self.description.dtype)

    def defaults(self) -> dict[str, Any]:
        """Return what ``StreamingCorpus`` uses where nothing is given."""
        return {
            **self.settings.plain(),
            "batch_size": self.description.batch_size,
            "sequence_selector": self.selector,
        }

    @cached_property
    def selector(self) -> RecipeSelector | None:
        """The curriculum hook of the recipe."""
        return recipe_selector(self.description.selector)

    @cached_property
    def sources(self) -> DocSources:
        """The doc arrays."""
        return DocSources(
            [
                [resolved_path(part.path, self._first.folder) for part in stream.doc_arrays]
                for stream in self.description.streams
            ],
            self.description.dtype,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process opens the files itself.
        return _reopen, ([epoch.folder for epoch in self.epochs.values()],)

    def __len__(self) -> int:
        return self.description.num_documents

    @overload
    def __getitem__(self, index: int) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[NDArray[Any]]: ...

    def __getitem__(self, index: int | slice) -> NDArray[Any] | list[NDArray[Any]]:
        if isinstance(index, slice):
            return [self.sources.document(row) for row in range(len(self))[index]]
        return self.sources.document(range(len(self))[index])

    def id(self, document: int) -> DocumentId:
        """Return the id of a document, its JSON type kept."""
        return self.sources.id(document)

    def provenance(self, document: int) -> str:
        """Return where a document came from, ``<file>:<line>``."""
        return self.sources.provenance(document)

    def stream(self, document: int) -> str:
        """Return the name of a document's stream."""
        self.sources.place(document)
        return self.description.streams[int(self.sources.stream_of(np.array([document]))[0])].name

    @property
    def pool_streams(self) -> list[PoolStream]:
        """The streams as sources of the pool."""
        return [
            PoolStream(stream.name, stream.num_documents, stream.weight, stream.resample)
            for stream in self.description.streams
        ]

    def pool(self, epoch: int) -> NDArray[Any] | None:
        """Return the documents of an epoch before they are put in order; None: each document once.

        See ``pool.pool_documents``.
        """
        return pool_documents(self.pool_streams, self.sources.ids, seed=self.settings.seed, epoch=epoch)

    def order(
        self, settings: PackingSettings, epoch: int, selector: RecipeSelector | SequenceSelector | None
    ) -> NDArray[Any]:
        """Return the document numbers of an epoch in order, all ranks."""
        stored = self._stored(settings, epoch, selector, ("order", "seed"))
        if stored is not None:
            return stored.documents
        return self._order(settings, epoch, selector)

    def fresh_order(self, epoch: int) -> NDArray[Any]:
        """Return the order of an epoch worked out anew, whether or not one is stored."""
        return self._order(self.settings, epoch, self.selector)

    def open_rows(
        self,
        settings: PackingSettings,
        epoch: Any,
        selector: RecipeSelector | SequenceSelector | None,
        rank: int,
        first_row: int,
    ) -> RankRows:
        """Return the rows of a rank in an epoch: stored ones where these settings were built.

        Args:
            settings: How to pack.
            epoch: Which pass.
            selector: Curriculum hook.
            rank: Which rank.
            first_row: Residency ``rows``: row of the epoch to begin with.
        """
        epoch = non_negative("epoch", epoch)
        rows_dealt = settings.residency == "rows"
        decisive = ["order", "seed", "block", "pad_id", "boundary_id", "strategy", "residency"]
        if not rows_dealt:
            decisive += ["world_size"]
        stored = self._stored(settings, epoch, selector, tuple(decisive))
        if stored is None:
            documents = self._order(settings, epoch, selector)
            layout = EpochLayout(settings, documents, self.sources.lengths)
            return self._gathered(layout.plan_of(rank), layout.deal_from(first_row), settings, rank)
        if rows_dealt:
            deal = deal_rows(stored.description.num_rows, settings.world_size, settings.equalize, first_row)
        else:
            deal = deal_documents(stored.description.packed_rows, settings.equalize)
        return StoredRows(stored, deal, rank, lambda: self._gathered(stored.plan(rank), deal, settings, rank))

    def _order(
        self, settings: PackingSettings, epoch: int, selector: RecipeSelector | SequenceSelector | None
    ) -> NDArray[Any]:
        return order_documents(settings, self.pool(epoch), len(self), epoch, selector, self.facts)

    def facts(self, pool: NDArray[Any] | None) -> PoolFacts:
        """Return what a curriculum looks at."""
        path = storage.join(self._first.folder, SCORES)
        needs_scores = self.selector is not None and self.selector.attribute is not None
        scores = open_array(path, dtype=np.float64, ndim=1) if needs_scores else None
        return self.sources.facts(pool, [stream.name for stream in self.description.streams], scores)

    def _gathered(self, plan: RowPlan, deal: Deal, settings: PackingSettings, rank: int) -> PlannedRows:
        return PlannedRows(
            plan, deal, rank, lambda: self.sources.tokens, settings.boundary_id, settings.pad_id
        )

    def _stored(
        self,
        settings: PackingSettings,
        epoch: int,
        selector: RecipeSelector | SequenceSelector | None,
        decisive: tuple[str, ...],
    ) -> StoredEpoch | None:
        stored = self.epochs.get(epoch)
        if stored is None or selector != self.selector:
            return None
        built = stored.description.settings
        same = all(getattr(settings, name) == getattr(built, name) for name in decisive)
        return stored if same else None


def _reopen(folders: list[str]) -> Corpus:
    return Corpus([StoredEpoch(folder) for folder in folders])
