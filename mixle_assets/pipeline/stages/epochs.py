"""Packed epochs: the whole corpus laid out once for each epoch, rank by rank."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.manifest import Manifest
from mixle_assets.packing.epoch import CODE_VERSION, PackStream, PackTask, needed_attribute, pack_epoch
from mixle_assets.pipeline.asking import require_manifests
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import section
from mixle_assets.pipeline.stages.mixing import attribute_files, attribute_inputs, form_to_read
from mixle_assets.pipeline.work import Output, Work
from mixle_assets.recipe import Stream
from mixle_assets.records import Written


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the packing of one epoch.

    Raises:
        ShardError: Doc arrays are missing; the first is named.
    """
    recipe = loaded.recipe
    paths = {f"doc_arrays {shard.key}": loaded.layout.doc_arrays(shard) for shard in loaded.plan.shards}
    manifests = dict(zip(loaded.plan.keys, require_manifests(loaded, paths), strict=True))
    streams = tuple(_pack_stream(loaded, stream, manifests) for stream in recipe.streams)
    # All shards have one tokenizer, so one dtype and one boundary.
    arrays = DocArrays.open(loaded.layout.doc_arrays(loaded.plan.shards[0]))
    task = PackTask(
        epoch=int(key),
        packing=recipe.packing,
        boundary_id=arrays.metadata["boundary_id"],
        pad_id=recipe.packing.pad_id,
        dtype=arrays.dtype.name,
        streams=streams,
        output=loaded.layout.packed_epoch(int(key)),
    )
    inputs = {f"doc_arrays/{name}": manifest.content_digest for name, manifest in manifests.items()}
    files: dict[str, str] = {}
    for stream in recipe.streams:
        for name, attribute_set, path in _files_of_scores(loaded, stream):
            own, foreign = attribute_inputs(stream, name, [(attribute_set, path)])
            inputs |= own
            files |= foreign
    output = Output(
        name="",
        key=key,
        path=task.output,
        # How many epochs there are changes none of them.
        fingerprint=section(
            recipe.packing.model_copy(update={"epochs": 1}),
            [[stream.name, stream.weight, stream.resample] for stream in recipe.streams],
        ),
        inputs=inputs,
        files=files,
    )
    return [Work("packed_epoch", key, CODE_VERSION, pack, task, (output,))]


def _pack_stream(loaded: LoadedRecipe, stream: Stream, manifests: dict[str, Manifest]) -> PackStream:
    shards = loaded.plan.of_stream(stream.name)
    return PackStream(
        name=stream.name,
        doc_arrays=tuple(loaded.layout.doc_arrays(shard) for shard in shards),
        weight=stream.weight,
        resample=stream.resample,
        digests=tuple(manifests[shard.key].content_digest for shard in shards),
        attribute_files=tuple(
            (name, form_to_read(loaded, stream, attribute_set, path))
            for name, attribute_set, path in _files_of_scores(loaded, stream)
        ),
    )


def _files_of_scores(loaded: LoadedRecipe, stream: Stream) -> Iterator[tuple[str, str, str]]:
    """Yield provenance name, set and location of each attribute file that the order of an epoch looks at."""
    attribute = needed_attribute(loaded.recipe.packing)
    if attribute is None:
        return
    for shard in loaded.plan.of_stream(stream.name):
        for file in shard.files:
            for attribute_set, path in attribute_files(loaded, stream, file):
                if attribute.startswith(f"{attribute_set}__"):
                    yield file.name, attribute_set, path


def pack(task: PackTask) -> Written:
    """Pack an epoch; its folder is one output, so its files and sizes go into ``details["stored_files"]``."""
    written = pack_epoch(task)
    sizes = {name: stored["size_in_bytes"] for name, stored in written.details["files"].items()}
    return msgspec.structs.replace(written, details={**written.details, "stored_files": sizes})
