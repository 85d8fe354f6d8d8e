"""The rules of the C4 corpus: lines without an end, short lines, and documents with unwanted words.

``c4_v1`` and ``c4_v2`` have Dolma's values; ``c4_v3`` has offsets of the text as it is. No word list comes
with this package: name your own, one word or phrase a line.

Source of the idea: Raffel et al., arXiv:1910.10683, section 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixle_assets import storage
from mixle_assets.tagging.registry import FilePath, tagger
from mixle_assets.tagging.views import DocumentView, Measures

_ENDINGS = (".", "?", "!", '"')
_LEAST_WORDS = 3
_FLAGS = ("has_naughty_word", "has_javascript", "has_lorem_ipsum", "has_curly_brace")
_LINES = ("lines_with_no_ending_punctuation", "lines_with_too_few_words")


def _measures(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what can be written: without a word list no naughty word is ever found."""
    flags = _FLAGS if parameters["word_list"] is not None else _FLAGS[1:]
    return (*flags, *_LINES, "line_count")


class _Words:
    """A list of words and phrases, in lower case."""

    def __init__(self, path: str | None) -> None:
        content = storage.read_bytes(path).decode("utf-8-sig") if path is not None else ""
        entries = {line.strip().lower() for line in content.split("\n")} - {""}
        self.words = frozenset(entry for entry in entries if len(entry.split()) == 1)
        self.phrases = tuple(sorted(entries - self.words))

    def are_in(self, text: str) -> bool:
        """Return whether a word stands in the text between white space, or a phrase anywhere."""
        return not self.words.isdisjoint(text.split()) or any(phrase in text for phrase in self.phrases)


class _C4:
    def __init__(self, *, word_list: FilePath | None = None) -> None:
        self._words = _Words(word_list)

    def _flags(self, document: DocumentView, *, naughty: bool, javascript: bool, lorem: bool) -> Measures:
        found = zip(_FLAGS, (naughty, javascript, lorem, "{" in document.text), strict=True)
        return {name: 1.0 for name, holds in found if holds}

    def _flags_of_text(self, document: DocumentView, lower: str) -> Measures:
        return self._flags(
            document,
            naughty=self._words.are_in(lower),
            javascript="javascript" in lower,
            lorem="lorem ipsum" in lower,
        )


@tagger("c4_v1", measures=_measures)
class C4V1(_C4):
    """C4's rules by line, with Dolma's values: words must stand alone, phrases within one line."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        lines = [line.lower().strip() for line in document.lines]
        flags = self._flags(
            document,
            naughty=any(map(self._words.are_in, lines)),
            javascript=any("javascript" in line.split() for line in lines if "javascript" in line),
            lorem=any("lorem ipsum" in line for line in lines),
        )
        return {**_line_measures(document.lines), **flags, "line_count": len(lines)}


@tagger("c4_v2", measures=_measures)
class C4V2(_C4):
    """C4's rules over the lower-cased text, with Dolma's values: its lines are measured in lower case.

    Where lower case is longer than the text (a Turkish capital I with dot) offsets drift; they are cut to the
    text's length, since Dolma's may lie beyond it.
    """

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        lower = document.text.lower()
        lines = lower.split("\n")
        measures = _line_measures(lines)
        length = len(document.text)
        if len(lower) != length:
            measures = {
                name: [[min(start, length), min(end, length), score] for start, end, score in spans]
                for name, spans in measures.items()
            }
        flags = self._flags_of_text(document, lower)
        by_first = dict(sorted(measures.items(), key=lambda item: item[1][0][0]))  # Dolma's order of keys
        return {**flags, **by_first, "line_count": len(lines)}


@tagger("c4_v3", measures=_measures)
class C4V3(_C4):
    """As ``c4_v2``, but offsets are the text's own, and the empty end after a last line feed is no line."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        lines = document.lines[:-1] if document.lines[-1] == "" else document.lines
        flags = self._flags_of_text(document, document.text.lower())
        measures = _line_measures(lines, ends_with_line_feed=len(lines) < len(document.lines))
        return {**flags, **measures, "line_count": len(lines)}


def _line_measures(lines: list[str], *, ends_with_line_feed: bool = False) -> dict[str, list[list[Any]]]:
    """Return the spans of lines without ending punctuation and of those with too few words.

    ``["One two three.", "four"]`` gives ``[[15, 19, 1.0]]`` for both; a span takes in the line feed.
    """
    endless: list[list[Any]] = []
    short: list[list[Any]] = []
    start = 0
    last = len(lines) - 1
    for number, line in enumerate(lines):
        end = start + len(line) + (number < last or ends_with_line_feed)
        stripped = line.strip()
        if not stripped.endswith(_ENDINGS):
            endless.append([start, end, 1.0])
        # Three words are at least five characters; most lines are longer and need no full split.
        if len(stripped.split(None, _LEAST_WORDS)) < _LEAST_WORDS:
            short.append([start, end, 1.0])
        start = end
    found = zip(_LINES, (endless, short), strict=True)
    return {name: spans for name, spans in found if spans}
