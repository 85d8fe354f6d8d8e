"""The report of a corpus: which manifests there are, handed to ``reporting`` one by one.

Reads manifests, the ledgers of checks and the plan; no data, so it takes as long for a terabyte as for a
page. That these are the outputs a build writes is held by a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mixle_assets import storage
from mixle_assets.pipeline.check import checks_of, content_of, digest_of_contents, passed_before
from mixle_assets.pipeline.load import DUPLICATES_SET, LoadedRecipe
from mixle_assets.pipeline.stages import STAGES, Stage
from mixle_assets.pipeline.stages.base import find_shard
from mixle_assets.pipeline.stages.mixing import output_path
from mixle_assets.pipeline.work import read_manifest
from mixle_assets.reporting import CheckNumbers, CorpusNumbers, render_page
from mixle_assets.reporting.numbers import StageNumbers

FILE_NAME = "report.html"
ALL_STREAMS = "all streams"


class ReportedOutput(NamedTuple):
    """One output, and what its numbers are added up under."""

    path: str
    group: str
    stream: str = ""
    attribute_set: str = ""


def report_path(loaded: LoadedRecipe) -> str:
    """Return where a build writes the report: beside the corpus."""
    return storage.join(loaded.layout.folder, FILE_NAME)


def write_report(loaded: LoadedRecipe, path: str | None = None, *, times: bool = True) -> str:
    """Write the report of what is built, and return its location.

    What stands there already, and would be written again, is left alone.

    Args:
        loaded: The recipe.
        path: Location; None writes it beside the corpus.
        times: Whether the documents are named that took longest; no two builds take the same time.
    """
    path = path or report_path(loaded)
    content = render_page(gather_numbers(loaded), times=times).encode()
    if not (storage.exists(path) and storage.read_bytes(path) == content):
        with storage.write_whole(path) as file:
            file.write(content)
    return path


def gather_numbers(loaded: LoadedRecipe) -> CorpusNumbers:
    """Read the manifests of all that is built, and add them up."""
    recipe = loaded.recipe
    numbers = CorpusNumbers(
        recipe.name, tuple(stream.name for stream in recipe.streams), recipe.packing.block
    )
    for stage in STAGES.values():
        if stage.is_in(loaded):
            numbers.stages[stage.name] = StageNumbers(stage.name)
            _gather_stage(loaded, stage, numbers)
    return numbers


def _gather_stage(loaded: LoadedRecipe, stage: Stage, numbers: CorpusNumbers) -> None:
    done = numbers.stages[stage.name]
    keys = stage.keys(loaded) if loaded.is_planned or stage.partitions != "shard" else ()
    done.num_partitions = len(keys)
    contents = {}
    for key in keys:
        found = [(output, read_manifest(output.path)) for output in find_outputs(loaded, stage.name, key)]
        contents_of_key = []
        for output, manifest in found:
            if manifest is not None:
                contents_of_key.append(content_of(manifest))
                numbers.add(
                    stage.name,
                    manifest,
                    group=output.group,
                    stream=output.stream,
                    attribute_set=output.attribute_set,
                )
        is_there = loaded.is_planned or stage.name == "documents"  # without a plan no output has a name yet
        if is_there and len(contents_of_key) == len(found):
            done.num_built += 1
            contents[key] = contents_of_key
    for check in checks_of(loaded):
        if check.stage != stage.name:
            continue
        looked_at = contents
        if check.scope == "whole":
            looked_at = (
                {"": [content for of_key in contents.values() for content in of_key]} if contents else {}
            )
        passed = passed_before(loaded, check)
        num_passed = sum(passed.get(key) == digest_of_contents(one) for key, one in looked_at.items())
        numbers.checks.append(
            CheckNumbers(
                check.stage, check.name, check.description, check.severity, len(looked_at), num_passed
            )
        )


def find_outputs(loaded: LoadedRecipe, stage: str, key: str) -> Iterator[ReportedOutput]:
    """Yield the outputs of a partition in a build's order, whether they are there or not."""
    layout, streams = loaded.layout, loaded.recipe.streams
    if stage == "documents":
        for stream in streams:
            if stream.source is not None:
                yield ReportedOutput(layout.documents_folder(stream.name), stream.name, stream.name)
    elif stage == "tokenizer":
        yield ReportedOutput(layout.tokenizer, ALL_STREAMS)
    elif stage == "packed_epoch":
        yield ReportedOutput(layout.packed_epoch(int(key)), f"epoch {key}")
    elif not loaded.is_planned:
        return
    elif stage == "duplicate_index":
        for shard in loaded.plan.shards:
            if loaded.recipe.stream(shard.stream).dedupe is not None:
                yield ReportedOutput(layout.duplicate_index(shard), shard.stream, shard.stream)
    else:
        yield from _outputs_of_shard(loaded, stage, key)


def _outputs_of_shard(loaded: LoadedRecipe, stage: str, key: str) -> Iterator[ReportedOutput]:
    shard, stream = find_shard(loaded, key)
    name = stream.name
    if stage == "attributes":
        for file in shard.files:
            for attribute_set in stream.taggers:
                path = loaded.attributes(attribute_set, stream, file)
                yield ReportedOutput(path, f"{name}, set {attribute_set}", name, attribute_set)
    elif stage == "content_hashes" and stream.dedupe is not None:
        yield ReportedOutput(loaded.layout.content_hashes(shard), name, name)
        if stream.dedupe.after == "filter":
            yield ReportedOutput(loaded.layout.eligible(shard), f"{name}, after the filter", name)
    elif stage == "duplicate_attributes" and stream.dedupe is not None:
        for file in shard.files:
            path = loaded.attributes(DUPLICATES_SET, stream, file)
            yield ReportedOutput(path, name, name, DUPLICATES_SET)
    elif stage == "mixed_shards":
        yield ReportedOutput(output_path(loaded, shard), name, name)
    elif stage == "doc_arrays":
        yield ReportedOutput(loaded.layout.doc_arrays(shard), name, name)
