"""``StreamingCorpus``: batches for one rank, the same on every machine, from any place in any epoch.

A drop-in for mixle 0.8.2 over any sequence of documents; over a stored corpus it reads rows by memory map.
Where rows come from is the business of ``sequences`` and ``corpus``; this module keeps the position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.arguments import non_negative, optional_token_id, positive, rank_of, token_id
from mixle_assets.packing.corpus import Corpus
from mixle_assets.packing.order import SequenceSelector, shard_documents_for_rank
from mixle_assets.packing.position import (
    Position,
    Step,
    decode_position,
    encode_position,
    find_steps,
    position_behind,
)
from mixle_assets.packing.reader_arguments import UNSET, check_reader, reader_arguments
from mixle_assets.packing.segments import SegmentedBatch, segmented_batch
from mixle_assets.packing.selectors import CheckedSelector, RecipeSelector
from mixle_assets.packing.sequences import open_sequence, sequence_digest, sequence_order
from mixle_assets.packing.settings import PackingSettings, check_settings
from mixle_assets.packing.strict import StrictDocuments, check_strictly
from mixle_assets.packing.views import Batch, Item, RankRows, batch_of
from mixle_assets.records import Segment


class StreamingCorpus:
    """Batches of packed rows for one rank.

    ``documents`` is any sequence of 1-D token ids, or what ``load_corpus`` returns. Over a stored corpus
    every setting but ``rank`` defaults to the corpus's own; where all of them are its own, its rows are read,
    and otherwise made from its doc arrays.

    Args:
        documents: What is packed. Nothing of it is read before the first batch.
        rank: Which reader this is, from 0.
        world_size: How many readers share the corpus.
        block: Targets in a row, in tokens.
        batch_size: Rows in a batch; the last batch of an epoch may be short and is delivered.
        seed: Decides the order, with the epoch.
        pad_id: Fills the tail of the last row.
        boundary_id: Written after each document; None for none.
        sequence_selector: Curriculum hook, see ``global_document_order``.
        order: ``mixle`` or ``separated``.
        residency: ``documents``: each rank packs its own documents, as mixle does. ``rows``: one packing,
            whose rows are dealt; the same rows whatever the world size.
        equalize: ``drop`` or ``pad``: every rank gets equally many batches.
        strategy: ``concatenate``, or ``best_fit`` to cut only documents longer than a row.
        strict: Refuse what mixle takes in silence: negative ids, flags among ids, a selector's wrong result
            (the module ``strict`` says what).
        vocab_size: With ``strict``: ids must be below it.

    Attributes:
        last_packing_efficiency: Share of real tokens in the rank's rows of the epoch last begun; None before.

    Raises:
        TypeError: A number is not one.
        ValueError: A number is out of range; the message begins with its name.
    """

    def __init__(
        self,
        documents: Any,
        *,
        rank: int,
        world_size: int = UNSET,
        block: int = UNSET,
        batch_size: int = UNSET,
        seed: int = UNSET,
        pad_id: int = UNSET,
        boundary_id: int | None = UNSET,
        sequence_selector: SequenceSelector | None = UNSET,
        order: str = UNSET,
        residency: str = UNSET,
        equalize: str = UNSET,
        strategy: str = UNSET,
        strict: bool = False,
        vocab_size: int | None = None,
    ) -> None:
        values = reader_arguments(
            documents,
            world_size=world_size,
            block=block,
            batch_size=batch_size,
            seed=seed,
            pad_id=pad_id,
            boundary_id=boundary_id,
            sequence_selector=sequence_selector,
            order=order,
            residency=residency,
            equalize=equalize,
            strategy=strategy,
        )
        self.documents = documents
        self.rank, self.world_size = rank_of(rank, values["world_size"])
        self.block = positive("block", values["block"])
        self.batch_size = positive("batch_size", values["batch_size"])
        self.seed = non_negative("seed", values["seed"])
        self.pad_id = token_id("pad_id", values["pad_id"])
        self.boundary_id = optional_token_id("boundary_id", values["boundary_id"])
        self.sequence_selector: SequenceSelector | None = values["sequence_selector"]
        self.order: str = values["order"]
        self.residency: str = values["residency"]
        self.equalize: str = values["equalize"]
        self.strategy: str = values["strategy"]
        self.last_packing_efficiency: float | None = None
        self._position = Position(epoch=0, rows=0, finished=False)
        self._loaded: Position | None = None
        self._opened: tuple[Any, RankRows] | None = None
        check_settings(**self._settings_values())
        self.strict = strict
        self.vocab_size = vocab_size
        if strict:
            check_strictly(self.settings, vocab_size)
            check_reader(documents, self.sequence_selector)

    @property
    def settings(self) -> PackingSettings:
        """The settings that decide which token stands where."""
        return PackingSettings(**self._settings_values())

    def _settings_values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(PackingSettings)}

    def rank_document_indices(self, epoch: int) -> NDArray[Any]:
        """Return which documents this rank packs in an epoch, in order.

        With residency ``rows`` these are all documents, since every rank reads rows of one packing.
        """
        if isinstance(self.documents, Corpus):
            order = self.documents.order(self.settings, epoch, self._selector())
        else:
            order = sequence_order(self._sequence(), self.settings, epoch, self._selector())
        if self.residency == "rows":
            return np.asarray(order)
        return shard_documents_for_rank(order, self.rank, self.world_size)

    def epoch_batches(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch: ``(context, targets, loss_mask)``, each of shape (b, block).

        Nothing is read before the first batch is asked for. After ``load_state_dict`` the loaded epoch goes
        on where it was.

        Raises:
            ValueError: A position was loaded and this is another epoch while that one is not finished.
        """
        for rows, step in self._read_on(epoch):
            yield batch_of(*rows.read(step.start, step.stop))

    def epoch_segmented_batches(self, epoch: int) -> Iterator[SegmentedBatch]:
        """Yield the same batches with the documents in them, see ``segments.SegmentArrays``."""
        for rows, step in self._read_on(epoch):
            batch = batch_of(*rows.read(step.start, step.stop))
            yield segmented_batch(batch, rows.segments(step.start, step.stop))

    def batches(self, epochs: int) -> Iterator[Batch]:
        """Yield all batches from the position on to the end of epoch ``epochs - 1``."""
        while self.epoch < non_negative("epochs", epochs):
            self._loaded = self._position
            yield from self.epoch_batches(self.epoch)

    def items(self, epochs: int, *, worker: int = 0, num_workers: int = 1) -> Iterator[Item]:
        """Yield every ``num_workers``-th batch from the position on, with its place; moves nothing.

        For readers in other processes: worker ``w`` of ``n`` takes batches w, w + n, w + 2n and so on,
        counted through all epochs from the position, so workers that take turns are as one reader. Each item
        brings the position behind it; the ``state`` of the last one consumed is what to save.
        """
        worker, num_workers = rank_of(worker, num_workers)
        here, number, identity = self._position, 0, self._identity()
        for epoch in range(here.epoch, non_negative("epochs", epochs)):
            first = here.rows if epoch == here.epoch else 0
            for rows, step in self._steps(epoch, first):
                if number % num_workers == worker:
                    batch = batch_of(*rows.read(step.start, step.stop))
                    yield Item(batch, epoch, encode_position(step.position, self.settings, identity))
                number += 1

    def _read_on(self, epoch: int) -> Iterator[tuple[RankRows, Step]]:
        """Yield rows and where in them the next batch lies; the position moves first."""
        first = self._first_rows(non_negative("epoch", epoch))
        epoch = int(epoch)
        reached = first
        for rows, step in self._steps(epoch, first, anew=True):
            self.last_packing_efficiency = rows.real_tokens / (rows.num_rows * (self.block + 1))
            # Before the batch is handed out: who holds a batch has consumed it.
            self._position = step.position
            yield rows, step
            reached = step.position.rows
        if reached == first:
            self.last_packing_efficiency = 1.0
        self._position = Position(epoch, reached, finished=True)

    def _steps(self, epoch: int, first: int, *, anew: bool = False) -> Iterator[tuple[RankRows, Step]]:
        elastic = self.residency == "rows"
        rows = self._open(epoch, first if elastic else 0, anew=anew)
        if self.equalize == "drop" and not first and not rows.num_rows and any(rows.deal.packed_rows):
            raise ValueError(
                f"equalize 'drop' leaves nothing of epoch {epoch}: {sum(rows.deal.packed_rows)} rows for "
                f"{self.world_size} ranks; use 'pad', fewer ranks or a smaller block"
            )
        for step in find_steps(
            rows, epoch, first, elastic=elastic, world_size=self.world_size, batch_size=self.batch_size
        ):
            yield rows, step

    def batch(self, epoch: int, step: int) -> Batch:
        """Return batch ``step`` of an epoch, counted from the epoch's begin; leaves the position alone.

        Raises:
            IndexError: The epoch has no such batch on this rank.
        """
        rows = self._open(epoch, 0)
        start, stop = self._rows_of_step(rows, epoch, step)
        return batch_of(*rows.read(start, stop))

    def segments(self, epoch: int, step: int) -> list[list[Segment]]:
        """Return for each row of a batch which documents it consists of; see ``RowPlan.segments``."""
        rows = self._open(epoch, 0)
        return rows.segments(*self._rows_of_step(rows, epoch, step))

    def num_batches(self, epoch: int) -> int:
        """Return how many batches this rank gets in an epoch."""
        return -(-self.num_rows(epoch) // self.batch_size)

    def num_rows(self, epoch: int) -> int:
        """Return how many rows this rank reads in an epoch."""
        return self._open(epoch, 0).num_rows

    def state_dict(self) -> dict[str, Any]:
        """Return the position behind the batch handed out last, as plain JSON; the same on every rank.

        ``rows`` counts rows of the whole epoch with residency ``rows``, and rows of each rank otherwise.
        """
        return encode_position(self._position, self.settings, self._identity())

    def state_at(self, epoch: int, step: int) -> dict[str, Any]:
        """Return the position behind batch ``step`` of an epoch, for readers that run ahead elsewhere.

        ``step`` -1 is the begin of the epoch.
        """
        rows = self._open(epoch, 0)
        if step >= 0:
            self._rows_of_step(rows, epoch, step)
        position = position_behind(
            rows,
            epoch,
            (step + 1) * self.batch_size,
            0,
            elastic=self.residency == "rows",
            world_size=self.world_size,
        )
        return encode_position(position, self.settings, self._identity())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a position was saved; takes effect at the next ``epoch_batches`` of its epoch.

        The batch size may be another; so may the world size with residency ``rows``.

        Raises:
            ValueError: The position belongs to another corpus or other settings; each difference is named.
        """
        self._position = self._loaded = decode_position(state, self.settings, self._identity())

    @property
    def epoch(self) -> int:
        """The epoch to go on with: that of the position, or the next if it is finished."""
        return self._position.epoch + self._position.finished

    def __getstate__(self) -> dict[str, Any]:
        # Opened rows hold maps of files, which another process must open itself.
        return {**self.__dict__, "_opened": None}

    def _first_rows(self, epoch: int) -> int:
        loaded, self._loaded = self._loaded, None
        if loaded is None or (loaded.finished and epoch > loaded.epoch):
            return 0
        if epoch != loaded.epoch:
            self._loaded = loaded
            raise ValueError(
                f"epoch {epoch} asked for, but the position loaded is row {loaded.rows} of epoch "
                f"{loaded.epoch}; go on with epoch_batches({loaded.epoch})"
            )
        return loaded.rows

    def _rows_of_step(self, rows: RankRows, epoch: int, step: int) -> tuple[int, int]:
        number = -(-rows.num_rows // self.batch_size)
        if not 0 <= non_negative("step", step) < number:
            raise IndexError(f"step {step} of epoch {epoch}: rank {self.rank} has {number} batches")
        return step * self.batch_size, min((step + 1) * self.batch_size, rows.num_rows)

    def _open(self, epoch: Any, first_row: int, *, anew: bool = False) -> RankRows:
        key = (epoch, first_row, self.rank, self.settings, self.sequence_selector, id(self.documents))
        if (
            self._opened is None
            or self._opened[0] != key
            or (anew and not isinstance(self.documents, Corpus))
        ):
            if isinstance(self.documents, Corpus):
                opened = self.documents.open_rows(
                    self.settings, epoch, self._selector(), self.rank, first_row
                )
            else:
                opened = open_sequence(
                    self._sequence(), self.settings, epoch, self._selector(), self.rank, first_row
                )
            self._opened = (key, opened)
        return self._opened[1]

    def _sequence(self) -> Any:
        return StrictDocuments(self.documents, self.vocab_size) if self.strict else self.documents

    def _selector(self) -> Any:
        """The selector, its results checked where that is asked for."""
        selector = self.sequence_selector
        if not self.strict or selector is None or isinstance(selector, RecipeSelector | CheckedSelector):
            return selector
        return CheckedSelector(selector)

    def _identity(self) -> str:
        if isinstance(self.documents, Corpus):
            return self.documents.digest
        return sequence_digest(self.documents)
