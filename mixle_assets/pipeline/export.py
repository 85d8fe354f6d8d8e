"""A built corpus in another trainer's format: shard by shard on an engine, then what spans them."""

from __future__ import annotations

from mixle_assets.engine import Engine
from mixle_assets.errors import RecipeError
from mixle_assets.exporting import FORMATS, ExportTask, export_shard, finish_export
from mixle_assets.manifest import Manifest, content_digest
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import OnProgress, ignore_progress
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.work import require_manifest, write_manifest
from mixle_assets.records import FileStamp, Written

CODE_VERSION = "1"


def export_corpus(
    loaded: LoadedRecipe,
    engine: Engine,
    *,
    to: str,
    folder: str,
    append_boundary: bool = True,
    on_progress: OnProgress = ignore_progress,
) -> Manifest:
    """Export the doc arrays of a corpus; shards whose files stand in the folder are not done again.

    Args:
        loaded: The recipe, built.
        engine: Where the work runs.
        to: One of ``exporting.FORMATS``.
        folder: Where the files go.
        append_boundary: Put the boundary after each document, as packing does.
        on_progress: Called when the number of finished shards changes.

    Returns:
        The manifest, which stands beside the folder.

    Raises:
        RecipeError: There is no such format, or the recipe has no tokenizer.
        ShardError: Doc arrays are not built.
        MixleError: A shard failed; the others are finished.
    """
    if to not in FORMATS:
        raise RecipeError(f"no format {to!r}; there are {', '.join(FORMATS)}", key="export.to")
    if not STAGES["doc_arrays"].is_in(loaded):
        raise RecipeError(
            "exports are made of doc arrays, and this recipe has no tokenizer",
            path=loaded.recipe.path,
            key="tokenizer",
        )
    digests = {}
    tasks = []
    for shard in loaded.plan.shards:
        path = loaded.layout.doc_arrays(shard)
        digests[shard.key] = require_manifest(path, what=f"doc_arrays {shard.key}").content_digest
        tasks.append(ExportTask(shard.key, path, digests[shard.key], folder, to, append_boundary))
    written: dict[str, Written] = {}
    on_progress("export", 0, len(tasks))
    for ended in engine.run(export_shard, tasks):
        if ended.error is not None:
            raise ended.error
        if ended.result is not None:
            written[tasks[ended.index].key] = ended.result
        on_progress("export", len(written), len(tasks))
    whole = finish_export(to, folder, {key: written[key] for key in loaded.plan.keys})
    manifest = Manifest(
        stage="export",
        key=to,
        content_digest=content_digest(to, whole.rows_digest, whole.counts),
        fingerprint="",
        code_version=CODE_VERSION,
        inputs={f"doc_arrays/{key}": FileStamp(digest) for key, digest in digests.items()},
        counts=whole.counts,
        file_hash=whole.file_hash,
        size_in_bytes=whole.size_in_bytes,
        details=whole.details,
    )
    write_manifest(folder, manifest)
    return manifest
