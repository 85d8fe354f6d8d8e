"""Taggers as a user would write them, for the tests."""

import time

from mixle_assets.records import Document


def tables(document: Document, *, threshold: int = 1) -> dict[str, list[list[float]]]:
    """Lines with a bar in them."""
    spans = []
    start = 0
    for line in document.text.split("\n"):
        if line.count("|") >= threshold:
            spans.append([start, start + len(line), 1.0])
        start += len(line) + 1
    return {"tables": spans}


tables.version = "2"  # type: ignore[attr-defined]
tables.measures = ["tables"]  # type: ignore[attr-defined]


class Glossary:
    """Words of a list that was loaded once."""

    num_made = 0

    def __init__(self, words: tuple[str, ...]) -> None:
        if not words:
            raise ValueError("words must name at least one word")
        Glossary.num_made += 1
        self.words = frozenset(words)
        self.memory_in_bytes = 1000

    def __call__(self, document: Document) -> dict[str, list[list[float]]]:
        return {"known": [[0, len(document.text), sum(word in self.words for word in document.text.split())]]}


def undeclared(document):
    return {"b": []}


undeclared.measures = ["a"]  # type: ignore[attr-defined]


def returns(document, *, spans):
    """Whatever the recipe says, to be refused or taken."""
    return {"it": [list(span) if isinstance(span, tuple) else span for span in spans]}


def nan(document):
    return {"it": [[0, 0, float("nan")]]}


def two_in_one(document):
    return {"a-b": [], "a.b": []}


def breaks_on_empty(document):
    return {"ratio": [[0, len(document.text), 1 / len(document.text)]]}


class Together:
    """Takes several documents at once; on some texts it fails, or forgets one."""

    def __call__(self, document: Document) -> dict[str, float]:
        if document.text == "never":
            raise ValueError("not this one")
        return {"length": len(document.text)}

    def measure_all(self, documents: list[Document]) -> list[dict[str, float]]:
        texts = [document.text for document in documents]
        if "not together" in texts:
            raise ValueError("too many")
        measured = [self(document) for document in documents]
        return measured[1:] if "forgotten" in texts else measured


class Slow:
    """Takes ten microseconds a character."""

    def __call__(self, document: Document) -> dict[str, float]:
        time.sleep(len(document.text) / 100_000)
        return {"length": len(document.text)}


class SlowTogether(Slow):
    """The same, for several documents at once."""

    def measure_all(self, documents: list[Document]) -> list[dict[str, float]]:
        return [self(document) for document in documents]


a_number = 7
