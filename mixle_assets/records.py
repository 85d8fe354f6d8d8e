"""The things that travel through the stages: documents, spans, segments, verdicts, counts.

Plain values only: nothing here reads, writes or decides. Offsets and lengths in text are code points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

DocumentId: TypeAlias = Any
"""An id keeps its JSON type: ``7`` and ``"7"`` are two documents."""

SpanRow: TypeAlias = list[Any]
"""``[start, end, score]``: half-open, in code points; the score is an int or a float."""

Attributes: TypeAlias = dict[str, Any]
"""Attribute key to a list of spans (foreign sets may hold any JSON value)."""


class Document(msgspec.Struct, frozen=True):
    """One document as a tagger sees it.

    Attributes:
        id: The id as it stands in the file, type kept.
        text: The text; lone surrogates were replaced by U+FFFD on reading.
        source: The document's ``source`` field, or ``""``.
        metadata: The document's ``metadata`` object, or an empty mapping.
    """

    id: DocumentId
    text: str
    source: str = ""
    metadata: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Verdict(NamedTuple):
    """Whether a document stays and, if not, by which rule it went.

    ``rule`` is None for a kept document; ``"include"`` where no include rule matched; else the exclude
    expression that matched first.
    """

    keep: bool
    rule: str | None = None


class Segment(NamedTuple):
    """A run of one document's tokens inside a packed row; all ranges half-open, in tokens."""

    document: int
    document_start: int
    document_stop: int
    row_start: int
    row_stop: int


class Violation(msgspec.Struct, frozen=True):
    """One broken guarantee: where it is, what was expected, what was found."""

    where: str
    expected: str
    found: str


class Counts(msgspec.Struct):
    """What went into a piece of work, what came out, and why the rest did not.

    Attributes:
        num_in: Records that entered.
        num_out: Records that came out.
        dropped: Reason to number of records; ``num_in == num_out + sum(dropped.values())``.
        noted: Anything else worth a number: blank lines, tolerated faults, characters removed, tokens.
    """

    num_in: int = 0
    num_out: int = 0
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    noted: dict[str, int] = msgspec.field(default_factory=dict)

    def drop(self, reason: str, by: int = 1) -> None:
        """Count ``by`` records as dropped for ``reason``."""
        self.dropped[reason] = self.dropped.get(reason, 0) + by

    def note(self, what: str, by: int = 1) -> None:
        """Add ``by`` to a noted number; zero leaves no trace."""
        if by:
            self.noted[what] = self.noted.get(what, 0) + by

    def add(self, other: Counts) -> None:
        """Add the counts of another piece of the same work to these."""
        self.num_in += other.num_in
        self.num_out += other.num_out
        for reason, number in other.dropped.items():
            self.drop(reason, number)
        for what, number in other.noted.items():
            self.note(what, number)

    @property
    def num_missing(self) -> int:
        """Records that are neither out nor dropped with a reason: 0 unless something was lost."""
        return self.num_in - self.num_out - sum(self.dropped.values())


class FileStamp(msgspec.Struct, frozen=True):
    """What is known of a file that was read: enough to tell later whether it changed.

    Attributes:
        digest: Hash of the stored bytes (``manifest.hash_bytes``), or the content digest of one of our own
            outputs.
        size_in_bytes: Stored size; None for our own outputs.
        modified: Modification time in nanoseconds, or the store's etag; None for our own outputs.
    """

    digest: str
    size_in_bytes: int | None = None
    modified: int | str | None = None


class Written(msgspec.Struct):
    """What a stage says of one output it has written whole; the pipeline makes the manifest of it.

    Attributes:
        rows_digest: Hash of the uncompressed rows or token values: no path, time, codec in it.
        file_hash: Hash of the stored bytes, for ``verify``.
        size_in_bytes: Stored size.
        counts: What went in, came out and was dropped, with reasons.
        read: Location to stamp, for every external file that was read on the way.
        details: Anything else for the manifest, plain JSON: statistics of rules, dtype, lengths.
    """

    rows_digest: str
    file_hash: str
    size_in_bytes: int
    counts: Counts
    read: dict[str, FileStamp] = msgspec.field(default_factory=dict)
    details: dict[str, Any] = msgspec.field(default_factory=dict)
