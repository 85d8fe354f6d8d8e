"""Mixing one shard in one pass: align, judge, rewrite, trim, stamp, write.

``StreamMixer`` decides on one row and changes it; ``mix_shard`` runs it over the files of a shard. Which
files those are was planned before; manifests and checks come after.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xxhash

from mixle_assets.errors import InputError, MixleError, RecipeError
from mixle_assets.formats.codecs import write_shard
from mixle_assets.formats.documents import encode_line, encode_row
from mixle_assets.mixing.alignment import InputCodecs, MixFile, align_rows
from mixle_assets.mixing.filters import compile_rules
from mixle_assets.mixing.rewriting import Rewriter
from mixle_assets.recipe.models import Tolerate
from mixle_assets.recipe.streams import Filter, Stream
from mixle_assets.records import Counts, FileStamp, Written

__all__ = ["InputCodecs", "MixFile", "MixTask", "StreamMixer", "mix_rows", "mix_shard"]

# Unicode's White_Space, as Rust trims it and Dolma counts; ``str.strip`` takes U+001C to U+001F as well.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
TOO_SHORT = "min_text_length"
"""Why a document went whose text is shorter than the recipe asks, after rewriting."""


@dataclass(frozen=True)
class MixTask:
    """All that one mixed shard is made of; picklable.

    Attributes:
        key: Key of the shard, such as ``prose/0000``.
        stream: The stream's section of the recipe.
        files: The shard's document files in order, each with its attribute files.
        output_path: Where the mixed shard goes.
        tolerate: What is counted instead of raised.
        output_codec: ``gz``, ``zst`` or ``""``; None takes the stream's ``compression.output``.
        own_sets: Attribute sets made here, read by their extension whatever ``compression.input`` says; None
            takes the stream's taggers.
    """

    key: str
    stream: Stream
    files: tuple[MixFile, ...]
    output_path: str
    tolerate: Tolerate = field(default_factory=Tolerate)
    output_codec: str | None = None
    own_sets: frozenset[str] | None = None

    @property
    def codecs(self) -> InputCodecs:
        """Codecs of the inputs that override the extension."""
        given = self.stream.compression.input
        own = frozenset(self.stream.taggers) if self.own_sets is None else self.own_sets
        return InputCodecs(documents=given, foreign=given, own_sets=own)


class StreamMixer:
    """The rules of one stream, compiled; one object serves one shard, since it counts.

    Attributes:
        rules: The include and exclude rules.
        rewriter: The span replacements.
        attribute_keys: The attribute keys that the rules and replacements read, and so all that need to be
            read; None where it can be any, or where the attributes are written.
        span_keys: Those of them that are read as the spans of a replacement, and for nothing else.

    Raises:
        ExpressionError: A rule, selector or replacement does not compile.
        RecipeError: ``discard_fields`` names the text.
    """

    def __init__(self, stream: Stream) -> None:
        given = stream.filter or Filter()
        self.rules = compile_rules(
            given.include, given.exclude, syntax=given.syntax, missing_value=given.missing_value
        )
        self.rewriter = Rewriter(stream.span_replacement)
        self._judges = bool(given.include or given.exclude)
        self._rewrites = bool(stream.span_replacement)
        self._min_text_length = stream.output.min_text_length
        self._discarded = stream.output.discard_fields
        self.attribute_keys = self._needed_keys()
        self.span_keys = self._keys_of_spans()
        if "text" in self._discarded:
            raise RecipeError(
                "a document needs its text, it cannot be discarded", key="output.discard_fields"
            )

    def _needed_keys(self) -> frozenset[str] | None:
        """The attribute keys that decide anything; None if it can be any, or if all are written."""
        if "attributes" not in self._discarded:
            return None
        reads = [self.rules.attribute_keys]
        for rule in self.rewriter.rules:
            reads += [rule.selector.attribute_keys, rule.replacement.attribute_keys]
        needed: set[str] = set()
        for keys in reads:
            if keys is None:
                return None
            needed |= keys
        return frozenset(needed)

    def _keys_of_spans(self) -> frozenset[str]:
        """The attribute keys of which only replacements read the spans."""
        named = frozenset(rule.key for rule in self.rewriter.rules if rule.key is not None)
        reads = [
            self.rules.attribute_keys,
            *(rule.replacement.attribute_keys for rule in self.rewriter.rules),
        ]
        reads += [rule.selector.attribute_keys for rule in self.rewriter.rules if rule.key is None]
        for keys in reads:
            if keys is None:
                return frozenset()
            named -= keys
        return named

    def take(self, row: dict[str, Any], stamp: str, line: int, counts: Counts) -> str | None:
        """Judge a row and, if it stays, rewrite, trim and stamp it in place.

        Args:
            row: A document with its attributes merged in.
            stamp: Provenance name of its file with a colon: ``<name>:``.
            line: Its line there.
            counts: Where ``empty_texts`` and ``metadata_replaced`` are noted.

        Returns:
            None if the row stays; else why it goes: the exclude rule, ``include``, or ``min_text_length``.

        Raises:
            EvaluationError: A rule failed; it is named, the place is the caller's to add.
            InputError: A row that stays has no string under ``text``.
        """
        if self._judges:
            verdict = self.rules.judge(row)
            if not verdict.keep:
                return verdict.rule
        text = row.get("text")
        if type(text) is not str:
            found = f"got {type(text).__name__}" if "text" in row else f"got the keys {sorted(row)}"
            raise InputError(f"a document must have a string under text, {found}")
        if self._rewrites:
            row["text"] = text = self.rewriter.rewrite(row, text)
        if not text or text[0].isspace() or self._min_text_length:
            trimmed = text.strip(WHITE_SPACE)
            # Code points first: a text has at least as many bytes, and encoding it costs.
            if len(trimmed) < self._min_text_length and len(trimmed.encode()) < self._min_text_length:
                return TOO_SHORT
            if not trimmed:
                counts.note("empty_texts")
        for name in self._discarded:
            row.pop(name, None)
        metadata = row.get("metadata")
        if type(metadata) is dict:
            earlier = metadata.get("provenance")
            # The first source is what a mix of a mix must not lose: the ones between are found through it.
            if earlier is not None and "provenance_source" not in metadata:
                metadata["provenance_source"] = earlier
            metadata["provenance"] = f"{stamp}{line}"
        else:
            if metadata is not None:
                counts.note("metadata_replaced")
            row["metadata"] = {"provenance": f"{stamp}{line}"}
        return None


def mix_rows(
    task: MixTask,
    mixer: StreamMixer,
    counts: Counts,
    stamps: dict[str, FileStamp],
    *,
    dropped: bool = True,
) -> Iterator[tuple[dict[str, Any], str | None, MixFile, int]]:
    """Yield every document of a shard after the rules were applied to it.

    Args:
        task: The shard; nothing is written.
        mixer: The stream's rules.
        counts: Counts of in, out and each reason, and what was noted; complete after each file.
        stamps: Filled with the stamp of every file that was read.
        dropped: Whether those that go are yielded too.

    Yields:
        ``(row, reason, file, line)``; the row is changed in place, ``reason`` is None for one that stays.

    Raises:
        InputError: An input is broken or misaligned, or a document has no text; with file, line and id.
        EvaluationError: A rule failed; with rule, file, line and id.
    """
    take = mixer.take
    for file in task.files:
        rows = align_rows(
            file,
            tolerate=task.tolerate,
            counts=counts,
            codecs=task.codecs,
            keys=mixer.attribute_keys,
            span_keys=mixer.span_keys,
        )
        stamp = file.name + ":"
        num_kept = 0
        for line, row in rows:
            try:
                reason = take(row, stamp, line, counts)
            except MixleError as error:
                raise error.at(path=file.path, line=line, document_id=row.get("id")) from error
            if reason is None:
                num_kept += 1
                yield row, None, file, line
            else:
                counts.num_in += 1
                counts.drop(reason)
                if dropped:
                    yield row, reason, file, line
        counts.num_in += num_kept
        counts.num_out += num_kept
        stamps.update(rows.stamps)


def mix_shard(task: MixTask) -> Written:
    """Make one mixed shard: whole or not at all, in memory that does not grow with the input.

    Args:
        task: What the shard is made of.

    Returns:
        Digests, counts, stamps of all inputs. ``details``: ``rules`` (``RuleStatistics.to_json``), ``spans``
        (``Rewriter.statistics``), ``duplicate_ids`` (documents whose id an earlier one of the shard has).

    Raises:
        InputError: An input is broken or misaligned, or a document has no text; with file, line and id.
        EvaluationError: A rule failed; with rule, file, line and id.
        ExpressionError: A rule does not compile.
    """
    mixer = StreamMixer(task.stream)
    counts = Counts()
    stamps: dict[str, FileStamp] = {}
    ids = IdCount()
    codec = task.stream.compression.output if task.output_codec is None else task.output_codec
    with write_shard(task.output_path, codec) as writer:
        for row, _, _, _ in mix_rows(task, mixer, counts, stamps, dropped=False):
            ids.add(row.get("id"))
            writer.write(encode_line(row))
        if counts.num_missing:
            raise InputError(
                f"{counts.num_missing} documents are neither out nor dropped", path=task.output_path
            )
    return Written(
        rows_digest=writer.rows_digest,
        file_hash=writer.file_hash,
        size_in_bytes=writer.size_in_bytes,
        counts=counts,
        read=stamps,
        details={
            "rules": mixer.rules.statistics().to_json(),
            "spans": mixer.rewriter.statistics(),
            "duplicate_ids": ids.num_repeated(),
        },
    )


class IdCount:
    """How many ids came again, for 8 bytes a document."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._hashes = array("Q")

    def add(self, document_id: Any) -> None:
        """Note one id; ``7`` and ``"7"`` are two."""
        self._waiting.append(
            document_id.encode() if type(document_id) is str else b"\0" + encode_row(document_id)
        )
        if len(self._waiting) >= 1024:
            self._hash()

    def num_repeated(self) -> int:
        """Return the number of documents whose id an earlier one has."""
        self._hash()
        return len(self._hashes) - len(np.unique(np.asarray(self._hashes)))

    def _hash(self) -> None:
        self._hashes.extend(map(xxhash.xxh3_64_intdigest, self._waiting))
        self._waiting.clear()
