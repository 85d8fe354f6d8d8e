"""Attributes: one file for each set and document file, so that a new set never tags another one's again."""

from __future__ import annotations

from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import document_input, find_shard, section
from mixle_assets.pipeline.work import Output, Work
from mixle_assets.tagging.registry import fingerprint_of, resolve_tagger
from mixle_assets.tagging.tagger import CODE_VERSION, TaggerSet, TagTask, tag_file


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the tagging of one shard: a piece of work for each document file."""
    shard, stream = find_shard(loaded, key)
    all_work = []
    for file in shard.files:
        inputs, files = document_input(loaded, shard, file)
        sets = []
        outputs = []
        kept = {}
        for name, uses in stream.taggers.items():
            path = loaded.attributes(name, stream, file)
            fingerprints = [fingerprint_of(use) for use in uses]
            for use, fingerprint in zip(uses, fingerprints, strict=True):
                if in_bytes := resolve_tagger(use).memory_in_bytes:
                    kept[f"{use.tagger} {fingerprint[:8]}"] = in_bytes
            sets.append(TaggerSet(name, uses, path))
            outputs.append(
                Output(
                    name=name,
                    key=f"{name}/{file.name}",
                    path=path,
                    fingerprint=section(
                        name,
                        fingerprints,
                        stream.compression.input,
                        loaded.recipe.tolerate.malformed_row,
                    ),
                    inputs=inputs,
                    files=files,
                    columns=loaded.recipe.execution.attributes_format == "parquet",
                )
            )
        task = TagTask(
            file.path, file.name, stream.name, tuple(sets), stream.compression.input, loaded.recipe.tolerate
        )
        all_work.append(
            Work(
                "attributes",
                key,
                CODE_VERSION,
                tag_file,
                task,
                tuple(outputs),
                chooses=True,
                kept_in_bytes=kept,
            )
        )
    return all_work
