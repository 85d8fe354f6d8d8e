"""The stage: one epoch packed, its order, plan and rows written, and everything counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.formats.packed_rows import StoredFile, write_array, write_pieces
from mixle_assets.manifest import digest_of, hash_bytes, new_hasher
from mixle_assets.packing.description import (
    FILE_NAME,
    FORMAT,
    EpochDescription,
    StoredDocArrays,
    StoredStream,
    encode_description,
    lengths_file,
    rank_file,
    relative_path,
)
from mixle_assets.packing.doc_sources import DocSources
from mixle_assets.packing.gather import choose_kernel, gather_rows
from mixle_assets.packing.layout import EpochLayout, order_documents
from mixle_assets.packing.ledger import count_epoch, detail_epoch
from mixle_assets.packing.plan_files import SCORES, write_plan
from mixle_assets.packing.pool import PoolStream, multiplicities, pool_documents
from mixle_assets.packing.scores import read_scores
from mixle_assets.packing.selectors import RecipeSelector, recipe_selector
from mixle_assets.packing.settings import PackingSettings
from mixle_assets.recipe import Packing
from mixle_assets.records import Written

CODE_VERSION = "1"

WINDOW_IN_BYTES = 2**23
"""Rows gathered before they are written: the only tokens held in memory."""


@dataclass(frozen=True)
class PackStream:
    """One stream of the task.

    Attributes:
        name: Name in the recipe.
        doc_arrays: Files of doc arrays in plan order.
        weight: Copies an epoch.
        resample: Whether the fraction is drawn anew in each epoch.
        digests: Content digest of each file, from its manifest; empty: computed, by reading the files.
        attribute_files: Only where the order is by score (see ``needed_attribute``): provenance name of each
            document file, and the file of its attributes.
    """

    name: str
    doc_arrays: tuple[str, ...]
    weight: float = 1.0
    resample: bool = False
    digests: tuple[str, ...] = ()
    attribute_files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PackTask:
    """One epoch to pack.

    Attributes:
        epoch: Which pass, from 0.
        packing: The recipe's section.
        boundary_id: Follows each document; None for none.
        pad_id: Stands where no token is.
        dtype: Dtype of the tokens in all doc arrays, ``uint16`` or ``uint32``.
        streams: In the order of the recipe.
        output: Folder of the epoch, such as ``<root>/<recipe>/packed_epoch/0000``.
    """

    epoch: int
    packing: Packing
    boundary_id: int | None
    pad_id: int
    dtype: str
    streams: tuple[PackStream, ...]
    output: str

    @property
    def settings(self) -> PackingSettings:
        """What decides which token stands where."""
        return PackingSettings(
            block=self.packing.block,
            seed=self.packing.seed,
            pad_id=self.pad_id,
            boundary_id=self.boundary_id,
            order=self.packing.order,
            residency=self.packing.residency,
            equalize=self.packing.equalize,
            strategy=self.packing.strategy,
            world_size=self.packing.world_size,
        )

    @property
    def selector(self) -> RecipeSelector | None:
        """The curriculum hook."""
        return recipe_selector(self.packing.selector)

    def scores(self, sources: DocSources) -> NDArray[np.float64] | None:
        """Return the score of each document where the order is by score, else None."""
        if self.selector is None or self.selector.attribute is None:
            return None
        files = dict(pair for stream in self.streams for pair in stream.attribute_files)
        return read_scores(sources, self.selector.attribute, files)

    def order(self, sources: DocSources, scores: NDArray[np.float64] | None) -> NDArray[Any]:
        """Return the document numbers of the epoch in order."""
        streams, settings = self.pool_streams(sources), self.settings
        names = [stream.name for stream in self.streams]
        return order_documents(
            settings,
            pool_documents(streams, sources.ids, seed=settings.seed, epoch=self.epoch),
            sources.num_documents,
            self.epoch,
            self.selector,
            lambda pool: sources.facts(pool, names, scores),
        )

    def pool_streams(self, sources: DocSources) -> list[PoolStream]:
        """Return the streams as sources of the pool."""
        sizes = np.diff(sources.stream_starts).tolist()
        return [
            PoolStream(stream.name, size, stream.weight, stream.resample)
            for stream, size in zip(self.streams, sizes, strict=True)
        ]


def pack_epoch(task: PackTask) -> Written:
    """Pack an epoch and write its files, each whole; ``corpus.json`` is the last.

    Memory: the plan (12 bytes a document: order and running sum), what it is made from, a window of rows.

    Returns:
        ``rows_digest`` over settings, order and token values; ``file_hash`` over the names and hashes of all
        files in name order (see ``hash_of_files``).

    Raises:
        RecipeError: The epoch would be empty, or ``equalize: drop`` would leave nothing; a selector that
            cannot be imported, or that returns no positions.
        InputError: Doc arrays are missing or broken, or hold another dtype or boundary than the task says.
    """
    settings = task.settings
    _check_ids(task)
    sources = DocSources([stream.doc_arrays for stream in task.streams], task.dtype)
    _check_metadata(task, sources)
    streams = task.pool_streams(sources)
    scores = task.scores(sources)
    try:
        order = task.order(sources, scores)
    except ValueError as error:
        raise RecipeError(str(error), key="packing.selector") from error
    if not len(order):
        raise RecipeError(f"epoch {task.epoch} would hold no document", key="packing")
    layout = EpochLayout(settings, order, sources.lengths)
    deal = layout.deal
    if settings.equalize == "drop" and not min(deal.rows_per_rank):
        raise RecipeError(
            f"{sum(deal.packed_rows)} rows for {settings.world_size} ranks leave a rank without any, so "
            f"'drop' would drop all; use 'pad', fewer ranks or a smaller block",
            key="packing.equalize",
        )

    storage.remove(storage.join(task.output, FILE_NAME))
    for name in storage.list_folder(task.output):
        storage.remove(storage.join(task.output, name))
    files = write_plan(task.output, layout)
    if scores is not None:
        files[SCORES] = write_pieces(storage.join(task.output, SCORES), [scores], scores.shape, scores.dtype)
    hasher = new_hasher()
    trainable = 0
    for rank in range(settings.world_size):
        written, targets = _write_rank(task, layout, sources, rank, hasher)
        files |= written
        trainable += targets

    num_rows = sum(deal.packed_rows)
    stored_streams = _stored_streams(task, sources)
    digest = corpus_digest(stored_streams, task.boundary_id)
    counted = multiplicities(order, sources.num_documents)
    details = detail_epoch(layout, sources, streams, counted, trainable)
    description = EpochDescription(
        format=FORMAT,
        digest=digest,
        epoch=task.epoch,
        settings=settings,
        batch_size=task.packing.batch_size,
        selector=None if task.selector is None else task.selector.plain(),
        dtype=task.dtype,
        streams=stored_streams,
        num_rows=num_rows,
        packed_rows=deal.packed_rows,
        rows_per_rank=deal.rows_per_rank,
        materialize=task.packing.materialize,
        files=files,
    )
    content = encode_description(description)
    with storage.write_whole(storage.join(task.output, FILE_NAME)) as file:
        file.write(content)
    files[FILE_NAME] = StoredFile(hash_bytes(content), len(content))
    steps = [deal.num_batches(rank, task.packing.batch_size) for rank in range(settings.world_size)]
    return Written(
        rows_digest=digest_of([digest, task.epoch, settings.plain(), hasher.hexdigest()]),
        file_hash=hash_of_files(files),
        size_in_bytes=sum(stored.size_in_bytes for stored in files.values()),
        counts=count_epoch(layout, counted),
        details={**details, "steps_per_rank": steps, "files": msgspec.to_builtins(files)},
    )


def needed_attribute(packing: Packing) -> str | None:
    """Return the attribute whose files a task needs as ``PackStream.attribute_files``, or None."""
    selector = recipe_selector(packing.selector)
    return None if selector is None else selector.attribute


def hash_of_files(files: dict[str, StoredFile]) -> str:
    """Return one hash for all files of an epoch: over their names and hashes, in name order."""
    return digest_of([[name, files[name].hash] for name in sorted(files)])


def corpus_digest(streams: tuple[StoredStream, ...], boundary_id: int | None) -> str:
    """Return the digest of what is packed: documents, weights, boundary. No path and no packing in it."""
    facts = [
        [stream.name, str(stream.weight), stream.resample, [part.digest for part in stream.doc_arrays]]
        for stream in streams
    ]
    return digest_of(["mixle_assets.corpus/1", boundary_id, facts])


def _write_rank(
    task: PackTask, layout: EpochLayout, sources: DocSources, rank: int, hasher: Any
) -> tuple[dict[str, StoredFile], int]:
    """Write a rank's rows and how many cells of each are real; returns files and number of real targets."""
    settings, deal, plan = layout.settings, layout.deal, layout.plan_of(rank)
    num_rows = deal.rows_per_rank[rank]
    window = max(1, WINDOW_IN_BYTES // ((settings.block + 1) * sources.dtype.itemsize))
    numbers = [deal.rows_of(rank, at, at + window) for at in range(0, num_rows, window)]
    files, trainable = {}, 0

    lengths_name = lengths_file(rank, settings.world_size)
    with write_array(storage.join(task.output, lengths_name), (num_rows,), np.uint32) as lengths_writer:
        for part in numbers:
            row_lengths = plan.row_lengths(part)
            trainable += int(np.maximum(row_lengths - 1, 0).sum())
            hasher.update(row_lengths.astype(np.uint32).data)
            lengths_writer.write(row_lengths.astype(np.uint32))
    files[lengths_name] = lengths_writer.stored
    if task.packing.materialize == "plan":
        for at in range(0, len(plan.documents), 2**20):
            hasher.update(np.ascontiguousarray(plan.documents[at : at + 2**20], np.int64).data)
            hasher.update(np.ascontiguousarray(plan.begins[at : at + 2**20]).data)
        return files, trainable

    rows_name = rank_file(rank, settings.world_size)
    shape = (num_rows, settings.block + 1)
    with write_array(storage.join(task.output, rows_name), shape, sources.dtype) as writer:
        # One choice for all windows, since it is all of them together that may be worth loading numba for.
        kernel = choose_kernel("auto", num_rows * shape[1] * settings.world_size)
        out = np.empty((window, shape[1]), sources.dtype)
        for part in numbers:
            rows = gather_rows(
                plan,
                sources.tokens,
                part,
                boundary_id=settings.boundary_id,
                pad_id=settings.pad_id,
                kernel=kernel,
                out=out,
            )
            hasher.update(np.ascontiguousarray(rows).data)
            writer.write(rows)
    files[rows_name] = writer.stored
    return files, trainable


def _stored_streams(task: PackTask, sources: DocSources) -> tuple[StoredStream, ...]:
    streams, file = [], 0
    for stream in task.streams:
        parts = []
        for number, path in enumerate(stream.doc_arrays):
            first, stop = sources.file_starts[file : file + 2].tolist()
            parts.append(
                StoredDocArrays(
                    path=relative_path(path, task.output),
                    num_documents=stop - first,
                    num_tokens=int(sources.lengths[first:stop].sum()),
                    digest=stream.digests[number] if stream.digests else sources.digest_of_file(file),
                )
            )
            file += 1
        streams.append(StoredStream(stream.name, stream.weight, stream.resample, tuple(parts)))
    return tuple(streams)


def _check_ids(task: PackTask) -> None:
    limit = np.iinfo(task.dtype).max
    for name, value in (("boundary_id", task.boundary_id), ("pad_id", task.pad_id)):
        if value is not None and not 0 <= value <= limit:
            raise RecipeError(f"{name} {value} does not fit {task.dtype} tokens", key="packing")
    if not task.streams:
        raise RecipeError("there is no stream to pack", key="streams")


def _check_metadata(task: PackTask, sources: DocSources) -> None:
    tokenizers: dict[str | None, str] = {}
    for file, path in enumerate(sources.paths):
        metadata = sources.arrays(file).metadata
        tokenizers.setdefault(metadata["tokenizer_hash"], path)
        if metadata["boundary_id"] != task.boundary_id:
            raise InputError(
                f"was made with boundary {metadata['boundary_id']}, the recipe's is {task.boundary_id}",
                path=path,
            )
    if len(tokenizers) > 1:
        first, second = list(tokenizers.values())[:2]
        raise InputError(f"was made with another tokenizer than {first}", path=second)
