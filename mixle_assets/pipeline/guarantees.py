"""The table of all checks: each guarantee, and the ``find_`` function of its stage that looks for a breach.

A check is handed the work of what it looks at: the same tasks that built it, with every path in them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mixle_assets import storage
from mixle_assets.deduping import verify as deduping
from mixle_assets.manifest import Manifest, content_digest
from mixle_assets.mixing import verify as mixing
from mixle_assets.packing import verify as packing
from mixle_assets.pipeline import column_checks, duplicate_checks
from mixle_assets.pipeline.asset_check import Check
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import Work, require_manifest
from mixle_assets.records import Violation
from mixle_assets.tagging import verify as tagging
from mixle_assets.tokenizing import verify as tokenizing

REBUILD_ONE_IN = 16
"""One shard in so many is built a second time, chosen by its key; and always the first of a stage."""

Find = Callable[[LoadedRecipe, Sequence[Work]], Iterator[Violation]]


def _tagged(find: Callable[..., Iterator[Violation]]) -> Find:
    """Return a check that holds a document file against its attribute files."""

    def look(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
        for work in all_work:
            yield from find(
                work.task.path,
                [output.path for output in work.outputs],
                codec=work.task.codec,
                malformed_row=work.task.tolerate.malformed_row,
            )

    return look


def _task(find: Callable[..., Iterator[Violation]]) -> Find:
    """Return a check that needs nothing but the task."""

    def look(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
        for work in all_work:
            yield from find(work.task)

    return look


def _find_unbalanced_counts(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
    for work in all_work:
        yield from mixing.find_unbalanced_counts(work.task, _manifest(work).counts)


def _find_dead_rules(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
    for stream in loaded.recipe.streams:
        shards = [work for work in all_work if work.task.stream.name == stream.name]
        for violation in mixing.find_dead_rules([_manifest(work).details for work in shards]):
            yield Violation(f"stream {stream.name}: {violation.where}", violation.expected, violation.found)


def _find_other_digests(loaded: LoadedRecipe, all_work: Sequence[Work]) -> Iterator[Violation]:
    """Do the work a second time, elsewhere, and compare the content digests."""
    for work in all_work:
        (output,) = work.outputs
        manifest = _manifest(work)
        with storage.scratch_folder(loaded.layout.folder) as folder:
            path = str(folder / output.path.rpartition("/")[2])
            written = work.function(_redirected(work.task, path))
        found = content_digest(output.key, written.rows_digest, written.counts)
        if found != manifest.content_digest:
            yield Violation(
                f"{work.stage} {output.key}", f"digest {manifest.content_digest}", f"digest {found}"
            )


def _redirected(task: Any, path: str) -> Any:
    """Return the task with another output."""
    name = "output_path" if hasattr(task, "output_path") else "output"
    return dataclasses.replace(task, **{name: path})


def _manifest(work: Work) -> Manifest:
    return require_manifest(work.outputs[0].path, what=f"{work.stage} {work.key}")


CHECKS: tuple[Check, ...] = (
    Check(
        "ids_align",
        "attributes",
        "Row n of each attribute file has the id of document n, type included.",
        _tagged(tagging.find_misaligned_ids),
    ),
    Check(
        "every_document_has_its_row",
        "attributes",
        "Each attribute file has exactly one row for each document of its file.",
        _tagged(tagging.find_missing_rows),
    ),
    Check(
        "spans_inside_text",
        "attributes",
        "Every span lies inside its document's text, in code points.",
        _tagged(tagging.find_spans_outside_text),
    ),
    Check(
        "every_document_has_its_row",
        "duplicate_attributes",
        "Each attribute file has exactly one row for each document of its file, with its id.",
        duplicate_checks.each_shard(deduping.find_missing_rows),
    ),
    Check(
        "exactly_the_repetitions_are_marked",
        "duplicate_attributes",
        "The texts, compared with each other again without hashes, give the marks of equal documents and "
        "paragraphs that stand there; of large corpora in the first 64 MB, and only where `keep` is `first`.",
        duplicate_checks.find_wrong_survivors,
        scope="whole",
        applies=duplicate_checks.compares,
    ),
    Check(
        "exactly_the_contaminated_is_marked",
        "duplicate_attributes",
        "The paragraphs that are marked are those that stand in the reference set, letter for letter.",
        duplicate_checks.each_shard(deduping.find_wrong_contamination),
        applies=duplicate_checks.is_decontaminated,
    ),
    *(
        Check(
            "columns_hold_the_rows",
            stage,
            "The columns beside each attribute file hold its rows, types and order of keys included.",
            column_checks.find_other_rows_in_columns,
            applies=column_checks.writes_columns,
        )
        for stage in ("attributes", "duplicate_attributes")
    ),
    Check(
        "selected_characters_are_gone",
        "mixed_shards",
        "Each text is its input's with exactly the selected spans replaced: the rewrite is done again, in "
        "another way, and compared.",
        _task(mixing.find_leaked_spans),
    ),
    Check(
        "provenance_resolves",
        "mixed_shards",
        "metadata.provenance leads from each document to the input line that has its id.",
        _task(mixing.find_unresolved_provenance),
    ),
    Check(
        "counts_balance",
        "mixed_shards",
        "Documents in = documents out + documents dropped for each reason, and all are really there.",
        _find_unbalanced_counts,
    ),
    Check(
        "no_dead_rule",
        "mixed_shards",
        "Every rule matched some document and every span replacement selected some span.",
        _find_dead_rules,
        severity="warn",
        scope="whole",
    ),
    Check(
        "ids_in_vocabulary",
        "doc_arrays",
        "No token id lies outside the tokenizer's vocabulary, and the array says which tokenizer made it.",
        _task(tokenizing.find_ids_outside_vocabulary),
    ),
    Check(
        "arrays_match_texts",
        "doc_arrays",
        "Sampled documents, encoded again, give the stored ids; every document of the shard has its array.",
        _task(tokenizing.find_texts_encoded_differently),
    ),
    Check(
        "loss_mask_marks_exactly_the_padding",
        "packed_epoch",
        "A target is trained on if, and only if, it is a real token.",
        _task(packing.find_loss_mask_errors),
    ),
    Check(
        "ranks_share_the_pool",
        "packed_epoch",
        "The ranks together read everything the plan has, and nothing twice, up to what equalize declares.",
        _task(packing.find_rank_overlaps),
    ),
    Check(
        "tokens_are_packed_as_declared",
        "packed_epoch",
        "Every document stands in the rows as often as the plan says, token for token.",
        _task(packing.find_packing_losses),
    ),
    Check(
        "rows_match_streaming_corpus",
        "packed_epoch",
        "The stored rows are what StreamingCorpus gives for the same documents.",
        _task(packing.find_streaming_differences),
    ),
    *(
        Check(
            "rebuild_gives_the_same_digest",
            stage,
            f"One partition in {REBUILD_ONE_IN}, and the first, built again, gives the same digest.",
            _find_other_digests,
            one_in=REBUILD_ONE_IN,
        )
        for stage in ("mixed_shards", "doc_arrays", "packed_epoch")
    ),
)
