"""Who takes part in which index: shards and reference sets laid end to end, and the rules that they share.

Everything compared has a *position*: its number when all members are laid end to end, references first, then
shards in plan order. What is equal is found elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixle_assets import storage
from mixle_assets.deduping.arrow_files import offsets_of
from mixle_assets.deduping.hash_files import HashBatch, HashFile, Kind
from mixle_assets.deduping.keys import parse_key
from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Dedupe


class HashedShard(msgspec.Struct, frozen=True):
    """One shard in the index.

    Attributes:
        key: Key of the shard.
        stream: Name of its stream.
        rules: The stream's ``dedupe`` section.
        hashes: Its hash file, as ``hash_shard`` wrote it.
        output: Where its slice goes.
        eligible: A ``.npy`` of bool, one for each document: False takes no part, neither as a copy nor as a
            first occurrence. None: all take part.
    """

    key: str
    stream: str
    rules: Dedupe
    hashes: str
    output: str
    eligible: str | None = None


class HashedReference(msgspec.Struct, frozen=True):
    """Documents that are compared with and never written.

    Attributes:
        role: ``against``: what equals them repeats them. ``decontamination``: the reference of that section.
        rules: The ``dedupe`` section under which they were hashed, that of the streams they are for.
        hashes: Their hash file, as ``hash_shard`` wrote it.
    """

    role: Literal["against", "decontamination"]
    rules: Dedupe
    hashes: str


Member = HashedShard | HashedReference


class Extents(NamedTuple):
    """Where the documents, the hashes of paragraphs and probes, and the files of each member begin.

    Each int64 of shape (members + 1,). ``names`` are the provenance names of all files.
    """

    documents: NDArray[np.int64]
    paragraphs: NDArray[np.int64]
    probes: NDArray[np.int64]
    files: NDArray[np.int64]
    names: list[str]

    def num_documents(self, member: int) -> int:
        """Return how many documents a member has."""
        return int(self.documents[member + 1] - self.documents[member])

    def starts(self, kind: Kind) -> NDArray[np.int64]:
        """Return where each member begins in the positions of one kind."""
        if kind == "paragraphs":
            return self.paragraphs
        return self.probes if kind == "probes" else self.documents


def lay_out(members: Sequence[Member]) -> Extents:
    """Lay members end to end.

    Raises:
        InputError: A hash file is missing or damaged.
    """
    sizes = np.zeros((4, len(members)), np.int64)
    names: list[str] = []
    for number, member in enumerate(members):
        file = HashFile(member.hashes)
        names.extend(file.names)
        sizes[3, number] = len(file.names)
        for batch in file:
            sizes[:3, number] += len(batch.lines), len(batch.paragraphs.hashes), len(batch.probes.hashes)
    documents, paragraphs, probes, files = map(offsets_of, sizes)
    return Extents(documents, paragraphs, probes, files, names)


def group_of(rules: Dedupe, kind: Kind) -> str | None:
    """Return the name of the index that a stream's rules put it in, or None."""
    if kind == "documents" and rules.documents is not None:
        return "documents by " + ".".join(map(str, parse_key(rules.documents.key)))
    if kind == "paragraphs" and rules.paragraphs is not None:
        ngrams = rules.paragraphs.by_ngram
        return "paragraphs" if ngrams is None else f"runs of {ngrams.ngram_length} words"
    if kind == "probes" and rules.decontamination is not None:
        return f"the reference set {rules.decontamination.model_dump_json()}"
    if kind == "near_documents" and rules.near_documents is not None:
        return f"near documents {rules.near_documents.model_dump_json(exclude={'attribute_name'})}"
    return None


def group_members(members: Sequence[Member], kind: Kind) -> dict[str, list[int]]:
    """Return which members share an index of one kind: its name to numbers of members, rising.

    Raises:
        RecipeError: Streams that share an index disagree about the copy to keep, or what is known.
    """
    groups: dict[str, list[int]] = {}
    for number, member in enumerate(members):
        name = group_of(member.rules, kind)
        if name is None or not _takes_part(member, kind):
            continue
        groups.setdefault(name, []).append(number)
    if kind != "probes":
        for name, numbers in groups.items():
            shards = [
                member for member in map(members.__getitem__, numbers) if isinstance(member, HashedShard)
            ]
            for shard in shards[1:]:
                for key in ("keep", "against"):
                    ours, theirs = getattr(shards[0].rules, key), getattr(shard.rules, key)
                    if ours != theirs:
                        raise RecipeError(
                            f"streams {shards[0].stream} and {shard.stream} share the index of {name}, "
                            f"but say {ours!r} and {theirs!r}",
                            key=f"dedupe.{key}",
                        )
    return groups


def member_rank(member: Member) -> int:
    """Return the rank of a member's documents: of equal ones those with the lowest rank stay."""
    if isinstance(member, HashedReference):
        return -1
    return stream_rank(member.stream, member.rules)


def stream_rank(stream: str, rules: Dedupe) -> int:
    """Return the stream's place among the preferred ones, or the one behind them all."""
    preferred: tuple[str, ...] = () if isinstance(rules.keep, str) else rules.keep.prefer
    return preferred.index(stream) if stream in preferred else len(preferred)


def eligible_batches(
    member: Member, num_documents: int
) -> Iterator[tuple[HashBatch, NDArray[np.bool_] | None]]:
    """Yield a member's batches, each with which of its documents take part; None: all of them.

    Raises:
        InputError: A file is missing or damaged, or the eligible documents are not those of the shard.
    """
    path = member.eligible if isinstance(member, HashedShard) else None
    eligible: NDArray[np.bool_] | None = None
    if path is not None:
        eligible = np.load(storage.local_path(path), mmap_mode="r")
        if eligible.shape != (num_documents,) or eligible.dtype != np.bool_:
            raise InputError(
                f"must hold {num_documents} bools, one for each document, "
                f"got {eligible.dtype} of shape {eligible.shape}",
                path=path,
            )
    start = 0
    for batch in HashFile(member.hashes):
        stop = start + len(batch.lines)
        yield batch, None if eligible is None else eligible[start:stop]
        start = stop


def _takes_part(member: Member, kind: Kind) -> bool:
    if isinstance(member, HashedShard):
        return True
    return (member.role == "decontamination") == (kind == "probes")
