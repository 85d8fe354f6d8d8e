"""Mixed shards: the documents of a shard with all their attributes, judged, rewritten and stamped."""

from __future__ import annotations

from collections.abc import Iterable

from mixle_assets import storage
from mixle_assets.formats.attribute_files import columns_path_of
from mixle_assets.formats.codecs import codec_of
from mixle_assets.mixing.mixer import MixFile, MixTask, mix_shard
from mixle_assets.pipeline.foreign import find_foreign_attributes
from mixle_assets.pipeline.load import DUPLICATES_SET, LoadedRecipe
from mixle_assets.pipeline.stages.base import document_inputs, find_shard, section
from mixle_assets.pipeline.work import Output, Work, read_manifest, require_manifest
from mixle_assets.planning import PlannedFile, Shard
from mixle_assets.planning.layout import EXTENSIONS
from mixle_assets.recipe import Stream

CODE_VERSION = "1"


def output_path(loaded: LoadedRecipe, shard: Shard) -> str:
    """Return where the mixed shard lies."""
    return output_of(loaded, shard)[0]


def output_of(loaded: LoadedRecipe, shard: Shard) -> tuple[str, str]:
    """Return where the mixed shard lies, and its codec.

    With ``shuffle: false`` a shard is one document file, and keeps its name and its codec; an explicit
    ``compression.output`` changes both, so that no file is called ``.gz`` and holds something else.
    """
    recipe = loaded.recipe
    stream = recipe.stream(shard.stream)
    codec: str = stream.compression.output
    folder = loaded.mixed_folder(stream)
    if recipe.shuffle:
        return storage.join(folder, shard.file_stem + EXTENSIONS[codec]), codec
    name = shard.files[0].attribute_name
    if "output" not in stream.compression.model_fields_set:
        codec = codec_of(name, stream.compression.input)
    elif codec_of(name) not in ("", codec):
        name = name.rpartition(".")[0] + (f".{codec}" if codec else "")
    return storage.join(folder, "documents" if recipe.mode == "dolma" else stream.name, name), codec


def own_sets_of(stream: Stream) -> frozenset[str]:
    """Return the attribute sets of a stream that are made here."""
    return frozenset([*stream.taggers, *([DUPLICATES_SET] if stream.dedupe is not None else [])])


def attribute_files(loaded: LoadedRecipe, stream: Stream, file: PlannedFile) -> list[tuple[str, str]]:
    """Return set and location of each attribute file of a document file: own sets, then foreign ones."""
    own = [(name, loaded.attributes(name, stream, file)) for name in sorted(own_sets_of(stream))]
    return own + find_foreign_attributes(loaded.recipe, stream, file)


def attribute_inputs(
    stream: Stream, name: str, attributes: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attribute files of a document file as inputs: digests of our own, locations of foreign ones.

    Raises:
        ShardError: A set that is made here is not there.
    """
    own, foreign = {}, {}
    for attribute_set, path in attributes:
        key = f"attributes/{attribute_set}/{name}"
        if attribute_set in own_sets_of(stream):
            own[key] = require_manifest(path, what=f"{attribute_set} for {name}").content_digest
        elif storage.exists(path):  # one that is missing and tolerated is no input
            foreign[key] = path
    return own, foreign


def form_to_read(loaded: LoadedRecipe, stream: Stream, attribute_set: str, path: str) -> str:
    """Return where to read an attribute file's rows: its columns, if they are wanted and were made here."""
    if loaded.recipe.execution.attributes_format == "jsonl" or attribute_set not in own_sets_of(stream):
        return path
    manifest = read_manifest(path)
    return columns_path_of(path) if manifest is not None and "columns" in manifest.details else path


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the mixing of one shard."""
    shard, stream = find_shard(loaded, key)
    inputs, files = document_inputs(loaded, shard)
    mixed = []
    for file in shard.files:
        attributes = attribute_files(loaded, stream, file)
        own, foreign = attribute_inputs(stream, file.name, attributes)
        inputs |= own
        files |= foreign
        # Columns are quicker where only those that rules name are read; lines, where all are written again.
        if "attributes" in stream.output.discard_fields:
            attributes = [(name, form_to_read(loaded, stream, name, at)) for name, at in attributes]
        mixed.append(MixFile(file.path, file.name, tuple(attributes)))
    path, codec = output_of(loaded, shard)
    task = MixTask(
        key=key,
        stream=stream,
        tolerate=loaded.recipe.tolerate,
        files=tuple(mixed),
        output_path=path,
        output_codec=codec,
        own_sets=own_sets_of(stream),
    )
    output = Output(
        name="",
        key=key,
        path=task.output_path,
        fingerprint=section(
            stream.filter,
            stream.span_replacement,
            stream.output.min_text_length,
            stream.output.discard_fields,
            stream.compression.input,
            # What is said at load, or fails a shard, changes no row.
            loaded.recipe.tolerate.model_copy(update={"dead_rule": "error", "max_skipped_share": 1.0}),
            [(file.name, [name for name, _ in file.attributes]) for file in task.files],
        ),
        inputs=inputs,
        files=files,
    )
    return [Work("mixed_shards", key, CODE_VERSION, mix_shard, task, (output,))]
