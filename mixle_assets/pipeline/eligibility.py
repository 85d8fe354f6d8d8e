"""Which documents pass the filter before copies are looked for: ``dedupe.after: filter``.

It needs the rules of mixing before the index of deduping, so it stands here, where stages meet.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from mixle_assets import storage
from mixle_assets.expressions import compile_predicate
from mixle_assets.manifest import hash_bytes
from mixle_assets.mixing.alignment import InputCodecs, MixFile, align_rows
from mixle_assets.mixing.filters import Rules, compile_rules
from mixle_assets.pipeline.load import duplicate_keys
from mixle_assets.recipe import Filter, Stream, Tolerate
from mixle_assets.records import Counts, FileStamp, Written


@dataclass(frozen=True)
class EligibleTask:
    """One shard whose documents are judged.

    Attributes:
        stream: Its stream; rules that read our own duplicate marks are left out.
        tolerate: What is counted instead of raised.
        files: Its document files with all attributes but the duplicate marks.
        own_sets: Attribute sets made here.
        output: A ``.npy`` of bool, one for each document.
    """

    stream: Stream
    tolerate: Tolerate
    files: tuple[MixFile, ...]
    own_sets: frozenset[str]
    output: str


def write_eligible(task: EligibleTask) -> Written:
    """Judge the documents of a shard and write who passes.

    Raises:
        MixleError: As mixing does: broken inputs, misaligned attributes, a rule that fails.
    """
    rules = _rules_without_marks(task.stream)
    codec = task.stream.compression.input
    codecs = InputCodecs(documents=codec, foreign=codec, own_sets=task.own_sets)
    passes = array("b")
    counts = Counts()
    read: dict[str, FileStamp] = {}
    for file in task.files:
        rows = align_rows(file, tolerate=task.tolerate, counts=counts, codecs=codecs)
        passes.extend(rules.judge(row).keep for _, row in rows)
        read |= rows.stamps
    eligible = np.frombuffer(passes, np.bool_) if passes else np.zeros(0, np.bool_)
    with storage.write_whole(task.output) as stored:
        np.save(stored, eligible)
    content = storage.read_bytes(task.output)
    number = len(eligible)
    return Written(
        rows_digest=hash_bytes(eligible.tobytes()),
        file_hash=hash_bytes(content),
        size_in_bytes=len(content),
        counts=Counts(num_in=number, num_out=number, noted={"eligible": int(eligible.sum())}),
        read=read,
    )


def _rules_without_marks(stream: Stream) -> Rules:
    """Return the stream's rules without those that ask for what deduping will write."""
    given = stream.filter or Filter()
    marks = duplicate_keys(stream)

    def is_free(expression: str) -> bool:
        keys = compile_predicate(expression, given.syntax).reads.attribute_keys
        return keys is None or not keys & marks

    return compile_rules(
        tuple(filter(is_free, given.include)),
        tuple(filter(is_free, given.exclude)),
        syntax=given.syntax,
        missing_value=given.missing_value,
    )
