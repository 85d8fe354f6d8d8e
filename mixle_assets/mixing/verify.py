"""The guarantees of mixed shards, each a search for what breaks it.

A shard is compared with its inputs, which are read again in one pass and in constant memory. The functions
catch nothing: a file that cannot be read is an error, not a violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mixle_assets.formats.documents import read_documents
from mixle_assets.mixing.alignment import align_rows
from mixle_assets.mixing.mixer import MixTask, StreamMixer
from mixle_assets.mixing.rule_statistics import RuleStatistics
from mixle_assets.mixing.spans import PLACEHOLDER, Selected
from mixle_assets.records import Counts, Violation

_SHOWN_CHARACTERS = 40


def find_leaked_spans(task: MixTask) -> Iterator[Violation]:
    """Yield every document of a mixed shard whose text is not its input's with the spans replaced.

    The rewrite is done again from the inputs, in another way than the mixer's: each code point is given to
    the first span that selects it, and what nobody owns is what may stay.

    Args:
        task: What the shard was made of; ``output_path`` is the shard.
    """
    mixed = _rows_of(task)
    mixer = StreamMixer(task.stream)
    for file in task.files:
        counts = Counts()
        for line, row in align_rows(file, tolerate=task.tolerate, counts=counts, codecs=task.codecs):
            place = f"{file.name}:{line}"
            text = row.get("text")
            spans = mixer.rewriter.select(row, len(text)) if type(text) is str else []
            if mixer.take(row, f"{file.name}:", line, counts) is not None:
                continue
            expected = paint_spans(text, spans) if type(text) is str else ""
            number, found = next(mixed, (0, {}))
            if found.get("text") != expected:
                yield _other_text(f"{task.output_path}:{number}", place, expected, found.get("text"))
    for number, row in mixed:
        yield Violation(f"{task.output_path}:{number}", "no further document", f"document {row.get('id')!r}")


def paint_spans(text: str, spans: Sequence[Selected]) -> str:
    """Replace spans by giving each code point an owner; slower than ``spans.replace_spans``, and the same.

    Args:
        text: The text.
        spans: Spans within it, as ``spans.take_spans`` gives them.
    """
    return _paint(text, 0, len(text), sorted(set(spans))) if spans else text


def _paint(text: str, start: int, end: int, spans: Sequence[Selected]) -> str:
    """Rewrite ``text[start:end]`` by the spans that meet it, in their order."""
    nobody = -1
    owners = [nobody] * (end - start)
    inside: dict[int, list[Selected]] = {}
    inserted: dict[int, list[int]] = {}
    for number, span in enumerate(spans):
        first, last = max(span[0], start), -span[1]
        if span[0] == last:
            owner = owners[last - start] if start <= last < end else nobody
            if owner == nobody:
                inserted.setdefault(last, []).append(number)
            else:
                inside.setdefault(owner, []).append(span)
            continue
        owned = owners[first - start : last - start]
        if nobody in owned:
            owners[first - start : last - start] = [number if one == nobody else one for one in owned]
        else:
            inside.setdefault(owned[-1], []).append(span)
    pieces: list[str] = []
    position = start
    while True:
        pieces += [spans[number][3].replace(PLACEHOLDER, "") for number in inserted.get(position, ())]
        if position == end:
            return "".join(pieces)
        owner = owners[position - start]
        if owner == nobody:
            pieces.append(text[position])
            position += 1
            continue
        after = position + 1
        while after < end and owners[after - start] == owner:
            after += 1
        replacement = spans[owner][3]
        if PLACEHOLDER in replacement:
            content = _paint(text, position, after, inside.get(owner, ()))
            replacement = replacement.replace(PLACEHOLDER, content)
        pieces.append(replacement)
        position = after


def find_unresolved_provenance(task: MixTask) -> Iterator[Violation]:
    """Yield every document whose ``metadata.provenance`` does not lead to the input document with its id.

    Args:
        task: What the shard was made of; ``output_path`` is the shard.
    """
    places = {file.name: place for place, file in enumerate(task.files)}
    inputs = _places_of(task)
    at, document_id = next(inputs, (None, None))
    earlier = (-1, 0)
    for number, row in _rows_of(task):
        provenance = _provenance(row)
        name, _, line = provenance.rpartition(":") if isinstance(provenance, str) else ("", "", "")
        named = (places[name], int(line)) if name in places and line.isdecimal() else (-1, 0)
        if named <= earlier:
            yield Violation(
                f"{task.output_path}:{number}",
                "metadata.provenance is a line of an input, behind the one before",
                repr(provenance),
            )
            continue
        earlier = named
        while at is not None and at < named:
            at, document_id = next(inputs, (None, None))
        if at != named:
            yield Violation(
                f"{task.output_path}:{number}", f"a document at {provenance}", "no document on that line"
            )
        elif "id" not in task.stream.output.discard_fields:
            found = row.get("id")
            if found != document_id or type(found) is not type(document_id):
                yield Violation(
                    f"{task.output_path}:{number}",
                    f"document {document_id!r}, which stands at {provenance}",
                    f"document {found!r}",
                )


def find_unbalanced_counts(task: MixTask, counts: Counts) -> Iterator[Violation]:
    """Yield where the counts of a mixed shard do not add up, or are not those of its files.

    Args:
        task: What the shard was made of; ``output_path`` is the shard.
        counts: The shard's counts, from its manifest.
    """
    if counts.num_missing:
        yield Violation(
            task.output_path,
            f"{counts.num_in} documents in = {counts.num_out} out + {sum(counts.dropped.values())} dropped",
            f"a difference of {counts.num_missing}",
        )
    num_out = sum(1 for _ in _rows_of(task))
    if num_out != counts.num_out:
        yield Violation(task.output_path, f"{counts.num_out} documents, as counted", f"{num_out} documents")
    read = Counts()
    for file in task.files:
        read.num_in += sum(
            1
            for _ in read_documents(
                file.path,
                codec=task.codecs.documents,
                malformed_row=task.tolerate.malformed_row,
                counts=read,
            )
        )
    if read.num_in != counts.num_in:
        yield Violation(
            task.output_path, f"{counts.num_in} documents in, as counted", f"{read.num_in} documents"
        )


def find_dead_rules(details: Iterable[dict[str, Any]]) -> Iterator[Violation]:
    """Yield every rule that matched no document and every span replacement that selected no span.

    Args:
        details: ``details`` of all mixed shards of one stream, from their manifests.
    """
    total: RuleStatistics | None = None
    spans: dict[str, int] = {}
    for one in details:
        statistics = RuleStatistics.from_json(one["rules"])
        if total is None:
            total = statistics
        else:
            total.add(statistics)
        for rule in one["spans"]["rules"]:
            spans[rule["span"]] = spans.get(rule["span"], 0) + rule["num_selected"]
    if total is None or not total.num_documents:
        return
    for tally in total.rules:
        if not tally.hits:
            yield Violation(
                f"{tally.role} {tally.expression}",
                "at least one hit",
                f"0 hits of {total.num_documents:,} documents, {tally.missing:,} of which lack a value",
            )
    for span, num_selected in spans.items():
        if not num_selected:
            yield Violation(
                f"span {span}", "at least one span", f"0 spans in {total.num_documents:,} documents"
            )


def _rows_of(task: MixTask) -> Iterator[tuple[int, dict[str, Any]]]:
    codec = task.stream.compression.output if task.output_codec is None else task.output_codec
    yield from read_documents(task.output_path, codec=codec)


def _places_of(task: MixTask) -> Iterator[tuple[tuple[int, int] | None, Any]]:
    """Yield (place of the file, line) and id of every input document."""
    for place, file in enumerate(task.files):
        for line, document in read_documents(
            file.path, codec=task.codecs.documents, malformed_row=task.tolerate.malformed_row
        ):
            yield (place, line), document.get("id")


def _provenance(row: dict[str, Any]) -> Any:
    metadata = row.get("metadata")
    return metadata.get("provenance") if isinstance(metadata, dict) else None


def _other_text(where: str, place: str, expected: str, found: Any) -> Violation:
    """Show both texts from a little before the first character that differs."""
    if not isinstance(found, str):
        return Violation(where, f"the text of {place}, rewritten", repr(found))
    pairs = enumerate(zip(expected, found, strict=False))
    shorter = min(len(expected), len(found))
    position = next((place for place, (one, other) in pairs if one != other), shorter)
    shown = slice(max(0, position - _SHOWN_CHARACTERS // 2), position + _SHOWN_CHARACTERS)
    return Violation(
        where, f"the text of {place}, rewritten: at {position:,} {expected[shown]!r}", repr(found[shown])
    )
