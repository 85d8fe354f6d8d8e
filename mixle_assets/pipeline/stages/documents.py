"""Documents that are made here: all files of a stream together, with one manifest beside the folder."""

from __future__ import annotations

from mixle_assets.manifest import digest_of
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import section
from mixle_assets.pipeline.work import Output, Work
from mixle_assets.records import Counts, Written
from mixle_assets.sourcing import SourceTask, make_documents, source_digest

CODE_VERSION = "2"


def find_work(loaded: LoadedRecipe, key: str) -> list[Work]:
    """Return the making of documents: a piece of work for each stream with a source."""
    all_work = []
    for stream in loaded.recipe.streams:
        if stream.source is None:
            continue
        folder = loaded.layout.documents_folder(stream.name)
        source = loaded.recipe.locate_source(stream.source)
        task = SourceTask(stream.name, source, folder)
        fingerprint = section(stream.source)
        inputs = {"source": source_digest(source)}
        output = Output("", stream.name, folder, fingerprint, inputs)
        all_work.append(Work("documents", key, CODE_VERSION, make_folder, task, (output,)))
    return all_work


def make_folder(task: SourceTask) -> Written:
    """Make all document files of a stream and return them as one output: the folder.

    Returns:
        ``details``: ``stored_files``, name to size; ``digests``, name to the digest of its rows.
    """
    files = make_documents(task)
    counts = Counts()
    for written in files.values():
        counts.add(written.counts)
    return Written(
        rows_digest=digest_of([[name, written.rows_digest] for name, written in sorted(files.items())]),
        file_hash=digest_of([[name, written.file_hash] for name, written in sorted(files.items())]),
        size_in_bytes=sum(written.size_in_bytes for written in files.values()),
        counts=counts,
        details={
            "stored_files": {name: written.size_in_bytes for name, written in files.items()},
            "digests": {name: written.rows_digest for name, written in files.items()},
            "hashes": {name: written.file_hash for name, written in files.items()},
        },
    )
