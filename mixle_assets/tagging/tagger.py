"""The pass over one document file that writes its attribute files, one for each wanted set.

What is measured stands in the taggers; what becomes of it in one row in ``set_pass``.
"""

from __future__ import annotations

from contextlib import ExitStack

import msgspec

from mixle_assets.errors import MixleError
from mixle_assets.formats.codecs import codec_of, write_shard
from mixle_assets.formats.documents import read_texts
from mixle_assets.recipe import TaggerUse, Tolerate
from mixle_assets.records import Counts, Document, FileStamp, Written
from mixle_assets.tagging.entries import stamp_of_file
from mixle_assets.tagging.registry import Tagger, resolve_set
from mixle_assets.tagging.set_pass import SetPass, SievedPass, make_pass
from mixle_assets.tagging.views import view_of

CODE_VERSION = "1"
"""Raised when rows change although no tagger's version did."""


class TaggerSet(msgspec.Struct, frozen=True):
    """One attribute set of a document file.

    Attributes:
        name: First part of its keys.
        taggers: What runs for it, in the order of the recipe.
        output: Where its attribute file goes; the extension names the codec.
    """

    name: str
    taggers: tuple[TaggerUse, ...]
    output: str


class TagTask(msgspec.Struct, frozen=True):
    """What is to be measured of one document file.

    Attributes:
        path: Location of the document file.
        name: Its name in the recipe, such as ``prose/0000.jsonl.gz``.
        stream: Stream it belongs to.
        sets: The sets that can be asked for.
        codec: Codec of the document file; None takes it from the extension.
        tolerate: Which faults are counted instead of raised.
    """

    path: str
    name: str
    stream: str
    sets: tuple[TaggerSet, ...]
    codec: str | None = None
    tolerate: Tolerate = Tolerate()


def tag_file(task: TagTask, wanted: tuple[str, ...] | None = None) -> dict[str, Written]:
    """Write the attribute files of the wanted sets in one pass over the document file.

    Document *n* gets row *n* in each file, an empty one if no tagger found anything.

    Args:
        task: The file, and its sets.
        wanted: Names of the sets to write; None writes all.

    Returns:
        Set name to what was written; ``details`` holds each measure's distribution under ``measures``, and
        under ``slowest`` the documents that took longest.

    Raises:
        ValueError: A wanted set is not in the task.
        RecipeError: A tagger does not resolve.
        InputError: The document file is broken.
        EvaluationError: A tagger failed, or returned what is no span inside the text; names tagger, document,
            file and line. Nothing is left behind.
    """
    sets = {one.name: one for one in task.sets}
    names = tuple(sets) if wanted is None else wanted
    if unknown := [name for name in names if name not in sets]:
        raise ValueError(f"{task.name} has no set {unknown[0]!r}, only {sorted(sets)}")
    counts = Counts()
    texts = read_texts(task.path, codec=task.codec, malformed_row=task.tolerate.malformed_row, counts=counts)
    with ExitStack() as stack:
        passes: list[SetPass] = []
        for name in names:
            taggers = resolve_set(name, sets[name].taggers)
            output = sets[name].output
            writer = stack.enter_context(write_shard(output, codec_of(output)))
            passes.append(make_pass(name, taggers, writer))
        of_all = [one for one in passes if not isinstance(one, SievedPass)]
        num_documents = 0
        for block, documents in texts.blocks():
            in_block = list(documents)
            for one in passes:
                if isinstance(one, SievedPass):
                    one.write_block(block, in_block, task.path)
            if of_all:
                _write_rows(of_all, in_block, task.path)
            num_documents += len(in_block)
            del documents, in_block  # else they stay until the next block is decoded
    counts.num_in += num_documents
    counts.num_out = num_documents
    return {
        one.name: Written(
            rows_digest=one.writer.rows_digest,
            file_hash=one.writer.file_hash,
            size_in_bytes=one.writer.size_in_bytes,
            counts=msgspec.structs.replace(counts, dropped=dict(counts.dropped), noted=dict(counts.noted)),
            read={task.path: texts.stamp, **_stamps_of_files(one.taggers)},
            details={"measures": one.distribution.as_json(), "slowest": one.slowest.as_json()},
        )
        for one in passes
    }


def _write_rows(passes: list[SetPass], documents: list[tuple[int, Document]], path: str) -> None:
    """Write the rows of some documents, one after the other: its words are split once for all sets."""
    views = (
        [view_of(document) for _, document in documents] if any(one.takes_several for one in passes) else []
    )
    for one in passes:
        if one.takes_several:
            one.measure_several(views, [line_number for line_number, _ in documents], path)
    for place, (line_number, document) in enumerate(documents):
        view = views[place] if views else view_of(document)
        try:
            for one in passes:
                one.write_row(view, line_number, place)
        except MixleError as error:
            raise error.at(path=path, line=line_number) from error


def _stamps_of_files(taggers: tuple[Tagger, ...]) -> dict[str, FileStamp]:
    """Return the stamps of the files the taggers were given, such as word lists."""
    return {path: stamp_of_file(path) for path in sorted({path for one in taggers for path in one.files})}
