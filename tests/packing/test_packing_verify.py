"""Each guarantee holds on what the stage writes, and each is broken once to see that it is noticed."""

import json

import numpy as np
import pytest

from mixle_assets.packing.description import read_description
from mixle_assets.packing.epoch import hash_of_files
from mixle_assets.packing.verify import (
    find_broken_files,
    find_loss_mask_errors,
    find_packing_losses,
    find_rank_overlaps,
    find_streaming_differences,
    stored_files,
)
from mixle_assets.records import Violation

GUARANTEES = [
    find_loss_mask_errors,
    find_rank_overlaps,
    find_packing_losses,
    find_streaming_differences,
    find_broken_files,
]
DOCUMENTS = [[k] * length for k, length in enumerate([3, 9, 1, 4, 0, 7, 2, 11, 5, 6], start=1)]


@pytest.fixture
def packed(corpus_folder):
    """Ten documents, 58 tokens with boundaries, on two ranks in rows of five."""
    corpus_folder.add_stream("prose", DOCUMENTS)
    corpus_folder.pack(world_size=2)
    return corpus_folder.root / "packed_epoch" / "0000"


def change(path, place, value):
    array = np.load(path)
    array[place] = value
    np.save(path, array)


def change_description(folder, **values):
    path = folder / "corpus.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("residency", ["documents", "rows"])
@pytest.mark.parametrize("strategy", ["concatenate", "best_fit"])
@pytest.mark.parametrize("equalize", ["none", "drop", "pad"])
@pytest.mark.parametrize("materialize", ["rows", "plan"])
def test_every_packing_keeps_every_guarantee(corpus_folder, residency, strategy, equalize, materialize):
    corpus_folder.add_stream("a", DOCUMENTS[:3], DOCUMENTS[3:], weight=1.3)
    corpus_folder.add_stream("b", DOCUMENTS * 2, weight=2)
    corpus_folder.add_stream("c", DOCUMENTS, weight=0.5, resample=True)
    corpus_folder.pack(
        1,
        world_size=3,
        seed=4,
        residency=residency,
        strategy=strategy,
        equalize=equalize,
        materialize=materialize,
    )
    folder = str(corpus_folder.root / "packed_epoch" / "0001")

    task = corpus_folder.task(
        1, world_size=3, seed=4, residency=residency, strategy=strategy, equalize=equalize
    )
    for find in GUARANTEES:
        assert list(find(folder)) == []
        assert list(find(task)) == []


def test_a_mask_that_trains_on_padding_is_found(packed):
    change(packed / "row_lengths-00001-of-00002.npy", -1, 5)

    assert list(find_loss_mask_errors(str(packed))) == [
        Violation("rank-00001-of-00002.npy row 4", "2 of 4 targets trained on", "4")
    ]


def test_a_mask_that_leaves_out_a_real_token_is_found(packed):
    change(packed / "row_lengths-00000-of-00002.npy", 0, 4)

    assert list(find_loss_mask_errors(str(packed))) == [
        Violation("rank-00000-of-00002.npy row 0", "4 of 4 targets trained on", "3")
    ]


def test_a_token_where_padding_should_be_is_found(packed):
    change(packed / "rank-00001-of-00002.npy", (-1, -1), 7)

    assert list(find_loss_mask_errors(str(packed))) == [
        Violation("rank-00001-of-00002.npy row 4", "padding 0", "token 7")
    ]


def test_a_document_on_two_ranks_is_found(packed):
    order = np.load(packed / "order.npy")
    lost = int(order[1])
    change(packed / "order.npy", 1, order[0])

    assert Violation(
        f"document {lost} (prose/0000.jsonl.gz:{lost + 1})", "1 times in the epoch", "0 times"
    ) in (list(find_packing_losses(str(packed))))


def test_a_rank_that_holds_the_rows_of_another_is_found(packed):
    rows = np.load(packed / "rank-00000-of-00002.npy")
    other = np.load(packed / "rank-00001-of-00002.npy")
    np.save(packed / "rank-00001-of-00002.npy", np.resize(rows, other.shape))

    found = list(find_rank_overlaps(str(packed)))
    assert found[0].where == "rank-00001-of-00002.npy row 0 cell 0"
    assert find_rank_overlaps.__doc__.startswith("The ranks share what the epoch holds")


def test_a_best_fit_plan_that_packs_a_document_twice_is_found(corpus_folder):
    corpus_folder.add_stream("prose", DOCUMENTS).pack(strategy="best_fit", materialize="plan")
    folder = corpus_folder.root / "packed_epoch" / "0000"
    pieces = np.load(folder / "pieces.npy")
    whole = np.flatnonzero(pieces[:, 1] == 0)
    lost, twice = int(pieces[whole[0], 0]), int(pieces[whole[1], 0])
    pieces[whole[0], 0] = twice
    np.save(folder / "pieces.npy", pieces)

    assert sorted(find_rank_overlaps(str(folder)), key=lambda violation: violation.found) == [
        Violation(f"document {lost}", "1 times on all ranks", "0 times"),
        Violation(f"document {twice}", "1 times on all ranks", "2 times"),
    ]


def test_ranks_of_other_lengths_than_declared_are_found(packed):
    change_description(packed, packed_rows=[6, 6])

    assert Violation("corpus.json", "rows of ranks [7, 5]", "[6, 6]") in list(find_rank_overlaps(str(packed)))


def test_a_weight_that_was_not_packed_is_found(packed):
    streams = json.loads((packed / "corpus.json").read_text())["streams"]
    streams[0]["weight"] = 2.0
    change_description(packed, streams=streams)

    found = list(find_packing_losses(str(packed)))
    assert len(found) == 10
    assert found[0] == Violation("document 0 (prose/0000.jsonl.gz:1)", "2 times in the epoch", "1 times")


def test_another_setting_than_the_recipe_declares_is_found(packed, corpus_folder):
    assert Violation("corpus.json", "seed is 3 declared, 0 there", "another setting") in list(
        find_packing_losses(corpus_folder.task(world_size=2, seed=3))
    )


def test_a_token_lost_in_a_row_is_found(packed):
    before = int(np.load(packed / "rank-00000-of-00002.npy")[3, 2])
    change(packed / "rank-00000-of-00002.npy", (3, 2), 500)

    expected = [Violation("rank-00000-of-00002.npy row 3 cell 2", f"token {before}", "token 500")]
    assert list(find_packing_losses(str(packed))) == expected
    assert list(find_streaming_differences(str(packed))) == expected


def test_rows_in_another_order_than_mixles_are_found(packed):
    order = np.load(packed / "order.npy")
    change_description(
        packed, settings=json.loads((packed / "corpus.json").read_text())["settings"] | {"seed": 1}
    )

    assert len(order) == 10
    assert next(find_streaming_differences(str(packed))).where.startswith("rank-00000-of-00002.npy row 0")


def test_a_row_too_many_is_found(packed):
    rows = np.load(packed / "rank-00001-of-00002.npy")
    np.save(packed / "rank-00001-of-00002.npy", np.vstack([rows, np.zeros((1, 5), np.uint16)]))
    change_description(packed, packed_rows=[7, 6], rows_per_rank=[7, 6])

    assert list(find_streaming_differences(str(packed))) == [
        Violation("rank-00001-of-00002.npy", "5 rows packed", "6")
    ]


def test_a_flipped_bit_is_found_and_its_file_named(packed):
    path = packed / "rank-00000-of-00002.npy"
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)

    (violation,) = find_broken_files(str(packed))
    assert violation.where == "rank-00000-of-00002.npy"


def test_a_missing_and_an_unknown_file_are_found(packed):
    (packed / "order.npy").rename(packed / "order.npy.old")

    assert [violation.where for violation in find_broken_files(str(packed))] == ["order.npy", "order.npy.old"]


def test_the_hash_of_all_files_can_be_worked_out_from_disk(corpus_folder):
    written = corpus_folder.add_stream("prose", DOCUMENTS).pack(world_size=2)
    folder = str(corpus_folder.root / "packed_epoch" / "0000")

    assert hash_of_files(stored_files(folder)) == written.file_hash
    assert sum(file.size_in_bytes for file in stored_files(folder).values()) == written.size_in_bytes
    assert read_description(folder).digest
