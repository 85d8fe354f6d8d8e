"""Language, quality and toxicity by a fastText model that you have; no model comes with this package.

``fasttext_v1`` takes any supervised model. The other names are Dolma's, with its formulas and keys; Dolma
fetches their models, here each takes the file. A model is loaded when the first document comes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from mixle_assets.errors import RecipeError
from mixle_assets.records import SpanRow
from mixle_assets.tagging.fasttext_file import is_installed, load_model, name_of, read_head
from mixle_assets.tagging.registry import FilePath, tagger
from mixle_assets.tagging.views import DocumentView, Measures

_WHITE_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""Unicode's white space, which ``str.split`` takes for more."""


def _labels_of_model(bound: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what ``fasttext_v1`` can write: the labels that were asked for, or all of the model."""
    return tuple(bound["labels"] or read_head(bound["model"]).labels)


def _all_labels(bound: Mapping[str, Any]) -> tuple[str, ...]:
    return read_head(bound["model"]).labels


class _Classifier:
    """A model that is loaded by the first document; what it will take in memory is known before."""

    def __init__(self, *, model: FilePath) -> None:
        if not is_installed():
            raise RecipeError("fastText models need a package: pip install 'mixle_assets[fasttext]'")
        self._path = model
        self.head = read_head(model)
        self.memory_in_bytes = self.head.memory_in_bytes

    @cached_property
    def _model(self) -> Any:
        return load_model(self._path)

    def predict(self, line: str, *, k: int = -1, threshold: float = 0.0) -> list[tuple[str, float]]:
        """Return labels and scores, the highest first; a text without a known word may have none.

        Args:
            line: Text without line feeds.
            k: How many labels; -1 returns all.
            threshold: Lowest score that is returned.
        """
        found: list[tuple[float, str]] = self._model.predict(line + "\n", k, threshold, "strict")
        return [(label, score) for score, label in found]


@tagger("fasttext_v1", measures=_labels_of_model)
class AnyModel(_Classifier):
    """Score of each label of a fastText model, for the text or for each filled paragraph."""

    def __init__(
        self,
        *,
        model: FilePath,
        labels: list[str] | None = None,
        threshold: float = 0.0,
        lower_case: bool = False,
        paragraphs: bool = False,
    ) -> None:
        super().__init__(model=model)
        for label in labels or ():
            if label not in self.head.labels:
                near = difflib.get_close_matches(str(label), self.head.labels, n=1)
                known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self.head.labels[:20])}"
                raise RecipeError(f"the model has no label {label!r}; {known}")
        self._labels = tuple(labels or ())
        self._threshold = threshold
        self._lower_case = lower_case
        self._paragraphs = paragraphs

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        if not self._paragraphs:
            return dict(self._scores(document.text))
        measures: dict[str, list[SpanRow]] = {}
        for piece in document.filled_paragraphs:
            for label, score in self._scores(piece.text):
                measures.setdefault(label, []).append([piece.start, piece.end, score])
        return measures

    def _scores(self, text: str) -> Iterable[tuple[str, float]]:
        """Return scores by label; labels that were named are all there, 0 below the threshold."""
        line = text.replace("\n", " ").strip()
        found = self.predict(line.lower() if self._lower_case else line, threshold=self._threshold)
        named = ((name_of(label), score) for label, score in found)
        if not self._labels:
            return named
        scores = dict(named)
        return [(label, scores.get(label, 0.0)) for label in self._labels]


class _Language(_Classifier):
    """Dolma's way with language models: lower case, on one line, stripped."""

    def languages(self, text: str) -> list[tuple[str, float]]:
        found = self.predict(text.lower().replace("\n", " ").strip())
        return [(name_of(label), score) for label, score in found]

    def english(self, text: str) -> float:
        return next((score for language, score in self.languages(text) if language == "en"), 0.0)


@tagger("ft_lang_id_doc_v1", measures=_all_labels)
class AllLanguages(_Language):
    """Score of every language of a fastText model for the lower-cased text."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return dict(self.languages(document.text))


@tagger("ft_lang_id_1e2", measures=_all_labels)
class LikelyLanguages(_Language):
    """As ``ft_lang_id_doc_v1``, but only scores above 0.01, with two decimals."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        found = self.languages(document.text)
        return {language: round(score, 2) for language, score in found if score > 0.01}


@tagger("ft_lang_id_paragraph_v1", measures=_all_labels)
class LanguagesOfParagraphs(_Language):
    """As ``ft_lang_id_doc_v1`` for each filled paragraph."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        measures: dict[str, list[SpanRow]] = {}
        for piece in document.filled_paragraphs:
            for language, score in self.languages(piece.text):
                measures.setdefault(language, []).append([piece.start, piece.end, score])
        return measures


@tagger("ft_lang_id_en_only_v2", measures=["en"])
class OnlyEnglish(_Language):
    """Score of ``en`` for the lower-cased text, 0 if the model does not return it."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return {"en": self.english(document.text)}


@tagger("ft_lang_id_en_doc_v2", measures=["en", "not_en"])
class EnglishOrNot(_Language):
    """As ``ft_lang_id_en_only_v2``, and one minus it."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        score = self.english(document.text)
        return {"en": score, "not_en": 1.0 - score}


@tagger("ft_lang_id_en_paragraph_v2", measures=["en", "not_en"])
class EnglishParagraphs(_Language):
    """As ``ft_lang_id_en_doc_v2`` for each filled paragraph."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        rows = [[piece.start, piece.end, self.english(piece.text)] for piece in document.filled_paragraphs]
        if not rows:
            return {}
        return {"en": rows, "not_en": [[start, end, 1.0 - score] for start, end, score in rows]}


@tagger("ft_lang_id_en_paragraph_with_doc_score_v2", measures=["en", "not_en", "doc_en", "doc_not_en"])
class EnglishParagraphsAndText(EnglishParagraphs):
    """As ``ft_lang_id_en_paragraph_v2``, and their sum weighted by length over that of the text."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        measures = super().__call__(document)
        length = len(document.text)
        if not length:
            return {**measures, "doc_en": 0.0, "doc_not_en": 0.0}
        rows: Any = measures.get("en", ())
        score = sum((end - start) * score for start, end, score in rows) / length
        return {**measures, "doc_en": score, "doc_not_en": 1 - score}


@tagger("dolma17-quality", measures=_all_labels)
class Dolma17Quality(_Classifier):
    """Score of every label of a fastText model for the words of the text; nothing without words."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        line = " ".join(word for word in _WHITE_SPACE.split(document.text) if word)
        return {name_of(label): score for label, score in self.predict(line)} if line else {}


def _dclm_measures(bound: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_dclm_measure, read_head(bound["model"]).labels)))


def _dclm_measure(label: str) -> str:
    return label.replace("cc", "score").replace("hq", "score")


@tagger("dclm-oh-eli5", measures=_dclm_measures)
class DclmQuality(_Classifier):
    """Score of the likelier of two labels, of ``cc`` one minus it, so that high is good."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        for label, score in self.predict(" ".join(document.text.strip().splitlines()), k=1):
            return {_dclm_measure(name_of(label)): 1 - score if name_of(label) == "cc" else score}
        return {}


def _full_labels(bound: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"__label__{label}" for label in read_head(bound["model"]).labels)


class Toxicity(_Classifier):
    """Score of every label of a fastText model; the measure keeps ``__label__`` before its name."""

    def __call__(self, document: DocumentView) -> Measures:
        """Measure one document."""
        return dict(self.predict(document.text.replace("\n", " ").strip()))


for _name in ("jigsaw_hatespeech_document_v2", "jigsaw_nsfw_document_v1"):
    tagger(_name, measures=_full_labels)(Toxicity)
