"""Content hashes, the duplicate index and duplicate attributes: the one place where all shards meet.

The index is one global step that writes a slice for each shard; whatever comes after a shard depends on its
own slice only, so a new file rebuilds no shard whose duplicates stay the same.
"""

from __future__ import annotations

import msgspec

from mixle_assets.deduping import (
    AttributeTask,
    HashedShard,
    HashTask,
    IndexTask,
    build_index,
    hash_shard,
    write_duplicate_attributes,
)
from mixle_assets.pipeline.load import DUPLICATES_SET, LoadedRecipe
from mixle_assets.pipeline.stages.base import document_inputs, find_shard, section
from mixle_assets.pipeline.work import Output, Work, require_manifest
from mixle_assets.records import Written

CODE_VERSION = "1"


def find_hashing(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the hashing of one shard; nothing for a stream that does not dedupe."""
    shard, stream = find_shard(loaded, key)
    if stream.dedupe is None:
        return []
    inputs, files = document_inputs(loaded, shard)
    path = loaded.layout.content_hashes(shard)
    malformed_row = loaded.recipe.tolerate.malformed_row
    codec = stream.compression.input
    task = HashTask(
        key=key,
        files=shard.files,
        rules=stream.dedupe,
        output=path,
        codec=codec,
        malformed_row=malformed_row,
    )
    fingerprint = section(stream.dedupe, codec, malformed_row, [file.name for file in shard.files])
    output = Output("", key, path, fingerprint, inputs, files)
    return [Work("content_hashes", key, CODE_VERSION, hash_shard, task, (output,))]


def find_indexing(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the one step over the hashes of all shards that dedupe."""
    shards = []
    inputs = {}
    rules = []
    for shard in loaded.plan.shards:
        stream = loaded.recipe.stream(shard.stream)
        if stream.dedupe is None:
            continue
        hashes = loaded.layout.content_hashes(shard)
        inputs[f"content_hashes/{shard.key}"] = require_manifest(
            hashes, what=f"content_hashes {shard.key}"
        ).content_digest
        rules.append([shard.key, stream.dedupe])
        shards.append(
            HashedShard(
                key=shard.key,
                stream=stream.name,
                rules=stream.dedupe,
                hashes=hashes,
                output=loaded.layout.duplicate_index(shard),
            )
        )
    fingerprint = section(rules)
    outputs = tuple(Output(one.key, one.key, one.output, fingerprint, inputs) for one in shards)
    task = IndexTask(tuple(shards))
    return [
        Work("duplicate_index", key, CODE_VERSION, index_wanted, task, outputs, chooses=True, together=True)
    ]


def index_wanted(task: IndexTask, wanted: tuple[str, ...]) -> dict[str, Written]:
    """Build the index; all slices are always written together."""
    del wanted
    return build_index(task)


def find_marking(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the writing of one shard's duplicate attributes, a file for each document file."""
    shard, stream = find_shard(loaded, key)
    if stream.dedupe is None:
        return []
    hashes = loaded.layout.content_hashes(shard)
    slice_path = loaded.layout.duplicate_index(shard)
    inputs = {
        "content_hashes": require_manifest(hashes, what=f"content_hashes {key}").content_digest,
        "duplicate_index": require_manifest(slice_path, what=f"duplicate_index {key}").content_digest,
    }
    paths = {file.name: loaded.layout.attributes(DUPLICATES_SET, stream.name, file) for file in shard.files}
    outputs = tuple(
        Output(name, f"{DUPLICATES_SET}/{name}", path, section(stream.dedupe), inputs)
        for name, path in paths.items()
    )
    task = AttributeTask(key, stream.dedupe, hashes, slice_path, paths, wanted=tuple(paths))
    return [Work("duplicate_attributes", key, CODE_VERSION, mark_wanted, task, outputs, chooses=True)]


def mark_wanted(task: AttributeTask, wanted: tuple[str, ...]) -> dict[str, Written]:
    """Write the duplicate attributes of the wanted document files."""
    return write_duplicate_attributes(msgspec.structs.replace(task, wanted=wanted))
