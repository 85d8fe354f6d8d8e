"""The pass over one document file that writes its attribute files, one for each wanted set.

What is measured stands in the taggers; that a row fits its document is checked here, before it is written.
"""

from __future__ import annotations

import math
import operator
from contextlib import ExitStack
from typing import Any

import msgspec

from mixle_assets.errors import EvaluationError, MixleError
from mixle_assets.formats.attributes import encode_attribute_row
from mixle_assets.formats.codecs import ShardWriter, codec_of, write_shard
from mixle_assets.formats.documents import read_texts
from mixle_assets.recipe import TaggerUse, Tolerate
from mixle_assets.records import Counts, FileStamp, SpanRow, Written
from mixle_assets.tagging.distribution import Distribution
from mixle_assets.tagging.entries import stamp_of_file
from mixle_assets.tagging.registry import Tagger, attribute_key, resolve_set
from mixle_assets.tagging.views import DocumentView

CODE_VERSION = "1"
"""Raised when rows change although no tagger's version did."""
SCORE_DECIMALS = 5
"""As Dolma's taggers write them, so that its thresholds and ours meet the same numbers."""


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
        Set name to what was written; ``details["measures"]`` holds each measure's distribution.

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
    documents = read_texts(
        task.path, codec=task.codec, malformed_row=task.tolerate.malformed_row, counts=counts
    )
    with ExitStack() as stack:
        passes = []
        for name in names:
            taggers = resolve_set(name, sets[name].taggers)
            output = sets[name].output
            writer = stack.enter_context(write_shard(output, codec_of(output)))
            passes.append(_SetPass(name, taggers, writer))
        num_documents = 0
        for line_number, document in documents:
            view = DocumentView(document.id, document.text, document.source, document.metadata)
            for one in passes:
                try:
                    one.write_row(view)
                except MixleError as error:
                    raise error.at(path=task.path, line=line_number) from error
            num_documents += 1
    counts.num_in += num_documents
    counts.num_out = num_documents
    return {
        one.name: Written(
            rows_digest=one.writer.rows_digest,
            file_hash=one.writer.file_hash,
            size_in_bytes=one.writer.size_in_bytes,
            counts=msgspec.structs.replace(counts, dropped=dict(counts.dropped), noted=dict(counts.noted)),
            read={task.path: documents.stamp, **_stamps_of_files(one.taggers)},
            details={"measures": one.distribution.as_json()},
        )
        for one in passes
    }


class _SetPass:
    """The taggers of one set at work on one file."""

    def __init__(self, name: str, taggers: tuple[Tagger, ...], writer: ShardWriter) -> None:
        self.name = name
        self.taggers = taggers
        self.writer = writer
        self.distribution = Distribution()
        self._num_rows = 0
        self._outputs: list[dict[str, tuple[str, list[float]]]] = [{} for _ in taggers]

    def write_row(self, view: DocumentView) -> None:
        length = len(view.text)
        attributes: dict[str, list[SpanRow]] = {}
        for tagger, outputs in zip(self.taggers, self._outputs, strict=True):
            try:
                measures = tagger.measure(view)
            except Exception as error:
                raise EvaluationError(
                    f"the tagger failed: {type(error).__name__}: {error}",
                    document_id=view.id,
                    rule=tagger.name,
                ) from error
            for measure, spans in measures.items():
                output = outputs.get(measure)
                if output is None:
                    output = outputs[measure] = self._output_of(tagger, measure, view)
                key, scores = output
                if type(spans) is float or isinstance(spans, int | float):
                    score = round(float(spans), SCORE_DECIMALS)
                    if not math.isfinite(score):
                        raise _refused(tagger, view, measure, spans, "not a finite score")
                    attributes[key] = [[0, length, score]]
                    scores.append(score)
                    continue
                rows = attributes[key] = []
                for span in spans:
                    try:
                        start, end, score = span
                        if type(start) is not int or type(end) is not int:
                            start, end = operator.index(start), operator.index(end)
                        score = round(float(score), SCORE_DECIMALS)
                    except (TypeError, ValueError) as error:
                        raise _refused(tagger, view, measure, span, "no [start, end, score]") from error
                    if not 0 <= start <= end <= length:
                        raise _refused(
                            tagger, view, measure, span, f"not inside the text of {length} characters"
                        )
                    if not math.isfinite(score):
                        raise _refused(tagger, view, measure, span, "not a finite score")
                    rows.append([start, end, score])
                    scores.append(score)
                if len(rows) > 1:
                    self.distribution.note_repeated(key, len(rows) - 1)
        self.writer.write(encode_attribute_row(view.id, attributes, view.source) + b"\n")
        self._num_rows += 1
        if self._num_rows % 1024 == 0:
            self.distribution.fold()

    def _output_of(self, tagger: Tagger, measure: str, view: DocumentView) -> tuple[str, list[float]]:
        """Return the key of a measure that was not seen before, and where its scores go."""
        if tagger.measures is not None and measure not in tagger.measures:
            raise EvaluationError(
                f"returned the measure {measure!r}, but declares only {sorted(tagger.measures)}",
                document_id=view.id,
                rule=tagger.name,
            )
        key = attribute_key(self.name, tagger.name, measure)
        if any(key == taken for outputs in self._outputs for taken, _ in outputs.values()):
            raise EvaluationError(
                f"returned two measures that are both written as {key}", document_id=view.id, rule=tagger.name
            )
        return key, self.distribution.scores_of(key)


def _refused(tagger: Tagger, view: DocumentView, measure: str, span: Any, why: str) -> EvaluationError:
    return EvaluationError(f"{measure}: {span!r} is {why}", document_id=view.id, rule=tagger.name)


def _stamps_of_files(taggers: tuple[Tagger, ...]) -> dict[str, FileStamp]:
    """Return the stamps of the files the taggers were given, such as word lists."""
    return {path: stamp_of_file(path) for path in sorted({path for one in taggers for path in one.files})}
