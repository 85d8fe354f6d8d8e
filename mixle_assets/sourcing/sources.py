"""The common part of every source: which kinds there are, and how documents become files.

What a kind of source holds is read by the module that bears its name; adding one is a module, a key of the
recipe's ``Source`` and a line here. Manifests and plans are made by the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from mixle_assets.formats.codecs import ShardWriter, write_shard
from mixle_assets.formats.rows import encode_row
from mixle_assets.recipe import Source
from mixle_assets.records import Counts, Written
from mixle_assets.storage import join, list_folder, remove

FILE_TEXT_IN_BYTES = {"python_stdlib": 2_000_000}
"""Text in one document file, in bytes of UTF-8: little where a small corpus is to have several shards."""
_FILE_TEXT_IN_BYTES = 64_000_000

_EXTENSIONS = {"gz": ".jsonl.gz", "zst": ".jsonl.zst", "": ".jsonl"}

_KINDS = {
    "python_stdlib": "mixle_assets.sourcing.python_stdlib",
    "files": "mixle_assets.sourcing.files",
    "warc": "mixle_assets.sourcing.warc",
    "parquet": "mixle_assets.sourcing.tables",
    "datasets": "mixle_assets.sourcing.tables",
}
"""Key of the recipe's ``Source`` to the module with ``find_documents(source)`` and ``digest_of(source)``."""


class Left(NamedTuple):
    """Something that a source holds and that becomes no document, with the reason."""

    reason: str


@dataclass(frozen=True)
class SourceTask:
    """The documents of one stream.

    Attributes:
        stream: Its name.
        source: What to make them from, its files as ``Recipe.locate_source`` names them.
        folder: Where the files go: ``<root>/<recipe>/documents/<stream>``.
        codec: ``gz``, ``zst`` or ``""``.
        file_text_in_bytes: Text in one file, in bytes of UTF-8; None takes what suits the kind of source.
    """

    stream: str
    source: Source
    folder: str
    codec: str = "gz"
    file_text_in_bytes: int | None = None


def make_documents(task: SourceTask) -> dict[str, Written]:
    """Write all document files of a stream and return what each holds, by name.

    The files are called ``0000.jsonl.gz`` and so on; a new one starts when the text of the current one would
    pass the limit. The same source gives the same files. Files of an earlier run that are no longer due are
    removed. A source without any document gives one empty file.

    Raises:
        InputError: The source cannot be read.
    """
    documents = _kind_of(task.source).find_documents(task.source)
    written = dict(_write_files(task, documents))
    due = set(written)
    for name in list_folder(task.folder):
        if (
            name.partition(".")[0].isdigit()
            and name.endswith(tuple(_EXTENSIONS.values()))
            and name not in due
        ):
            remove(join(task.folder, name))
    return written


def source_digest(source: Source) -> str:
    """Return a digest of what a source holds now: if it is another one, the documents are made again."""
    digest: str = _kind_of(source).digest_of(source)
    return digest


def _kind_of(source: Source) -> Any:
    return import_module(_KINDS[source.kind])


class _OpenFile:
    """A document file while it is written."""

    def __init__(self, writer: ShardWriter, close: Callable[[], object]) -> None:
        self.writer = writer
        self.close = close
        self.text_in_bytes = 0
        self.counts = Counts()


def _write_files(
    task: SourceTask, documents: Iterable[dict[str, Any] | Left]
) -> Iterator[tuple[str, Written]]:
    """Write the files one after the other; an exception leaves the one it happened in unwritten."""
    number = 0
    limit_in_bytes = task.file_text_in_bytes or FILE_TEXT_IN_BYTES.get(task.source.kind, _FILE_TEXT_IN_BYTES)
    with ExitStack() as stack:
        name, file = _open(task, number, stack)
        for document in documents:
            if isinstance(document, Left):
                file.counts.num_in += 1
                file.counts.drop(document.reason)
                continue
            size_in_bytes = len(document["text"].encode())
            if file.counts.num_out and file.text_in_bytes + size_in_bytes > limit_in_bytes:
                yield name, _close(file)
                number += 1
                name, file = _open(task, number, stack)
            file.writer.write(encode_row(document) + b"\n")
            file.text_in_bytes += size_in_bytes
            file.counts.num_in += 1
            file.counts.num_out += 1
        yield name, _close(file)


def _open(task: SourceTask, number: int, stack: ExitStack) -> tuple[str, _OpenFile]:
    name = f"{number:04d}{_EXTENSIONS[task.codec]}"
    inner = stack.enter_context(ExitStack())
    writer = inner.enter_context(write_shard(join(task.folder, name), task.codec))
    return name, _OpenFile(writer, inner.close)


def _close(file: _OpenFile) -> Written:
    file.close()
    return Written(
        rows_digest=file.writer.rows_digest,
        file_hash=file.writer.file_hash,
        size_in_bytes=file.writer.size_in_bytes,
        counts=file.counts,
        details={"text_in_bytes": file.text_in_bytes},
    )
