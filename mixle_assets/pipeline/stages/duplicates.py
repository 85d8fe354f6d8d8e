"""Content hashes, the duplicate index and duplicate attributes: the one place where all shards meet.

The index is one global step that writes a slice for each shard; whatever comes after a shard depends on its
own slice only, so a new file rebuilds no shard whose duplicates stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mixle_assets import storage
from mixle_assets.deduping import (
    AttributeTask,
    HashedReference,
    HashedShard,
    HashTask,
    IndexTask,
    build_index,
    hash_shard,
    write_duplicate_attributes,
)
from mixle_assets.errors import RecipeError
from mixle_assets.mixing.alignment import MixFile
from mixle_assets.pipeline.asking import require_manifests
from mixle_assets.pipeline.load import DUPLICATES_SET, LoadedRecipe
from mixle_assets.pipeline.stages.base import document_inputs, find_shard, section
from mixle_assets.pipeline.work import Output, Work, require_manifest
from mixle_assets.planning import PlannedFile, Shard
from mixle_assets.recipe import Dedupe, Stream
from mixle_assets.records import FileStamp, Written

CODE_VERSION = "2"


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
    works = [Work("content_hashes", key, CODE_VERSION, hash_shard, task, (output,))]
    return [*works, _judging(loaded, shard, stream)] if stream.dedupe.after == "filter" else works


def _judging(loaded: LoadedRecipe, shard: Shard, stream: Stream) -> Work:
    """Return the finding of the documents that pass the filter."""
    from mixle_assets.pipeline.eligibility import EligibleTask, write_eligible
    from mixle_assets.pipeline.stages.mixing import (
        attribute_files,
        attribute_inputs,
        own_sets_of,
    )

    inputs, files = document_inputs(loaded, shard)
    mixed = []
    for file in shard.files:
        attributes = tuple(
            (name, path) for name, path in attribute_files(loaded, stream, file) if name != DUPLICATES_SET
        )
        own, foreign = attribute_inputs(stream, file.name, attributes)
        inputs |= own
        files |= foreign
        mixed.append(MixFile(file.path, file.name, attributes))
    task = EligibleTask(
        stream, loaded.recipe.tolerate, tuple(mixed), own_sets_of(stream), loaded.layout.eligible(shard)
    )
    tolerate = loaded.recipe.tolerate.model_copy(update={"max_skipped_share": 1.0})  # changes no row
    fingerprint = section(stream.filter, stream.dedupe, stream.compression.input, tolerate)
    output = Output("", f"{shard.key} eligible", task.output, fingerprint, inputs, files)
    return Work("content_hashes", shard.key, CODE_VERSION, write_eligible, task, (output,))


def find_indexing(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the one step over the hashes of all shards that dedupe."""
    shards = []
    read: dict[str, str] = {}
    files: dict[str, str] = {}
    rules = []
    references: dict[str, ReferenceTask] = {}
    for shard in loaded.plan.shards:
        stream = loaded.recipe.stream(shard.stream)
        if stream.dedupe is None:
            continue
        hashes = loaded.layout.content_hashes(shard)
        read[f"content_hashes {shard.key}"] = hashes
        rules.append([shard.key, stream.dedupe])
        eligible = loaded.layout.eligible(shard) if stream.dedupe.after == "filter" else None
        if eligible is not None:
            read[f"content_hashes {shard.key} (who passes the filter)"] = eligible
        for reference in references_of(loaded, stream):
            references[section(reference.role, stream.dedupe)] = reference
            files |= {f"reference/{file.name}": file.path for file in reference.files}
        shards.append(
            HashedShard(
                key=shard.key,
                stream=stream.name,
                rules=stream.dedupe,
                hashes=hashes,
                output=loaded.layout.duplicate_index(shard),
                eligible=eligible,
            )
        )
    fingerprint = section(rules)
    # One digest of all hashes: each slice is made of them all, and 10,000 manifests that name 10,000 inputs
    # would be gigabytes.
    manifests = require_manifests(loaded, read)
    inputs = {"content_hashes": section([manifest.content_digest for manifest in manifests])}
    outputs = tuple(Output(one.key, one.key, one.output, fingerprint, inputs, files) for one in shards)
    task = IndexWork(IndexTask(tuple(shards)), tuple(references.values()), loaded.layout.folder)
    return [
        Work("duplicate_index", key, CODE_VERSION, index_wanted, task, outputs, chooses=True, together=True)
    ]


class ReferenceTask(msgspec.Struct, frozen=True):
    """Documents that are compared with and never written, not hashed yet.

    Attributes:
        role: ``against`` or ``decontamination``.
        rules: The ``dedupe`` section of the streams they are for.
        files: Their files.
    """

    role: Literal["against", "decontamination"]
    rules: Dedupe
    files: tuple[PlannedFile, ...]


class IndexWork(msgspec.Struct, frozen=True):
    """The global step.

    Attributes:
        index: What is compared.
        references: What it is compared with beside.
        folder: The recipe's folder, below which there is room for scratch.
    """

    index: IndexTask
    references: tuple[ReferenceTask, ...]
    folder: str


def references_of(loaded: LoadedRecipe, stream: Stream) -> list[ReferenceTask]:
    """Return the references of a stream: what it is deduped against and what it is decontaminated of.

    Raises:
        RecipeError: A pattern names no file.
    """
    if stream.dedupe is None:
        return []
    found = [
        ReferenceTask("against", stream.dedupe, _list_reference(loaded, "against", stream.dedupe.against))
    ]
    if stream.dedupe.decontamination is not None:
        patterns = stream.dedupe.decontamination.reference
        files = _list_reference(loaded, "decontamination.reference", patterns)
        found.append(ReferenceTask("decontamination", stream.dedupe, files))
    return [reference for reference in found if reference.files]


def _list_reference(loaded: LoadedRecipe, key: str, patterns: Sequence[str]) -> tuple[PlannedFile, ...]:
    files = []
    for pattern in patterns:
        paths = storage.find_files(loaded.recipe.locate_pattern(pattern))
        if not paths:
            raise RecipeError(
                f"the pattern {pattern!r} names no file", path=loaded.recipe.path, key=f"dedupe.{key}"
            )
        for path in paths:
            status = storage.stat(path)
            if status is not None:
                name = path.removeprefix(f"{loaded.folder}/")
                files.append(PlannedFile(path, name, name, status.size_in_bytes, status.modified))
    return tuple(files)


def index_wanted(work: IndexWork, wanted: tuple[str, ...]) -> dict[str, Written]:
    """Hash the references and build the index; all slices are always written together."""
    del wanted
    hashed = []
    read: dict[str, FileStamp] = {}
    with storage.scratch_folder(work.folder) as scratch:
        for number, reference in enumerate(work.references):
            path = str(scratch / f"reference-{number:04d}.arrow")
            key = f"reference-{reference.role}/{number:04d}"
            read |= hash_shard(HashTask(key, reference.files, reference.rules, path)).read
            hashed.append(HashedReference(reference.role, reference.rules, path))
        task = msgspec.structs.replace(work.index, references=tuple(hashed), scratch=str(scratch))
        slices = build_index(task)
    return {key: msgspec.structs.replace(one, read=one.read | read) for key, one in slices.items()}


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
    paths = {file.name: loaded.attributes(DUPLICATES_SET, stream, file) for file in shard.files}
    columns = loaded.recipe.execution.attributes_format == "parquet"
    outputs = tuple(
        Output(name, f"{DUPLICATES_SET}/{name}", path, section(stream.dedupe), inputs, columns=columns)
        for name, path in paths.items()
    )
    task = AttributeTask(key, stream.dedupe, hashes, slice_path, paths, wanted=tuple(paths))
    return [Work("duplicate_attributes", key, CODE_VERSION, mark_wanted, task, outputs, chooses=True)]


def mark_wanted(task: AttributeTask, wanted: tuple[str, ...]) -> dict[str, Written]:
    """Write the duplicate attributes of the wanted document files."""
    return write_duplicate_attributes(msgspec.structs.replace(task, wanted=wanted))
