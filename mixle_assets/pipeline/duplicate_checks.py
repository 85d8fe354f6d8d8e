"""What the checks of duplicate attributes are given: shards with their files, references and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, takewhile

from mixle_assets.deduping import verify as deduping
from mixle_assets.deduping.verify import DedupedShard
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.stages.base import find_shard
from mixle_assets.pipeline.stages.duplicates import references_of
from mixle_assets.pipeline.work import Work
from mixle_assets.records import Violation

COMPARED_IN_BYTES = 2**26
"""Stored documents that are compared with each other again: well below a minute of one process."""


def is_decontaminated(loaded: LoadedRecipe) -> bool:
    """Return whether some stream is compared with a reference set."""
    sections = [stream.dedupe for stream in loaded.recipe.streams]
    return any(section is not None and section.decontamination is not None for section in sections)


def compares(loaded: LoadedRecipe) -> bool:
    """Return whether some stream looks for equal documents or paragraphs."""
    sections = [stream.dedupe for stream in loaded.recipe.streams if stream.dedupe is not None]
    return any(section.documents is not None or section.paragraphs is not None for section in sections)


def each_shard(
    find: Callable[[DedupedShard], Iterator[Violation]],
) -> Callable[[LoadedRecipe, Sequence[Work]], Iterator[Violation]]:
    """Return a check that looks at one shard at a time."""

    def look(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
        for work in all_work:
            yield from find(deduped_shard(loaded, work))

    return look


def find_wrong_survivors(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
    """Yield the documents whose marks are not what comparing the texts again gives.

    A shard's marks depend on all before it, and with another ``keep`` than ``first`` on all. So shards are
    looked at from the first on, as far as they are built, up to ``COMPARED_IN_BYTES``, but at least two; with
    another ``keep`` all of them or, where some are not built or they are larger, none.
    """
    if not all_work:
        return
    by_key = {work.key: work for work in all_work}
    deduped = {stream.name: stream.dedupe for stream in loaded.recipe.streams if stream.dedupe is not None}
    planned = [shard for shard in loaded.plan.shards if shard.stream in deduped]
    built = list(takewhile(lambda shard: shard.key in by_key, planned))
    sizes = (sum(file.size_in_bytes for file in shard.files) for shard in built)
    num_within = sum(total <= COMPARED_IN_BYTES for total in accumulate(sizes))
    compared = built[: max(2, num_within)]
    if len(compared) < len(planned) and any(section.keep != "first" for section in deduped.values()):
        return
    yield from deduping.find_wrong_survivors([deduped_shard(loaded, by_key[shard.key]) for shard in compared])


def deduped_shard(loaded: LoadedRecipe, work: Work) -> DedupedShard:
    """Return the shard that a piece of work wrote the duplicate attributes of."""
    shard, stream = find_shard(loaded, work.key)
    rules = work.task.rules
    references = {one.role: one.files for one in references_of(loaded, stream)}
    return DedupedShard(
        stream=stream.name,
        files=shard.files,
        rules=rules,
        attributes=work.task.outputs,
        against=references.get("against", ()),
        reference=references.get("decontamination", ()),
        eligible=loaded.layout.eligible(shard) if rules.after == "filter" else None,
        codec=stream.compression.input,
        malformed_row=loaded.recipe.tolerate.malformed_row,
    )
