"""The rows of one attribute set: what its taggers return is checked, laid out, and written.

Reading documents is the caller's work. A set of one tagger that has a sieve goes block by block: documents
that hold nothing, mostly nearly all, cost a formatted line each.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import time
from collections.abc import Callable, Sequence
from typing import Any

from mixle_assets.errors import EvaluationError, MixleError
from mixle_assets.formats.attributes import encode_attribute_row
from mixle_assets.formats.codecs import ShardWriter
from mixle_assets.formats.lines import Block
from mixle_assets.records import Document, SpanRow
from mixle_assets.tagging.distribution import Distribution
from mixle_assets.tagging.entries import Sieve
from mixle_assets.tagging.registry import Tagger, attribute_key
from mixle_assets.tagging.slowest import SlowestDocuments
from mixle_assets.tagging.views import DocumentView, Measures, view_of

SCORE_DECIMALS = 5
"""As Dolma's taggers write them, so that its thresholds and ours meet the same numbers."""


def make_pass(name: str, taggers: tuple[Tagger, ...], writer: ShardWriter) -> SetPass:
    """Return what writes the rows of a set with these taggers."""
    sieve = taggers[0].sieve if len(taggers) == 1 else None
    return SetPass(name, taggers, writer) if sieve is None else SievedPass(name, taggers[0], sieve, writer)


class SetPass:
    """The taggers of one set at work on one file."""

    def __init__(self, name: str, taggers: tuple[Tagger, ...], writer: ShardWriter) -> None:
        self.name = name
        self.taggers = taggers
        self.writer = writer
        self.distribution = Distribution()
        self._num_rows = 0
        self._ahead: dict[str, Sequence[Measures]] = {}
        self._seconds_a_character = 0.0  # that the documents ahead have taken already
        self.slowest = SlowestDocuments()
        self._outputs: list[dict[str, tuple[str, list[float]]]] = [{} for _ in taggers]

    @property
    def takes_several(self) -> bool:
        """Whether a tagger measures several documents at once: ``measure_several`` has to come first."""
        return any(tagger.measure_all is not None for tagger in self.taggers)

    def measure_several(self, views: Sequence[DocumentView], lines: Sequence[int], path: str) -> None:
        """Let the taggers that can measure documents whose rows are written next.

        Args:
            views: The documents.
            lines: Their lines in the file, for messages.
            path: The file, for messages.

        Raises:
            EvaluationError: A tagger failed; names the document if it is one.
        """
        started = time.perf_counter()
        for tagger in self.taggers:
            if tagger.measure_all is None:
                continue
            try:
                measured = tagger.measure_all(views)
            except Exception as error:
                for view, line in zip(views, lines, strict=True):
                    try:
                        _measured(tagger, tagger.measure, view)
                    except MixleError as of_one:
                        raise of_one.at(path=path, line=line) from error
                raise EvaluationError(
                    f"the tagger failed with {len(views)} documents at once, but with none of them alone: "
                    f"{type(error).__name__}: {error}",
                    path=path,
                    line=lines[0],
                    rule=tagger.name,
                ) from error
            if len(measured) != len(views):
                raise EvaluationError(
                    f"returned the measures of {len(measured)} documents for {len(views)}",
                    path=path,
                    line=lines[0],
                    rule=tagger.name,
                )
            self._ahead[tagger.name] = measured
        # Nobody knows what each took, so they share it by their lengths.
        num_characters = sum(len(view.text) for view in views) or 1
        self._seconds_a_character = (time.perf_counter() - started) / num_characters

    def write_row(self, view: DocumentView, line: int, place: int) -> None:
        """Measure one document and write its row.

        Args:
            view: The document.
            line: Its line in the file.
            place: Where it is among those of ``measure_several``.

        Raises:
            EvaluationError: A tagger failed, or returned what is no span inside the text.
        """
        started = time.perf_counter()
        measured = [
            _measured(tagger, tagger.measure, view)
            if tagger.measure_all is None
            else self._ahead[tagger.name][place]
            for tagger in self.taggers
        ]
        self.writer.write(self._row(view, measured))
        seconds = time.perf_counter() - started + self._seconds_a_character * len(view.text)
        if seconds > self.slowest.floor:
            self.slowest.note(seconds, line, view)
        self._num_rows += 1
        if self._num_rows % 1024 == 0:
            self.distribution.fold()

    def _row(self, view: DocumentView, measured: Sequence[Measures]) -> bytes:
        length = len(view.text)
        attributes: dict[str, list[SpanRow]] = {}
        for tagger, outputs, measures in zip(self.taggers, self._outputs, measured, strict=True):
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
        return encode_attribute_row(view.id, attributes, view.source) + b"\n"

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


class SievedPass(SetPass):
    """The one tagger of a set at work on one file, behind its sieve."""

    def __init__(self, name: str, tagger: Tagger, sieve: Sieve, writer: ShardWriter) -> None:
        super().__init__(name, (tagger,), writer)
        self._sieve = sieve
        self._find_candidates = sieve.make()
        self._templates: dict[tuple[float, ...], str] = {}

    def write_block(self, block: Block, documents: Sequence[tuple[int, Document]], path: str) -> None:
        """Write the rows of the documents of one block.

        Args:
            block: The lines.
            documents: What was read from them, with the numbers of their lines.
            path: The file, for messages.

        Raises:
            EvaluationError: As ``write_row``, with file and line.
        """
        tagger, sieve = self.taggers[0], self._sieve
        nothing, templates = sieve.nothing, self._templates
        may_hold = self._find_candidates(block)
        is_plain = _need_no_escape(documents)
        num_spans = len(sieve.measures)
        rows: list[str] = []
        num_of: dict[tuple[float, ...], int] = {}
        for line_number, document in documents:
            what = may_hold[line_number - block.first_line]
            if what == 0 and is_plain:
                scores = nothing(document.text)
                if scores not in templates:
                    templates[scores] = self._template(scores)
                num_of[scores] = num_of.get(scores, 0) + 1
                rows.append(
                    templates[scores] % (document.id, *(len(document.text),) * num_spans, document.source)
                )
                continue
            view = view_of(document)
            started = time.perf_counter()
            try:
                if what:
                    measures = _measured(tagger, functools.partial(sieve.measure, may_hold=what), view)
                else:
                    measures = dict(zip(sieve.measures, nothing(document.text), strict=True))
                rows.append(self._row(view, [measures]).decode())
            except MixleError as error:
                raise error.at(path=path, line=line_number) from error
            if (seconds := time.perf_counter() - started) > self.slowest.floor:
                self.slowest.note(seconds, line_number, document)
        self.writer.write("".join(rows).encode())
        for scores, number in num_of.items():
            for measure, score in zip(sieve.measures, scores, strict=True):
                key = attribute_key(self.name, tagger.name, measure)
                self.distribution.scores_of(key).extend([score] * number)
        self.distribution.fold()

    def _template(self, scores: tuple[float, ...]) -> str:
        """Return the row of a document with these scores, to be filled in with id, lengths and source."""
        spans = ",".join(
            f'"{attribute_key(self.name, self.taggers[0].name, measure)}":[[0,%d,{json.dumps(score)}]]'
            for measure, score in zip(self._sieve.measures, scores, strict=True)
        )
        return self._templates.setdefault(scores, f'{{"id":"%s","attributes":{{{spans}}},"source":"%s"}}\n')


def _measured(tagger: Tagger, measure: Callable[[DocumentView], Measures], view: DocumentView) -> Measures:
    try:
        return measure(view)
    except Exception as error:
        raise EvaluationError(
            f"the tagger failed: {type(error).__name__}: {error}", document_id=view.id, rule=tagger.name
        ) from error


def _need_no_escape(documents: Sequence[tuple[int, Document]]) -> bool:
    """Return whether the ids and sources of documents are all strings that stand in JSON as they are."""
    try:
        together = "".join([document.id + document.source for _, document in documents])
    except TypeError:
        return False
    return together.isprintable() and '"' not in together and "\\" not in together


def _refused(tagger: Tagger, view: DocumentView, measure: str, span: Any, why: str) -> EvaluationError:
    return EvaluationError(f"{measure}: {span!r} is {why}", document_id=view.id, rule=tagger.name)
