"""Hugging Face ``datasets`` on disk: what ``load_from_disk`` opens, written with pyarrow alone.

A row is a document: ``id``, ``provenance``, ``input_ids``. Files are Arrow IPC streams.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from mixle_assets.exporting.files import FileSet
from mixle_assets.exporting.flat import boundary_of, runs, text_of_id
from mixle_assets.formats.columns import list_column, number_column, text_column
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.formats.doc_batches import encode_id
from mixle_assets.manifest import digest_of

_ARROW = {"uint16": pa.uint16(), "uint32": pa.uint32(), "bool": pa.bool_()}


def write_datasets(arrays: DocArrays, files: FileSet, stem: str, *, append_boundary: bool) -> list[Any]:
    """Write ``<stem>.arrow`` and return its name and features, for the files that span all."""
    boundary = boundary_of(arrays, append_boundary=append_boundary)
    kind = f"list:{arrays.dtype.name}"
    features = {"id": "string", "provenance": "string", "input_ids": kind}
    ids = (text_of_id(document_id, encode_id(document_id)) for document_id in arrays.ids())
    provenances = arrays.provenances()

    def batches() -> Iterable[dict[str, pa.Array]]:
        for run in runs(arrays, boundary):
            number = len(run.lengths)
            yield {
                "id": text_column([next(ids) for _ in range(number)]),
                "provenance": text_column([next(provenances) for _ in range(number)]),
                "input_ids": list_column(number_column(run.values), run.lengths, _arrow_type(kind)),
            }

    write_table(batches(), features, files, f"{stem}.arrow")
    return [{"filename": f"{stem}.arrow", "features": features}]


def write_table(
    batches: Iterable[Mapping[str, pa.Array]], features: Mapping[str, str], files: FileSet, name: str
) -> None:
    """Write batches of columns as one Arrow stream."""
    schema = pa.schema([pa.field(column, _arrow_type(kind)) for column, kind in features.items()])
    with files.write(name) as file, ipc.new_stream(file, schema) as writer:
        for batch in batches:
            writer.write_batch(pa.record_batch([batch[name] for name in schema.names], schema=schema))


def finish_datasets(files: FileSet, shards: Mapping[str, list[Any]]) -> None:
    """Write ``dataset_info.json`` and ``state.json`` over all files.

    Raises:
        ValueError: There is no shard at all.
    """
    entries = [entry for written in shards.values() for entry in written]
    if not entries:
        raise ValueError("no shard to export")
    features = entries[0]["features"]
    info = {
        "citation": "",
        "description": "",
        "features": {name: _feature(kind) for name, kind in features.items()},
    }
    info |= {"homepage": "", "license": ""}
    state: dict[str, Any] = {
        "_data_files": [{"filename": entry["filename"]} for entry in entries],
        "_fingerprint": digest_of([entries, files.files])[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    for name, content in (("dataset_info.json", info), ("state.json", state)):
        with files.write(name) as file:
            file.write(json.dumps(content, indent=2, sort_keys=True).encode() + b"\n")


def _arrow_type(kind: str) -> pa.DataType:
    if kind == "string":
        return pa.string()
    return pa.list_(_ARROW[kind.removeprefix("list:")])


def _feature(kind: str) -> dict[str, Any]:
    if kind == "string":
        return {"dtype": "string", "_type": "Value"}
    return {"feature": {"dtype": kind.removeprefix("list:"), "_type": "Value"}, "_type": "List"}
