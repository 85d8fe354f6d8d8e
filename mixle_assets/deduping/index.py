"""The one global step: which copy of equal documents and paragraphs stays, over all shards of all streams.

The first in plan order stays (or what ``keep`` says). Streams whose documents are compared by the same key
share one index, and so do all paragraphs. Written is one slice a shard, so that a shard downstream depends on
its own duplicates and on nothing else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from mixle_assets.deduping.buckets import MAX_BUCKETS, Occurrences
from mixle_assets.deduping.hash_files import Kind
from mixle_assets.deduping.keys import TEXT_KEY, parse_key
from mixle_assets.deduping.marking import Marks, write_slice
from mixle_assets.deduping.members import (
    Extents,
    HashedReference,
    HashedShard,
    Member,
    eligible_batches,
    group_members,
    lay_out,
    member_rank,
)
from mixle_assets.deduping.near_documents import match_near_documents
from mixle_assets.deduping.places import Places
from mixle_assets.errors import InputError
from mixle_assets.records import Written

_EQUAL_KINDS: tuple[Kind, ...] = ("documents", "paragraphs", "probes")
BUCKET_IN_HASHES = 1 << 22
"""Hashes in memory at a time, at 24 bytes each and as much again for sorting them: about 200 MB."""


class IndexTask(msgspec.Struct, frozen=True):
    """What ``build_index`` is to do.

    Attributes:
        shards: All shards that dedupe, in plan order: the first copy in this order stays.
        references: What they are compared with beside each other.
        bucket_in_hashes: Hashes that are in memory at a time; changes no result.
        scratch: Folder for what does not fit; None takes the system's.
    """

    shards: tuple[HashedShard, ...]
    references: tuple[HashedReference, ...] = ()
    bucket_in_hashes: int = BUCKET_IN_HASHES
    scratch: str | None = None


def build_index(task: IndexTask) -> dict[str, Written]:
    """Decide which copy of equal documents and paragraphs stays, and write one slice a shard.

    Returns:
        What was written, by key of the shard. Noted: duplicate documents and paragraphs, with their
        characters; near documents; contaminated paragraphs.

    Raises:
        InputError: A hash file is missing or damaged, or no document has the field it is compared by, or a
            reference set has nothing to compare.
        RecipeError: Streams that share an index disagree about the copy to keep.
    """
    members: list[Member] = [*task.references, *task.shards]
    extents = lay_out(members)
    with tempfile.TemporaryDirectory(prefix="duplicate-index-", dir=task.scratch) as name:
        scratch = Path(name)
        equal: dict[str, Occurrences] = {}
        for kind in _EQUAL_KINDS:
            for group, numbers in group_members(members, kind).items():
                equal[group] = _match_group(members, numbers, kind, extents, task.bucket_in_hashes, scratch)
        near = {
            group: match_near_documents(members, numbers, extents, task.bucket_in_hashes, scratch)
            for group, numbers in group_members(members, "near_documents").items()
        }
        probe_groups = group_members(members, "probes")
        documents = [found for group, found in equal.items() if group.startswith("documents")]
        marks = Marks(
            extents,
            len(task.references),
            equal,
            near,
            Places(members, extents, "documents", [*documents, *near.values()], scratch / "places"),
            Places(members, extents, "probes", [equal[group] for group in probe_groups], scratch / "probes"),
        )
        return {
            shard.key: write_slice(shard, number, marks)
            for number, shard in enumerate(task.shards, len(task.references))
        }


def _match_group(
    members: Sequence[Member],
    numbers: Sequence[int],
    kind: Kind,
    extents: Extents,
    bucket_in_hashes: int,
    scratch: Path,
) -> Occurrences:
    starts = extents.starts(kind)
    num_hashes = sum(int(starts[number + 1] - starts[number]) for number in numbers)
    num_buckets = min(MAX_BUCKETS, max(1, -(-num_hashes // bucket_in_hashes)))
    occurrences = Occurrences(num_buckets, Path(tempfile.mkdtemp(dir=scratch)))
    num_references = sum(isinstance(member, HashedReference) for member in members)
    num_in_reference = 0
    for number in numbers:
        position = int(starts[number])
        for batch, eligible in eligible_batches(members[number], extents.num_documents(number)):
            hashes, holders = batch.compared(kind)
            positions = np.arange(position, position + len(hashes))
            position += len(hashes)
            if eligible is not None:
                takes_part = eligible[holders]
                hashes, positions = hashes[takes_part], positions[takes_part]
            occurrences.add(hashes, positions)
        if kind == "probes" and number < num_references:
            num_in_reference = occurrences.num_added
    rules = members[numbers[-1]].rules
    if kind == "documents" and num_hashes and not occurrences.num_added:
        _refuse_dead_key(members[numbers[-1]])
    if kind == "probes" and not num_in_reference:
        raise InputError(
            "has no paragraph that could be compared: nothing would ever be marked as contaminated",
            path=", ".join(rules.decontamination.reference) if rules.decontamination else None,
            rule="dedupe.decontamination.reference",
        )
    ranks = np.array([member_rank(member) for member in members], np.int64)
    occurrences.match(
        lambda positions: ranks[np.searchsorted(starts, positions, "right") - 1],
        keep_one=kind == "probes" or rules.keep != "none",
    )
    return occurrences


def _refuse_dead_key(member: Member) -> None:
    """A key that no document has is a rule that cannot fire."""
    documents = member.rules.documents
    if documents is not None and parse_key(documents.key) != TEXT_KEY:
        raise InputError(
            f"no document here, or among those compared with them, has a value at {documents.key!r}",
            path=member.hashes,
            rule="dedupe.documents.key",
        )
