"""The whole chain on a corpus that can be read at a glance."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mixle_assets.engine import ProcessEngine, SerialEngine
from mixle_assets.errors import InputError, LeaseError, RecipeError, ShardError
from mixle_assets.pipeline.build import BuildReport, build
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.status import find_status
from mixle_assets.pipeline.summary import stage_digest
from mixle_assets.pipeline.verify import find_damaged_files

Edit = Callable[[str, str], None]


def run(recipe: Path, root: Path | None = None, workers: int = 0) -> BuildReport:
    engine = ProcessEngine(workers) if workers else SerialEngine()
    return build(load(recipe, str(root or recipe.parent / "corpora")), engine)


def built(report: BuildReport) -> dict[str, int]:
    """Stage to the number of outputs that were built, without those where nothing was."""
    return {outcome.stage: outcome.num_built for outcome in report.outcomes if outcome.num_built}


def digests(report: BuildReport) -> dict[str, str]:
    return {
        outcome.stage: stage_digest(
            manifest for all_of_key in outcome.finished.values() for manifest in all_of_key
        )
        for outcome in report.outcomes
    }


def mixed_rows(recipe: Path, shard: str) -> list[dict[str, object]]:
    path = recipe.parent / "corpora" / "small" / "mixed_shards" / f"{shard}.jsonl.gz"
    return [json.loads(line) for line in gzip.open(path)]


EVERYTHING = {
    "attributes": 4,  # two sets for each of two files
    "content_hashes": 2,
    "duplicate_index": 2,
    "duplicate_attributes": 2,
    "mixed_shards": 3,
    "doc_arrays": 3,
    "packed_epoch": 2,
}


def test_every_document_is_accounted_for_and_rewritten_as_the_recipe_says(small: Path) -> None:
    report = run(small)

    assert not report.failed
    assert built(report) == EVERYTHING
    (mixing,) = [outcome for outcome in report.outcomes if outcome.stage == "mixed_shards"]
    counts = {key: manifests[0].counts for key, manifests in mixing.finished.items()}
    too_short = "$.attributes[?(@.quality__char_length_v1__length[0][2] < 10)]"
    repeated = "$.attributes[?(@.bff_duplicate_docs && @.bff_duplicate_docs[0])]"
    assert (counts["prose/0000"].num_in, counts["prose/0000"].num_out) == (3, 2)
    assert counts["prose/0000"].dropped == {too_short: 1}
    assert counts["prose/0001"].dropped == {repeated: 1}  # "d" repeats "a" of the first shard
    assert counts["notes/0000"].num_out == 3

    first = mixed_rows(small, "prose-0000")
    assert [(row["id"], row["metadata"]) for row in first] == [
        ("a", {"provenance": "prose/0000.jsonl.gz:1"}),
        ("c", {"provenance": "prose/0000.jsonl.gz:3"}),
    ]
    assert first[1]["text"] == "Write to |||EMAIL_ADDRESS||| for more of this."


def test_a_batch_ends_in_a_masked_mean(small: Path) -> None:
    from mixle_assets import StreamingCorpus, load_corpus

    run(small)
    corpus = load_corpus(str(small.parent / "corpora" / "small"))
    stream = StreamingCorpus(
        corpus, rank=0, world_size=2, block=16, batch_size=2, seed=3, boundary_id=corpus.boundary_id
    )
    context, targets, mask = next(iter(stream.epoch_batches(0)))

    assert context.shape == targets.shape == mask.shape == (2, 16)
    assert np.isfinite(targets[mask].mean())


def test_the_same_recipe_twice_rebuilds_nothing(small: Path) -> None:
    first = run(small)
    second = run(small)

    assert second.num_built == 0
    assert second.num_current == first.num_built
    assert digests(second) == digests(first)
    assert all(
        not status.stale and not status.missing
        for status in find_status(load(small, str(small.parent / "corpora")))
    )


def test_digests_are_equal_in_another_folder_with_other_workers(small: Path, tmp_path: Path) -> None:
    assert digests(run(small)) == digests(run(small, root=tmp_path / "elsewhere", workers=2))


def test_a_threshold_rebuilds_mixing_and_what_follows_from_it(small: Path, edit: Edit) -> None:
    before = digests(run(small))
    edit("[2] < 10)]", "[2] < 40)]")
    report = run(small)

    # prose/0001 loses "e"; prose/0000 keeps its rows, so nothing after it is built again for it.
    assert built(report) == {"mixed_shards": 2, "doc_arrays": 1, "packed_epoch": 2}
    assert digests(report)["mixed_shards"] != before["mixed_shards"]


def test_comments_key_order_and_workers_rebuild_nothing(small: Path, edit: Edit) -> None:
    run(small)
    edit("packing: {block: 16, batch_size: 2,", "# a comment\npacking: {batch_size: 2, block: 16,")
    edit(
        "taggers: {quality: [char_length_v1], pii: [pii_regex_with_counts_fast_v2]}",
        "taggers: {pii: [pii_regex_with_counts_fast_v2], quality: [char_length_v1]}",
    )

    assert run(small, workers=2).num_built == 0


def test_a_new_set_is_tagged_alone(small: Path, edit: Edit) -> None:
    run(small)
    edit("taggers: {", "taggers: {sample: [random_number_v1], ")
    report = run(small)

    assert built(report)["attributes"] == 2
    assert "content_hashes" not in built(report)


def test_more_epochs_leave_the_first_ones(small: Path, edit: Edit) -> None:
    run(small)
    edit("epochs: 2", "epochs: 3")

    assert built(run(small)) == {"packed_epoch": 1}


def test_a_rebuilt_shard_with_the_same_rows_stops_the_cascade(small: Path) -> None:
    run(small)
    (small.parent / "corpora" / "small" / "mixed_shards" / "prose-0000.jsonl.gz").unlink()

    assert built(run(small)) == {"mixed_shards": 1}


def test_a_failing_shard_stops_no_other_and_is_resumed_alone(small: Path) -> None:
    broken = small.parent / "in" / "documents" / "prose" / "0001.jsonl.gz"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-9])
    report = run(small)

    assert list(report.failed) == ["attributes prose/0001"]
    assert "duplicate_index needs all shards and waits for prose/0001" in report.warnings
    assert "0001.jsonl.gz:2" in str(report.failed["attributes prose/0001"])
    assert isinstance(report.failed["attributes prose/0001"], InputError)
    # The index needs all shards, so only the stream without dedupe goes on.
    assert [
        key for outcome in report.outcomes if outcome.stage == "mixed_shards" for key in outcome.finished
    ] == ["notes/0000"]
    assert not list((small.parent / "corpora").rglob("*0001*"))

    broken.write_bytes(whole)
    assert built(run(small))["attributes"] == 2
    assert digests(run(small)) == digests(run(small, root=small.parent / "fresh"))


def test_a_stage_refuses_inputs_that_are_not_built(small: Path) -> None:
    report = build(load(small, str(small.parent / "corpora")), SerialEngine(), only="doc_arrays")

    assert set(report.failed) == {"doc_arrays prose/0000", "doc_arrays prose/0001", "doc_arrays notes/0000"}
    error = report.failed["doc_arrays prose/0000"]
    assert isinstance(error, ShardError)
    assert "mixed_shards prose/0000 is not built yet" in str(error)


def test_one_shard_can_be_built_alone(small: Path) -> None:
    report = build(load(small, str(small.parent / "corpora")), SerialEngine(), shards=["prose/0001"])

    assert not report.failed
    assert built(report) == {
        "attributes": 2,
        "content_hashes": 2,  # which copy stays can be said only with all shards
        "duplicate_index": 2,
        "duplicate_attributes": 1,
        "mixed_shards": 1,
        "doc_arrays": 1,
    }


def test_unknown_stages_and_shards_are_refused_by_name(small: Path) -> None:
    loaded = load(small, str(small.parent / "corpora"))
    with pytest.raises(RecipeError, match="no stage 'mixing' in this recipe; it has attributes, "):
        build(loaded, SerialEngine(), only="mixing")
    with pytest.raises(RecipeError, match="no shard 'prose/0007' in the plan; it has prose/0000"):
        build(loaded, SerialEngine(), shards=["prose/0007"])


def test_new_files_join_the_corpus_only_by_a_new_plan(small: Path) -> None:
    before = run(small)
    documents = small.parent / "in" / "documents" / "prose"
    (documents / "0000a.jsonl.gz").write_bytes((documents / "0001.jsonl.gz").read_bytes())
    report = run(small)
    assert report.num_built == 0
    assert any("0000a.jsonl.gz" in warning and "mixle-assets plan" in warning for warning in report.warnings)

    change = freeze_plan(load(small, str(small.parent / "corpora")))
    assert change.new_keys == ("prose/0002",)
    grown = run(small)
    old_shards = {
        manifest.key: manifest.content_digest
        for outcome in before.outcomes
        if outcome.stage in ("mixed_shards", "doc_arrays")
        for manifests in outcome.finished.values()
        for manifest in manifests
    }
    assert not grown.failed
    assert built(grown)["mixed_shards"] == 1  # the old shards keep their bytes
    assert built(grown)["packed_epoch"] == 2
    for outcome in grown.outcomes:
        if outcome.stage == "doc_arrays":
            for key in ("prose/0000", "prose/0001", "notes/0000"):
                assert outcome.finished[key][0].content_digest == old_shards[key]


def test_a_pattern_without_a_file_is_quoted_with_its_line(small: Path, edit: Edit) -> None:
    edit("in/documents/notes/*.jsonl.gz", "in/documents/nots/*.jsonl.gz")

    with pytest.raises(
        RecipeError, match=r"small\.yaml:\d+: streams\.1\.documents\.0: the pattern 'in/documents/nots"
    ):
        run(small)


def test_a_second_build_of_one_recipe_learns_who_builds(small: Path) -> None:
    import multiprocessing

    from mixle_assets import storage

    folder = str(small.parent / "corpora" / "small")
    context = multiprocessing.get_context("fork")
    ready, stop = context.Event(), context.Event()

    def hold() -> None:
        with storage.hold_lease(folder):
            ready.set()
            stop.wait(60)

    other = context.Process(target=hold)
    other.start()
    ready.wait(60)
    with pytest.raises(LeaseError, match=f'"pid": {other.pid}'):
        run(small)
    stop.set()
    other.join()
    assert not run(small).failed


def test_copies_are_looked_for_among_documents_that_pass_the_filter(small: Path, edit: Edit) -> None:
    # "a" and "d" have one text; a rule drops "a", so with `after: filter` it takes no copy along.
    edit("      exclude:\n", '      exclude:\n        - $[?(@.id == "a")]\n')
    run(small)
    assert [row["id"] for row in mixed_rows(small, "prose-0001")] == ["e"]

    edit("dedupe: {documents: {}, paragraphs: {}}", "dedupe: {documents: {}, paragraphs: {}, after: filter}")
    assert not run(small).failed
    assert [row["id"] for row in mixed_rows(small, "prose-0001")] == ["d", "e"]
    assert run(small).num_built == 0


def test_documents_are_compared_with_a_reference_that_is_never_written(small: Path, edit: Edit) -> None:
    known = small.parent / "known.jsonl"
    known.write_text('{"id": "r7", "text": "A fifth document, quite different."}\n')
    edit(
        "dedupe: {documents: {}, paragraphs: {}}",
        "dedupe: {documents: {}, against: [known.jsonl], decontamination: {reference: [known.jsonl]}}",
    )
    report = run(small)

    assert not report.failed
    assert mixed_rows(small, "prose-0001") == []  # "d" repeats "a", "e" the reference
    attributes = small.parent / "corpora/small/attributes/duplicates/prose/0001.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(attributes.read_bytes()).splitlines()]
    assert rows[1]["attributes"]["contaminated_spans"] == [[0, 34, 1.0]]
    assert rows[1]["attributes"]["bff_duplicate_docs_match"] == ["r7"]

    known.write_text('{"id": "r8", "text": "Something else that nobody wrote."}\n')
    assert built(run(small))["duplicate_index"] == 2
    assert [row["id"] for row in mixed_rows(small, "prose-0001")] == ["e"]


def test_attributes_can_lie_beside_the_documents_where_dolmas_mixer_looks(small: Path, edit: Edit) -> None:
    before = digests(run(small))
    edit("packing:", "execution: {attributes_place: beside}\npacking:")
    report = run(small)

    assert not report.failed
    assert built(report)["attributes"] == 4
    assert (small.parent / "in/attributes/quality/prose/0000.jsonl.gz").exists()
    assert (small.parent / "in/attributes/duplicates/prose/0001.jsonl.gz").exists()
    assert digests(report)["mixed_shards"] == before["mixed_shards"]


def test_a_missing_foreign_set_is_an_error_or_counted(small: Path, edit: Edit) -> None:
    edit("notes/*.jsonl.gz]", "notes/*.jsonl.gz]\n    attributes: [theirs]")
    report = run(small)
    error = report.failed["mixed_shards notes/0000"]
    assert "in/attributes/theirs/notes/0000.jsonl.gz: there is no attribute file of the set 'theirs'" in str(
        error
    )

    edit("packing:", "tolerate: {missing_attributes: skip}\npacking:")
    report = run(small)
    assert not report.failed
    (mixing,) = [outcome for outcome in report.outcomes if outcome.stage == "mixed_shards"]
    assert mixing.finished["notes/0000"][0].counts.noted["missing_attribute_files:theirs"] == 1
    assert run(small).num_built == 0


def test_columns_stand_beside_the_attributes_and_change_nothing(small: Path, edit: Edit) -> None:
    before = digests(run(small))
    edit("packing:", "execution: {attributes_format: parquet}\npacking:")
    folder = small.parent / "corpora/small/attributes"
    lines = (folder / "quality/prose/0000.jsonl.gz").stat()

    report = run(small)

    assert not report.failed
    assert built(report) == {"attributes": 4, "duplicate_attributes": 2}
    assert digests(report) == before
    assert (folder / "quality/prose/0000.jsonl.gz").stat() == lines  # only the columns were written
    assert (
        sorted(path.name for path in folder.rglob("*.parquet"))
        == ["0000.jsonl.gz.parquet"] * 3 + ["0001.jsonl.gz.parquet"] * 3
    )
    assert run(small).num_built == 0


def test_mixing_reads_the_columns_where_there_are_any(small: Path, edit: Edit) -> None:
    edit("packing:", "execution: {attributes_format: parquet}\npacking:")
    run(small)
    loaded = load(small, str(small.parent / "corpora"))
    (work,) = STAGES["mixed_shards"].find_work(loaded, "prose/0000")
    assert not any(path.endswith(".parquet") for _, path in work.task.files[0].attributes)  # all are written

    edit(
        "    output: {max_size_in_bytes: 1}",
        "    output: {max_size_in_bytes: 1, discard_fields: [attributes]}",
    )
    edit("attributes_format: parquet", "attributes_format: jsonl")
    before = digests(run(small))
    edit("attributes_format: jsonl", "attributes_format: parquet")
    loaded = load(small, str(small.parent / "corpora"))
    (work,) = STAGES["mixed_shards"].find_work(loaded, "prose/0000")

    assert [path.rpartition("/attributes/")[2] for _, path in work.task.files[0].attributes] == [
        "duplicates/prose/0000.jsonl.gz.parquet",
        "pii/prose/0000.jsonl.gz.parquet",
        "quality/prose/0000.jsonl.gz.parquet",
    ]
    for manifest in (small.parent / "corpora/small/mixed_shards").glob("*.manifest.json"):
        manifest.unlink()
    assert digests(run(small)) == before


def test_columns_that_are_lost_are_written_again_and_nothing_else(small: Path, edit: Edit) -> None:
    edit("packing:", "execution: {attributes_format: parquet}\npacking:")
    run(small)
    columns = small.parent / "corpora/small/attributes/pii/prose/0001.jsonl.gz.parquet"
    content = columns.read_bytes()
    lines = columns.with_suffix("").stat()
    columns.unlink()

    assert built(run(small)) == {"attributes": 1}
    assert columns.read_bytes() == content
    assert columns.with_suffix("").stat() == lines


def test_columns_of_rows_that_are_no_more_are_removed(small: Path, edit: Edit) -> None:
    edit("packing:", "execution: {attributes_format: parquet}\npacking:")
    run(small)
    edit("attributes_format: parquet", "attributes_format: jsonl")
    edit("quality: [char_length_v1]", "quality: [char_length_v1, char_length_with_paragraphs_v1]")
    run(small)

    folder = small.parent / "corpora/small/attributes"
    assert not (folder / "quality/prose/0000.jsonl.gz.parquet").exists()
    assert (folder / "pii/prose/0000.jsonl.gz.parquet").exists()


def test_damaged_columns_are_found_by_name(small: Path, edit: Edit) -> None:
    edit("packing:", "execution: {attributes_format: parquet}\npacking:")
    run(small)
    columns = small.parent / "corpora/small/attributes/pii/prose/0001.jsonl.gz.parquet"
    content = bytearray(columns.read_bytes())
    content[40] ^= 1
    columns.write_bytes(content)

    found = [
        one for _, one in find_damaged_files(load(small, str(small.parent / "corpora"))) if one is not None
    ]
    assert [violation.where for violation in found] == [str(columns)]


def test_columns_beside_the_documents_are_no_attribute_files_of_other_tools(small: Path, edit: Edit) -> None:
    edit("packing:", "execution: {attributes_place: beside, attributes_format: parquet}\npacking:")
    before = digests(run(small))
    assert (small.parent / "in/attributes/quality/prose/0000.jsonl.gz.parquet").exists()

    reader = small.parent / "reader.yaml"
    text = (
        small.read_text().replace("name: small", "name: reader").replace("taggers: {quality", "taggers: {own")
    )
    reader.write_text(
        text.replace("    dedupe:", "    attributes: [quality]\n    dedupe:", 1).replace("beside", "root")
    )
    (work,) = STAGES["mixed_shards"].find_work(loaded_after_build(reader), "prose/0000")
    assert [path.rpartition("/")[2] for name, path in work.task.files[0].attributes if name == "quality"] == [
        "0000.jsonl.gz"
    ]
    assert digests(run(small)) == before


def loaded_after_build(recipe: Path) -> LoadedRecipe:
    assert not run(recipe).failed
    return load(recipe, str(recipe.parent / "corpora"))
