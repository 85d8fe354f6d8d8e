"""Doc arrays into a folder of another format, shard by shard; what is finished is not done again.

Beside the files stands, for each shard, a record of what it was made from and which files came of it. The
files that span all shards (an index, a description) are written last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from mixle_assets import storage
from mixle_assets.errors import RecipeError
from mixle_assets.exporting.datasets import finish_datasets, write_datasets
from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.litdata import finish_litdata, write_litdata
from mixle_assets.exporting.mds import finish_mds, write_mds
from mixle_assets.exporting.megatron import write_megatron
from mixle_assets.exporting.olmo import write_olmo
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.manifest import digest_of
from mixle_assets.records import Counts, Written

RECORDS_FOLDER = ".export"
CODE_VERSION = 1

FORMATS: dict[str, Callable[..., list[Any]]] = {
    "megatron": write_megatron,
    "olmo": write_olmo,
    "mds": write_mds,
    "datasets": write_datasets,
    "litdata": write_litdata,
}
"""Name of a format to what writes a shard of it."""

_FINISH: dict[str, Callable[[FileSet, Mapping[str, list[Any]]], None]] = {
    "mds": finish_mds,
    "datasets": finish_datasets,
    "litdata": finish_litdata,
}


@dataclass(frozen=True)
class ExportTask:
    """What it takes to export one shard.

    Attributes:
        key: The shard, such as ``prose/0000``; names the files (``prose-0000``).
        doc_arrays: Location of its doc arrays.
        digest: Their content digest, by which an earlier export is known to be of the same.
        folder: Where the export goes.
        to: One of ``FORMATS``.
        append_boundary: Put the boundary after each document, as packing does.
    """

    key: str
    doc_arrays: str
    digest: str
    folder: str
    to: str
    append_boundary: bool = True

    @property
    def stem(self) -> str:
        """Name of the shard's files, without what follows."""
        return self.key.replace("/", "-")


def export_shard(task: ExportTask) -> Written:
    """Export one shard, unless a record in the folder says that this was done and its files are there.

    Returns:
        Digest of the files, counts of documents, and as details ``files`` (name to hash and size) and what
        ``finish_export`` needs.

    Raises:
        RecipeError: No such format, or one that needs a boundary where there is none.
        InputError: The doc arrays are broken, or hold what the format cannot.
    """
    if task.to not in FORMATS:
        raise RecipeError(f"no format {task.to!r}; there are {', '.join(FORMATS)}", key="export.to")
    if task.to == "olmo" and not task.append_boundary:
        raise RecipeError("olmo finds documents by their boundary, so it cannot be left out", key="export.to")
    record_path = storage.join(task.folder, RECORDS_FOLDER, f"{task.stem}.json")
    made_of = digest_of([CODE_VERSION, task.to, task.key, task.digest, task.append_boundary])
    earlier = _read_record(record_path, made_of)
    files = FileSet(task.folder)
    if earlier is not None:
        files.files = earlier.details["files"]
        if files.are_there():
            return earlier
    files.files = {}
    arrays = DocArrays.open(task.doc_arrays)
    entries = FORMATS[task.to](arrays, files, task.stem, append_boundary=task.append_boundary)
    written = _as_written(files, len(arrays), {"entries": entries, "num_tokens": arrays.num_tokens})
    with storage.write_whole(record_path) as file:
        file.write(msgspec.json.encode({"made_of": made_of, "written": written}))
    return written


def finish_export(to: str, folder: str, shards: Mapping[str, Written]) -> Written:
    """Write what spans all shards; ``shards`` are the keys in order, with what ``export_shard`` returned."""
    files = FileSet(folder)
    for written in shards.values():
        files.files |= written.details["files"]
    if to in _FINISH:
        _FINISH[to](
            files,
            {key.replace("/", "-"): written.details["entries"] for key, written in shards.items()},
        )
    num_tokens = sum(written.details["num_tokens"] for written in shards.values())
    num_documents = sum(written.counts.num_out for written in shards.values())
    return _as_written(files, num_documents, {"num_tokens": num_tokens})


def export_documents(tasks: Sequence[ExportTask]) -> Written:
    """Export all shards of a corpus one after another, and what spans them.

    Args:
        tasks: The shards in order, all with the same folder and format.

    Raises:
        RecipeError: No shard at all, or different folders or formats.
        InputError: As for ``export_shard``.
    """
    targets = {(task.to, task.folder) for task in tasks}
    if len(targets) != 1:
        raise RecipeError(f"one export has one format and folder, got {sorted(targets)}", key="export")
    [(to, folder)] = targets
    return finish_export(to, folder, {task.key: export_shard(task) for task in tasks})


def _as_written(files: FileSet, num_documents: int, details: dict[str, Any]) -> Written:
    digest = digest_of(files.files)
    return Written(
        rows_digest=digest,
        file_hash=digest,
        size_in_bytes=sum(facts["size_in_bytes"] for facts in files.files.values()),
        counts=Counts(num_in=num_documents, num_out=num_documents),
        details={**details, "files": files.files},
    )


def _read_record(path: str, made_of: str) -> Written | None:
    if not storage.exists(path):
        return None
    try:
        record = msgspec.json.decode(storage.read_bytes(path), type=_Record)
    except msgspec.MsgspecError:  # cut short by an earlier version's crash: done again
        return None
    return record.written if record.made_of == made_of else None


class _Record(msgspec.Struct):
    made_of: str
    written: Written
