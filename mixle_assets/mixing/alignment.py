"""Documents and their attribute rows side by side: by position, each id checked, counts at the end.

What is done with a merged row stands in ``mixer``. Nothing is guessed: a row that does not belong to its
document stops the work, and only what the recipe tolerates is passed over, counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from mixle_assets import storage
from mixle_assets.errors import InputError
from mixle_assets.formats.attribute_files import AttributeRows, open_attribute_rows
from mixle_assets.formats.attributes import MISSING_ID, UNREADABLE_ID, AttributeRow
from mixle_assets.formats.documents import DocumentReader, read_documents
from mixle_assets.recipe.models import Tolerate
from mixle_assets.records import Counts, FileStamp


class MixFile(NamedTuple):
    """One document file and the attribute files that belong to it.

    Attributes:
        path: Location of the documents.
        name: Provenance name, unique in the recipe, such as ``prose/0000.jsonl.gz``.
        attributes: ``(set, location)`` of each attribute file, in the recipe's order: later sets win.
    """

    path: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class InputCodecs:
    """Codecs of documents and attributes that override the extension; None leaves it to the extension.

    Attributes:
        documents: Of document files.
        foreign: Of the attribute files of other tools.
        own_sets: Attribute sets made here: always by extension.
    """

    documents: str | None = None
    foreign: str | None = None
    own_sets: frozenset[str] = frozenset()

    def of_set(self, name: str) -> str | None:
        """Return the codec of a set's files, or None for the extension's."""
        return None if name in self.own_sets else self.foreign


class AlignedRows:
    """The documents of one file with their attributes merged in, as ``(line_number, row)``.

    Attributes:
        stamps: Location to stamp of every file that was read; complete once the rows are exhausted.
    """

    def __init__(
        self,
        file: MixFile,
        tolerate: Tolerate,
        counts: Counts,
        codecs: InputCodecs,
        keys: Collection[str] | None,
        span_keys: Collection[str],
    ) -> None:
        self.file = file
        self.stamps: dict[str, FileStamp] = {}
        self._tolerate = tolerate
        self._counts = counts
        self._documents = read_documents(
            file.path, codec=codecs.documents, malformed_row=tolerate.malformed_row, counts=counts
        )
        self._sets: list[str] = []
        self._attributes: list[AttributeRows] = []
        for name, path in file.attributes:
            if storage.stat(path) is None:
                self._missing(name, path)
                continue
            self._sets.append(name)
            self._attributes.append(
                open_attribute_rows(
                    path,
                    codec=codecs.of_set(name),
                    malformed_row=tolerate.malformed_row,
                    counts=counts,
                    keys=keys,
                    span_keys=span_keys,
                    reuse=keys is not None,
                )
            )

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        yield from self._merged() if self._attributes else self._documents
        readers: list[DocumentReader | AttributeRows] = [self._documents, *self._attributes]
        for reader in readers:
            self.stamps[reader.path] = reader.stamp

    def _merged(self) -> Iterator[tuple[int, dict[str, Any]]]:
        documents = iter(self._documents)
        rows = [reader.rows() for reader in self._attributes]
        for num_before, (document, *found) in enumerate(zip_longest(documents, *rows, fillvalue=_END)):
            if document is _END:
                self._refuse_longer(num_before, found, rows)
                return
            line, row = document
            document_id = row.get("id", MISSING_ID)
            # What equals a string is one; but 1, 1.0 and True are equal.
            is_aligned = type(document_id) is str
            attributes: dict[str, Any] = {}
            num_keys = 0
            for entry in found:
                if entry.id != document_id:
                    is_aligned = False
                if entry.attributes:
                    attributes.update(entry.attributes)
                    num_keys += len(entry.attributes)
            if not is_aligned:
                found = self._look_closer(num_before, line, document_id, found, documents)
                num_keys = sum(len(entry.attributes) for entry in found)
                attributes = dict(item for entry in found for item in entry.attributes.items())
            if num_keys != len(attributes):
                self._collide(line, document_id, found)
            own = row.get("attributes")
            if type(own) is dict and own:
                overwritten = sum(key in attributes for key in own)
                self._counts.note("own_attributes_overwritten", overwritten)
                attributes = own | attributes
            row["attributes"] = attributes
            yield line, row

    def _look_closer(
        self,
        num_before: int,
        line: int,
        document_id: Any,
        found: list[AttributeRow],
        documents: Iterator[Any],
    ) -> list[AttributeRow]:
        """Put nothing in place of what may be missing; raise for a row of another document."""
        if _END in found:
            self._refuse_shorter(num_before, line, found, documents)
        entries: list[AttributeRow] = []
        for reader, entry in zip(self._attributes, found, strict=True):
            if entry is _END or entry.id is UNREADABLE_ID:
                entries.append(AttributeRow({}, document_id))
            elif entry.id == document_id and type(entry.id) is type(document_id):
                entries.append(entry)
            else:
                raise InputError(
                    f"the row is of {_shown(entry.id)}, but the document at its place is "
                    f"{_shown(document_id)}, {self.file.path}:{line}",
                    path=reader.path,
                    line=reader.line_of(num_before),
                    document_id=None if document_id is MISSING_ID else document_id,
                )
        return entries

    def _refuse_shorter(self, num_before: int, line: int, found: list[Any], documents: Iterator[Any]) -> None:
        for reader, name, entry in zip(self._attributes, self._sets, found, strict=True):
            if entry is not _END:
                continue
            if self._tolerate.missing_attributes == "skip":
                self._counts.note(f"missing_attribute_rows:{name}")
                continue
            num_documents = num_before + 1 + sum(1 for _ in documents)
            raise InputError(
                f"the set {name!r} has {num_before:,} rows for {num_documents:,} documents: there is none "
                f"for {self.file.path}:{line}{_OVERRIDE}",
                path=reader.path,
            )

    def _refuse_longer(
        self, num_documents: int, found: list[AttributeRow], rows: list[Iterator[AttributeRow]]
    ) -> None:
        for reader, name, entry, rest in zip(self._attributes, self._sets, found, rows, strict=True):
            if entry is _END:
                continue
            num_extra = 1 + sum(1 for _ in rest)
            if self._tolerate.missing_attributes == "skip":
                self._counts.note(f"extra_attribute_rows:{name}", num_extra)
                continue
            raise InputError(
                f"the set {name!r} has {num_documents + num_extra:,} rows for {num_documents:,} documents in "
                f"{self.file.path}{_OVERRIDE}",
                path=reader.path,
                line=reader.line_of(num_documents),
            )

    def _collide(self, line: int, document_id: Any, found: list[AttributeRow]) -> None:
        """Raise, or count, for the keys that more than one set holds."""
        holders: dict[str, str] = {}
        for name, entry in zip(self._sets, found, strict=True):
            for key in entry.attributes:
                if key not in holders:
                    holders[key] = name
                    continue
                if self._tolerate.key_collision == "error":
                    raise InputError(
                        f"the sets {holders[key]!r} and {name!r} both hold the attribute {key!r}: rename "
                        f"one, or write tolerate: {{key_collision: last}} to let the later listed win",
                        path=self.file.path,
                        line=line,
                        document_id=None if document_id is MISSING_ID else document_id,
                    )
                self._counts.note("key_collisions")

    def _missing(self, name: str, path: str) -> None:
        if self._tolerate.missing_attributes == "error":
            raise InputError(
                f"there is no attribute file of the set {name!r} for {self.file.path}{_OVERRIDE}", path=path
            )
        self._counts.note(f"missing_attribute_files:{name}")


_END = AttributeRow({}, object())
_OVERRIDE = "; write tolerate: {missing_attributes: skip} to go on without those values"


def align_rows(
    file: MixFile,
    *,
    tolerate: Tolerate | None = None,
    counts: Counts | None = None,
    codecs: InputCodecs | None = None,
    keys: Collection[str] | None = None,
    span_keys: Collection[str] = (),
) -> AlignedRows:
    """Return the documents of one file, each with the attributes of its row in every set merged in.

    Row *n* of each attribute file belongs to document *n*; blank lines count for neither. Under
    ``attributes`` stand the document's own, overwritten by the sets in their order::

        document {"id":"a","attributes":{"x":1,"y":1}}, set A {"y":2}, set B {"z":3}
        row      {"id":"a","attributes":{"x":1,"y":2,"z":3}}     noted: own_attributes_overwritten 1

    A file without attribute files hands its rows out as they are.

    Args:
        file: The documents and their attribute files.
        tolerate: What is counted instead of raised; None tolerates nothing.
        counts: Where it is noted: ``missing_attribute_files:SET``, ``missing_attribute_rows:SET``,
            ``extra_attribute_rows:SET``, ``key_collisions``, and what the readers note.
        codecs: Codecs that override the extension.
        keys: The attribute keys to read from the sets; None reads all. For a caller that neither writes the
            attributes nor reads others, nor looks at a row's after it took the next.
        span_keys: Those of them that may come as checked tuples (``read_attribute_rows``).

    Returns:
        An iterable of ``(line_number, row)``, to be run through once.

    Raises:
        InputError: An attribute file is missing; while iterating: its rows are fewer or more than the
            documents, a row's id is another one (``7`` is not ``"7"``), two sets hold one key, or a file is
            broken. With file, line and id.
    """
    return AlignedRows(
        file,
        tolerate or Tolerate(),
        Counts() if counts is None else counts,
        codecs or InputCodecs(),
        keys,
        span_keys,
    )


def _shown(document_id: Any) -> str:
    """Name an id with its type, since ``7`` and ``"7"`` look alike in a message."""
    if document_id is MISSING_ID:
        return "a document without id"
    return f"document {document_id!r} ({_JSON_NAMES.get(type(document_id), type(document_id).__name__)})"


_JSON_NAMES: Mapping[type, str] = {str: "a string", int: "a number", float: "a number", bool: "a boolean"}
