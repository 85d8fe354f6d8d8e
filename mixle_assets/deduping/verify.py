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
from mixle_assets.deduping.attributes import SHARE_DECIMALS
from mixle_assets.deduping.keys import MISSING, key_getter
from mixle_assets.deduping.members import group_of, stream_rank
from mixle_assets.deduping.ngrams import ngram_starts
from mixle_assets.formats.attributes import read_attribute_rows
from mixle_assets.formats.documents import read_documents
from mixle_assets.formats.lines import OnMalformed
from mixle_assets.planning import PlannedFile
from mixle_assets.recipe import Decontamination, Dedupe, DedupeParagraphs
from mixle_assets.records import Violation
from mixle_assets.segmentation.words import is_blank, num_words, split_words


class DedupedShard(msgspec.Struct, frozen=True):
    """One shard and where its attributes are.

    Attributes:
        stream: Name of its stream.
        files: Its document files, in plan order.
        rules: The stream's ``dedupe`` section.
        attributes: Provenance name of each file to its attribute file.
        against: The files of ``rules.against``.
        reference: The files of ``rules.decontamination.reference``.
        eligible: As in ``members.HashedShard``.
        codec: ``gz``, ``zst`` or ``""`` of the document files; None takes it from the extension.
        malformed_row: As the shard was hashed with.
    """

    stream: str
    files: tuple[PlannedFile, ...]
    rules: Dedupe
    attributes: dict[str, str]
    against: tuple[PlannedFile, ...] = ()
    reference: tuple[PlannedFile, ...] = ()
    eligible: str | None = None
    codec: str | None = None
    malformed_row: OnMalformed = "error"


class _Compared(NamedTuple):
    """A document or a paragraph as it is compared.

    ``values`` are looked up in the index ``group``; the last ``num_counted`` of them make its score. Without
    a threshold it is marked, with score 1, where its one value is a repetition. ``is_paragraph`` says whether
    it counts for the share of paragraphs that is marked.
    """

    group: str
    values: list[str]
    num_counted: int
    threshold: float | None
    attribute_name: str
    span: list[int]
    is_paragraph: bool = False


class _Place(NamedTuple):
    """One document beside its attribute row; None for one of a reference set."""

    shard: DedupedShard
    where: str
    rank: int
    takes_part: bool
    document: dict[str, Any]
    attributes: dict[str, Any] | None


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

    Looks at equal documents and paragraphs, also by n-grams; not at near ones. Reads everything twice and
    keeps each different value once in memory; looking at a part of the values bounds that.

    Args:
        shards: All shards of the plan that dedupe, in plan order.
        one_in: Look at one value in so many, chosen by its hash, so at the same ones everywhere; then
            paragraphs that are compared by n-grams are left out.
    """
    best: dict[tuple[str, str], tuple[int, int]] = {}
    repeated: set[tuple[str, str]] = set()
    for _, compared in _ranked(shards, one_in):
        for item, ranks in compared:
            for value, rank in zip(item.values, ranks, strict=True):
                key = (item.group, value)
                if key in best:
                    repeated.add(key)
                best[key] = min(rank, best.get(key, rank))
    for place, compared in _ranked(shards, one_in):
        if place.attributes is None:
            continue
        keeps_none = place.shard.rules.keep == "none"
        are_repetitions = [
            [
                (item.group, value) in repeated and (keeps_none or rank != best[item.group, value])
                for value, rank in zip(item.values, ranks, strict=True)
            ]
            for item, ranks in compared
        ]
        yield from _compare(place, [item for item, _ in compared], are_repetitions, is_sample=one_in > 1)


def find_wrong_contamination(shard: DedupedShard) -> Iterator[Violation]:
    """Yield the documents of which other paragraphs are marked than those that stand in the reference set."""
    rules = shard.rules.decontamination
    if rules is None:
        return
    known = {
        value
        for file in shard.reference
        for _, document in _documents(shard, file)
        for item in _paragraphs(document["text"], rules, shard.rules, "reference")
        for value in item.values
    }
    for place in _places([msgspec.structs.replace(shard, against=())]):
        items = list(_paragraphs(place.document["text"], rules, shard.rules, "reference"))
        stand_there = [[place.takes_part and value in known for value in item.values] for item in items]
        yield from _compare(place, items, stand_there, is_sample=False)


def _compare(
    place: _Place, items: Sequence[_Compared], are_repetitions: Sequence[Sequence[bool]], *, is_sample: bool
) -> Iterator[Violation]:
    """Yield the attributes of one document that are not those its repetitions give."""
    expected: dict[str, list[list[Any]]] = {}
    asked: dict[str, list[list[int]]] = {}
    for item, are_repeated in zip(items, are_repetitions, strict=True):
        asked.setdefault(item.attribute_name, []).append(item.span)
        marks = expected.setdefault(item.attribute_name, [])
        num_repeated = sum(are_repeated[len(are_repeated) - item.num_counted :])
        if item.threshold is None:
            if num_repeated:
                marks.append([*item.span, 1])
        elif item.num_counted:
            score = np.divide(num_repeated, item.num_counted, dtype=np.float32)
            if score >= np.float32(item.threshold):
                marks.append([*item.span, float(score)])
    paragraphs = place.shard.rules.paragraphs
    if paragraphs is not None and paragraphs.share_name is not None and paragraphs.attribute_name in expected:
        num_compared = sum(
            item.is_paragraph and item.attribute_name == paragraphs.attribute_name for item in items
        )
        share = round(len(expected[paragraphs.attribute_name]) / (num_compared or 1), SHARE_DECIMALS)
        if not is_sample:
            length = len(place.document["text"])
            expected[paragraphs.share_name] = [[0, length, share]] if num_compared else []
    for name, marks in expected.items():
        found = (place.attributes or {}).get(name, [])
        if is_sample:
            found = [span for span in found if span[:2] in asked[name]]
        if found != marks:
            yield Violation(place.where, f"{name}: {marks}", f"{name}: {found}")


def _ranked(
    shards: Sequence[DedupedShard], one_in: int
) -> Iterator[tuple[_Place, list[tuple[_Compared, list[tuple[int, int]]]]]]:
    """Yield each document with what is compared of it and the rank of each value: the lowest stays."""
    position = 0
    for place in _places(shards):
        compared = []
        for item in _items(place):
            ranks = [(place.rank, position + number) for number in range(len(item.values))]
            position += len(ranks)
            if one_in == 1 or (
                item.threshold is None
                and all(xxh3_64_intdigest(value.encode()) % one_in == 0 for value in item.values)
            ):
                compared.append((item, ranks))
        yield place, compared


def _items(place: _Place) -> Iterator[_Compared]:
    """Yield the document and its paragraphs as they are compared; without values where they are not."""
    rules, text = place.shard.rules, place.document["text"]
    if rules.documents is not None:
        value = key_getter(rules.documents.key)(place.document)
        takes_part = place.takes_part and value is not MISSING and value is not None
        if isinstance(value, str):
            takes_part = takes_part and _is_compared(value, rules)
        # As JSON, so that 1, 1.0, true and "1" are four values.
        values = [json.dumps(value, sort_keys=True)] if takes_part else []
        group = group_of(rules, "documents") or ""
        yield _Compared(group, values, len(values), None, rules.documents.attribute_name, [0, len(text)])
    if rules.paragraphs is not None:
        for item in _paragraphs(text, rules.paragraphs, rules, group_of(rules, "paragraphs") or ""):
            yield item if place.takes_part else item._replace(values=[], num_counted=0)


def _paragraphs(
    text: str, kind: DedupeParagraphs | Decontamination, rules: Dedupe, group: str
) -> Iterator[_Compared]:
    pieces = text.split(kind.separator) if text else []
    start = 0
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1
        ends_text = number == len(pieces) - 2 and not pieces[-1]
        end = start + len(piece) + (0 if is_last or ends_text else len(kind.separator))
        values: list[str] = []
        num_counted = 0
        if _is_compared(piece, rules):
            values, num_counted = [piece], 1
            if (ngrams := kind.by_ngram) is not None:
                words = split_words(piece)
                starts = ngram_starts(len(words), ngrams.ngram_length, ngrams.stride)
                # Line feeds are no words, so a run is told from a paragraph, unless it is one word.
                values = ["\n".join(words[first : first + ngrams.ngram_length]) for first in starts]
                num_counted = len(values)
                if num_counted < 2 and not ngrams.skip_short_paragraphs:
                    values.append(piece)
                    num_counted = 1
        threshold = None if kind.by_ngram is None else kind.by_ngram.overlap_threshold
        yield _Compared(
            group,
            values,
            num_counted,
            threshold,
            kind.attribute_name,
            [start, end],
            is_paragraph=bool(values),
        )
        start = end


def _is_compared(value: str, rules: Dedupe) -> bool:
    if len(value) < rules.min_length or not _has_words(value, rules.min_words):
        return False
    return not (rules.skip_empty and is_blank(value))


def _has_words(value: str, min_words: int) -> bool:
    # No word spans white space, so what begins with a letter or digit behind it is a word more; that many
    # are counted at a tenth of the cost of cutting all.
    if sum(piece[0].isalnum() for piece in value.split(maxsplit=2 * min_words)) >= min_words:
        return True
    return num_words(value) >= min_words


def _places(shards: Sequence[DedupedShard]) -> Iterator[_Place]:
    """Yield every document: first those that are only compared with, then those of the shards."""
    seen: set[tuple[str, Dedupe]] = set()
    for shard in shards:
        for file in shard.against:
            if (file.path, shard.rules) not in seen:
                seen.add((file.path, shard.rules))
                for line, document in _documents(shard, file):
                    yield _Place(shard, f"{file.name}:{line}", -1, True, document, None)
    for shard in shards:
        rank = stream_rank(shard.stream, shard.rules)
        eligible = None if shard.eligible is None else np.load(storage.local_path(shard.eligible))
        number = 0
        for file in shard.files:
            rows = read_attribute_rows(shard.attributes[file.name])
            for (line, document), (_, _, attributes) in zip(_documents(shard, file), rows, strict=False):
                takes_part = eligible is None or bool(eligible[number])
                yield _Place(shard, f"{file.name}:{line}", rank, takes_part, document, attributes)
                number += 1


def _documents(shard: DedupedShard, file: PlannedFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the documents that were hashed: those with an id and a text."""
    policy: Any = {"codec": shard.codec, "malformed_row": shard.malformed_row}
    for line, document in read_documents(file.path, **policy):
        if "id" in document and isinstance(document.get("text"), str):
            yield line, document
