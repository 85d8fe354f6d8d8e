"""Doc arrays into a folder of another format, shard by shard; what is finished is not done again.

Beside the files stands, for each shard, a record of what it was made from and which files came of it. The
files that span all shards (an index, a description) are written last. What an earlier export of other shards
left in the folder goes, since readers take all files that they find.
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
_SPANNING = "spanning"
"""Name of the record of the files that span all shards; those of shards end in ``.json``."""
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
    earlier = _read_record(record_path)
    files = FileSet(task.folder)
    if earlier is not None:
        files.files = earlier.written.details["files"]
        if earlier.made_of == made_of and files.are_there():
            return earlier.written
        # From here on the files may be of either; their names are needed until the new ones are there.
        _write_record(record_path, _Record("", earlier.written))
    arrays = DocArrays.open(task.doc_arrays)
    files.files = {}
    entries = FORMATS[task.to](arrays, files, task.stem, append_boundary=task.append_boundary)
    written = _as_written(files, len(arrays), {"entries": entries, "num_tokens": arrays.num_tokens})
    if earlier is not None:
        files.remove_others(earlier.written.details["files"])
    _write_record(record_path, _Record(made_of, written))
    return written


def finish_export(to: str, folder: str, shards: Mapping[str, Written]) -> Written:
    """Write what spans all shards, and remove what earlier exports left of others.

    Args:
        to: One of ``FORMATS``.
        folder: Where the export goes.
        shards: The keys in order, with what ``export_shard`` returned.
    """
    files = FileSet(folder)
    for written in shards.values():
        files.files |= written.details["files"]
    if to in _FINISH:
        _FINISH[to](
            files,
            {key.replace("/", "-"): written.details["entries"] for key, written in shards.items()},
        )
    _remove_what_others_left(files, {f"{key.replace('/', '-')}.json" for key in shards})
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


def _remove_what_others_left(files: FileSet, due: set[str]) -> None:
    """Remove the files of shards that there are no longer, and of what spanned them in another format."""
    records = storage.join(files.folder, RECORDS_FOLDER)
    for name in storage.list_folder(records):
        record = _read_record(storage.join(records, name)) if name not in due else None
        if record is not None:
            files.remove_others(record.written.details["files"])
            storage.remove(storage.join(records, name))
    spanning = _as_written(files, 0, {})
    _write_record(storage.join(records, _SPANNING), _Record("", spanning))


class _Record(msgspec.Struct):
    """What came of a shard; ``made_of`` is empty while its files are not known to be of one export."""

    made_of: str
    written: Written


def _read_record(path: str) -> _Record | None:
    if not storage.exists(path):
        return None
    try:
        return msgspec.json.decode(storage.read_bytes(path), type=_Record)
    except msgspec.MsgspecError:  # not ours, or of another version: done again
        return None


def _write_record(path: str, record: _Record) -> None:
    with storage.write_whole(path) as file:
        file.write(msgspec.json.encode(record))
