"""What deduping guarantees, looked up once more the slow way: from the texts themselves, without a hash.

Every ``find_`` function yields violations and catches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from xxhash import xxh3_64_intdigest

from mixle_assets import storage
from mixle_assets.deduping.keys import MISSING, key_getter
from mixle_assets.deduping.members import group_of, stream_rank
from mixle_assets.deduping.words import is_blank, num_words
from mixle_assets.formats.attributes import read_attribute_rows
from mixle_assets.formats.documents import read_documents
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Dedupe
from mixle_assets.records import Violation


class DedupedShard(msgspec.Struct, frozen=True):
    """One shard and where its attributes are.

    Attributes:
        stream: Name of its stream.
        files: Its document files, in plan order.
        rules: The stream's ``dedupe`` section.
        attributes: Provenance name of each file to its attribute file.
        eligible: As in ``index.HashedShard``.
        codec: ``gz``, ``zst`` or ``""`` of the document files; None takes it from the extension.
        malformed_row: As the shard was hashed with.
    """

    stream: str
    files: tuple[PlannedFile, ...]
    rules: Dedupe
    attributes: dict[str, str]
    eligible: str | None = None
    codec: str | None = None
    malformed_row: OnMalformed = "error"


class _Unit(NamedTuple):
    """One thing that is compared: in which index and by what, and the key and span that would mark it."""

    group: str
    value: Any
    attribute_name: str
    span: list[int]


class _Place(NamedTuple):
    """One document beside its attribute row."""

    shard: DedupedShard
    where: str
    takes_part: bool
    document: dict[str, Any]
    attributes: dict[str, Any]


def find_missing_rows(shard: DedupedShard) -> Iterator[Violation]:
    """Yield where an attribute file of the shard has not exactly one row for each document, in order."""
    for file in shard.files:
        path = shard.attributes[file.name]
        rows = iter(read_attribute_rows(path))
        for line, document in _documents(shard, file):
            row = next(rows, None)
            if row is None:
                yield Violation(path, f"a row for line {line} of {file.name}", "no more rows")
                break
            if row[1] != document["id"] or type(row[1]) is not type(document["id"]):
                yield Violation(f"{path}:{row[0]}", f"id {document['id']!r}", f"id {row[1]!r}")
        for number, row_id, _ in rows:
            yield Violation(f"{path}:{number}", f"no row: {file.name} is at its end", f"id {row_id!r}")


def find_wrong_survivors(shards: Sequence[DedupedShard], *, one_in: int = 1) -> Iterator[Violation]:
    """Yield the documents whose marks are not what comparing all texts with each other gives.

    Reads everything twice and keeps each different value once in memory; looking at a part of the values
    bounds that.

    Args:
        shards: All shards of the plan that dedupe, in plan order.
        one_in: Look at one value in so many, chosen by its hash, so at the same ones everywhere.
    """
    best: dict[tuple[str, Any], tuple[int, int]] = {}
    num_copies: dict[tuple[str, Any], int] = {}
    for _, units in _ranked(shards, one_in):
        for rank, unit in units:
            key = (unit.group, unit.value)
            best[key] = min(rank, best.get(key, rank))
            num_copies[key] = num_copies.get(key, 0) + 1
    for place, units in _ranked(shards, one_in):
        keeps_none = place.shard.rules.keep == "none"
        asked: dict[str, list[list[int]]] = {}
        expected: dict[str, list[list[int]]] = {}
        for rank, unit in units:
            key = (unit.group, unit.value)
            asked.setdefault(unit.attribute_name, []).append(unit.span)
            spans = expected.setdefault(unit.attribute_name, [])
            if unit.value is not None and num_copies[key] > 1 and (keeps_none or rank != best[key]):
                spans.append([*unit.span, 1])
        for name, spans in expected.items():
            found = place.attributes.get(name, [])
            if one_in > 1:
                found = [span for span in found if span[:2] in asked[name]]
            if found != spans:
                yield Violation(place.where, f"{name}: {spans}", f"{name}: {found}")


def _ranked(
    shards: Sequence[DedupedShard], one_in: int
) -> Iterator[tuple[_Place, list[tuple[tuple[int, int], _Unit]]]]:
    """Yield each document with what is compared of it; of equal ones the one with the lowest rank stays."""
    position = 0
    for place in _places(shards):
        stream = stream_rank(place.shard.stream, place.shard.rules)
        units = []
        for unit in _units(place):
            position += 1
            if unit.value is None or one_in == 1 or xxh3_64_intdigest(unit.value.encode()) % one_in == 0:
                units.append(((stream, position), unit))
        yield place, units


def _units(place: _Place) -> Iterator[_Unit]:
    """Yield what of a document is compared; the value is None where it takes no part."""
    rules, text = place.shard.rules, place.document["text"]
    if rules.documents is not None:
        value = key_getter(rules.documents.key)(place.document)
        takes_part = place.takes_part and value is not MISSING and value is not None
        if isinstance(value, str):
            takes_part = takes_part and _is_compared(value, rules)
        yield _Unit(
            group_of(rules, "documents") or "",
            # JSON, so that 1, 1.0, true and "1" are four values.
            json.dumps(value, sort_keys=True) if takes_part else None,
            rules.documents.attribute_name,
            [0, len(text)],
        )
    if rules.paragraphs is not None and text:
        separator = rules.paragraphs.separator
        start = 0
        pieces = text.split(separator)
        for number, piece in enumerate(pieces):
            is_last = number == len(pieces) - 1
            ends_text = number == len(pieces) - 2 and not pieces[-1]
            end = start + len(piece) + (0 if is_last or ends_text else len(separator))
            takes_part = place.takes_part and _is_compared(piece, rules)
            yield _Unit(
                group_of(rules, "paragraphs") or "",
                piece if takes_part else None,
                rules.paragraphs.attribute_name,
                [start, end],
            )
            start = end


def _is_compared(value: str, rules: Dedupe) -> bool:
    if len(value) < rules.min_length or num_words(value) < rules.min_words:
        return False
    return not (rules.skip_empty and is_blank(value))


def _places(shards: Sequence[DedupedShard]) -> Iterator[_Place]:
    for shard in shards:
        eligible = None if shard.eligible is None else np.load(storage.local_path(shard.eligible))
        number = 0
        for file in shard.files:
            rows = read_attribute_rows(shard.attributes[file.name])
            for (line, document), (_, _, attributes) in zip(_documents(shard, file), rows, strict=False):
                takes_part = eligible is None or bool(eligible[number])
                yield _Place(shard, f"{file.name}:{line}", takes_part, document, attributes)
                number += 1


def _documents(shard: DedupedShard, file: PlannedFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the documents that were hashed: those with an id and a text."""
    policy: Any = {"codec": shard.codec, "malformed_row": shard.malformed_row}
    for line, document in read_documents(file.path, **policy):
        if "id" in document and isinstance(document.get("text"), str):
            yield line, document
