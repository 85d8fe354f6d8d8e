"""A built corpus in another trainer's format: shard by shard on an engine, then what spans them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from mixle_assets import storage
from mixle_assets.engine import Engine
from mixle_assets.errors import MixleError, RecipeError, ShardError
from mixle_assets.exporting import FORMATS, ExportTask, export_shard, finish_export
from mixle_assets.manifest import Manifest, content_digest
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import OnProgress, ignore_progress
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.work import find_damage, require_manifest, write_manifest
from mixle_assets.planning.layout import manifest_path
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

    Holds the lease on the folder. The manifest of an earlier export goes first, the new one comes last.

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
        ShardError: Doc arrays are not built, or not what their manifest says.
        LeaseError: Another export into this folder is at work.
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
        built = require_manifest(path, what=f"doc_arrays {shard.key}")
        if (damage := find_damage(path, built)) is not None:
            raise ShardError(f"doc_arrays {shard.key} are damaged: {damage}; build them again", path=path)
        digests[shard.key] = built.content_digest
        tasks.append(ExportTask(shard.key, path, digests[shard.key], folder, to, append_boundary))
    with storage.hold_lease(folder):
        storage.remove_partial_files(folder)
        storage.remove(manifest_path(folder))
        whole = _export(loaded, engine, tasks, on_progress, to=to, folder=folder)
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


def _export(
    loaded: LoadedRecipe,
    engine: Engine,
    tasks: Sequence[ExportTask],
    on_progress: OnProgress,
    *,
    to: str,
    folder: str,
) -> Written:
    written: dict[str, Written] = {}
    errors: list[MixleError] = []
    on_progress("export", 0, len(tasks))
    with closing(engine.run(export_shard, tasks)) as running:  # an interrupt here ends the workers here
        for ended in running:
            if ended.error is not None:
                errors.append(ended.error)
            elif ended.result is not None:
                written[tasks[ended.index].key] = ended.result
            on_progress("export", len(written), len(tasks))
    if errors:
        raise errors[0]
    return finish_export(to, folder, {key: written[key] for key in loaded.plan.keys})
