"""Mixed shards: the documents of a shard with all their attributes, judged, rewritten and stamped."""

from __future__ import annotations

from mixle_assets.mixing.mixer import CODE_VERSION, MixFile, MixTask, mix_shard
from mixle_assets.pipeline.foreign import find_foreign_attributes
from mixle_assets.pipeline.load import DUPLICATES_SET, LoadedRecipe
from mixle_assets.pipeline.stages.base import Stage, document_inputs, find_shard, section
from mixle_assets.pipeline.work import Output, Work, require_manifest
from mixle_assets.planning import Shard
from mixle_assets.recipe import Stream


def output_path(loaded: LoadedRecipe, shard: Shard) -> str:
    """Return where the mixed shard lies."""
    codec = loaded.recipe.stream(shard.stream).compression.output
    return loaded.layout.mixed_shard(shard, codec)


def mix_task(loaded: LoadedRecipe, shard: Shard, stream: Stream) -> MixTask:
    """Return the mixer's task for a shard: what it reads, by which rules, and where it writes."""
    files = []
    for file in shard.files:
        own_sets = [*stream.taggers, *([DUPLICATES_SET] if stream.dedupe is not None else [])]
        attributes = [(name, loaded.layout.attributes(name, stream.name, file)) for name in own_sets]
        attributes += find_foreign_attributes(loaded.recipe, stream, file)
        files.append(MixFile(file.path, file.name, tuple(attributes)))
    return MixTask(
        key=shard.key,
        stream=stream,
        tolerate=loaded.recipe.tolerate,
        files=tuple(files),
        output=output_path(loaded, shard),
        codec=stream.compression.output,
    )


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the mixing of one shard."""
    shard, stream = find_shard(loaded, key)
    inputs, files = document_inputs(loaded, shard)
    task = mix_task(loaded, shard, stream)
    for planned, mixed in zip(shard.files, task.files, strict=True):
        for attribute_set, path in mixed.attributes:
            name = f"attributes/{attribute_set}/{planned.name}"
            if attribute_set in stream.taggers or (
                attribute_set == DUPLICATES_SET and stream.dedupe is not None
            ):
                inputs[name] = require_manifest(
                    path, what=f"{attribute_set} for {planned.name}"
                ).content_digest
            else:
                files[name] = path
    output = Output(
        name="",
        key=key,
        path=task.output,
        fingerprint=section(
            stream.filter,
            stream.span_replacement,
            stream.output.min_text_length,
            stream.output.discard_fields,
            stream.compression.input,
            loaded.recipe.tolerate,
            [(file.name, [name for name, _ in file.attributes]) for file in task.files],
        ),
        inputs=inputs,
        files=files,
    )
    return [Work(STAGE.name, key, CODE_VERSION, mix_shard, task, (output,))]


STAGE = Stage(name="mixed_shards", partitions="shard", find_work=find_work)
