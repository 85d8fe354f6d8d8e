"""Every format byte by byte on two documents, read back, done once, and the same each time."""

import csv
import gzip
import json
import struct
from pathlib import Path

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_arrays import make_arrays

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.exporting import (
    FORMATS,
    ExportTask,
    export_documents,
    export_rows,
    export_shard,
    import_megatron,
    import_olmo,
)
from mixle_assets.formats.doc_arrays import DocArrays

DOCUMENTS = [[5, 6, 7], [8]]


def export(tmp_path, to, documents=DOCUMENTS, *, append_boundary=True, digest="d", name="a", **options):
    path = make_arrays(tmp_path / f"{name}.arrow", documents, **options)
    task = ExportTask("prose/0000", path, digest, str(tmp_path / "out"), to, append_boundary)
    export_documents([task])
    return tmp_path / "out"


def test_megatron_files_byte_by_byte(tmp_path):
    out = export(tmp_path, "megatron")

    assert (out / "prose-0000.bin").read_bytes() == np.array([5, 6, 7, 2, 8, 2], "<u2").tobytes()
    assert (out / "prose-0000.idx").read_bytes() == b"".join(
        [
            b"MMIDIDX\0\0",
            struct.pack("<QBQQ", 1, 8, 2, 3),
            np.array([4, 2], "<i4").tobytes(),
            np.array([0, 8], "<i8").tobytes(),
            np.array([0, 1, 2], "<i8").tobytes(),
        ]
    )


def test_megatron_stores_wide_ids_as_int32_and_refuses_what_that_does_not_hold(tmp_path):
    out = export(tmp_path, "megatron", [[70000]], dtype="uint32")

    assert (out / "prose-0000.bin").read_bytes() == np.array([70000, 2], "<i4").tobytes()
    assert (out / "prose-0000.idx").read_bytes()[17] == 4
    with pytest.raises(InputError, match="id 2147483648 does not fit into the format's int32"):
        export(tmp_path, "megatron", [[2**31]], dtype="uint32", name="b", digest="e")


def test_olmo_files_byte_by_byte(tmp_path):
    out = export(tmp_path, "olmo", ids=["a,b", 7])

    assert (out / "prose-0000.npy").read_bytes() == np.array([5, 6, 7, 2, 8, 2], "<u2").tobytes()
    assert gzip.decompress((out / "prose-0000.csv.gz").read_bytes()) == (
        b'0,4,"a,b",prose/0000.jsonl.gz,1\r\n4,6,7,prose/0000.jsonl.gz,2\r\n'
    )


def test_an_id_with_line_ends_stays_on_the_line_of_its_document(tmp_path):
    out = export(tmp_path, "olmo", ids=["a\nb", "c\r"])

    with gzip.open(out / "prose-0000.csv.gz", "rt") as file:  # as OLMo-core reads it
        assert [tuple(map(int, line.split(",")[:2])) for line in file] == [(0, 4), (4, 6)]
    with gzip.open(out / "prose-0000.csv.gz", "rt", newline="") as file:
        assert [row[2] for row in csv.reader(file)] == ['"a\\nb"', '"c\\r"']


def test_litdata_files_byte_by_byte(tmp_path):
    out = export(tmp_path, "litdata")

    assert (out / "chunk-prose-0000-0.bin").read_bytes() == b"".join(
        [
            struct.pack("<I", 2),
            np.array([16, 24, 28], "<u4").tobytes(),
            np.array([5, 6, 7, 2, 8, 2], "<u2").tobytes(),
        ]
    )
    index = json.loads((out / "index.json").read_text())
    assert index["chunks"] == [
        {"chunk_bytes": 28, "chunk_size": 2, "dim": 6, "filename": "chunk-prose-0000-0.bin"}
    ]
    assert index["config"]["data_format"] == ["no_header_numpy:5"]
    assert index["config"]["item_loader"] == "TokensLoader"


def test_mds_files_byte_by_byte(tmp_path):
    out = export(tmp_path, "mds")

    index = json.loads((out / "index.json").read_text())
    [entry] = index["shards"]
    assert index["version"] == 2
    assert entry["raw_data"]["basename"] == "prose-0000/shard.00000.mds"
    assert entry["column_names"] == ["id", "provenance", "tokens"]
    assert entry["column_encodings"] == ["str", "str", "ndarray:uint16"]
    content = (out / "prose-0000" / "shard.00000.mds").read_bytes()
    number, first, second, end = struct.unpack("<4I", content[:16])
    assert (number, end, entry["samples"], entry["raw_data"]["bytes"]) == (2, len(content), 2, len(content))
    assert content[first:second] == b"".join(
        [
            struct.pack("<3I", 2, 21, 10),
            b"d0",
            b"prose/0000.jsonl.gz:1",
            b"\x04\x04" + np.array([5, 6, 7, 2], "<u2").tobytes(),
        ]
    )
    config = json.loads(content[16:first])
    assert config == {key: entry[key] for key in config}


def test_datasets_opens_what_was_written(tmp_path):
    first = make_arrays(tmp_path / "a.arrow", DOCUMENTS, ids=["a", 7])
    second = make_arrays(tmp_path / "b.arrow", [[65535]])
    out = str(tmp_path / "out")
    export_documents(
        [
            ExportTask("prose/0000", first, "d", out, "datasets"),
            ExportTask("prose/0001", second, "e", out, "datasets"),
        ]
    )

    loaded = datasets.load_from_disk(out)

    assert loaded["input_ids"][:] == [[5, 6, 7, 2], [8, 2], [65535, 2]]
    assert loaded["id"][:] == ["a", "7", "d0"]
    assert loaded["provenance"][1] == "prose/0000.jsonl.gz:2"
    assert loaded.features["input_ids"].feature.dtype == "uint16"


def test_rows_go_to_datasets_with_their_mask(tmp_path):
    rows = np.array([[1, 2, 3], [4, 0, 0]], np.uint16)
    mask = np.array([[True, True], [False, False]])

    written = export_rows([(rows[:1], mask[:1]), (rows[1:], mask[1:])], str(tmp_path), "datasets")

    loaded = datasets.load_from_disk(str(tmp_path))
    assert loaded["input_ids"][:] == rows.tolist()
    assert loaded["loss_mask"][:] == mask.tolist()
    assert (written.counts.num_out, written.details["num_targets"]) == (2, 2)


def test_rows_go_to_mds_with_their_mask(tmp_path):
    rows = np.array([[1, 2, 3]], np.uint32)

    export_rows([(rows, np.array([[True, False]]))], str(tmp_path), "mds", stem="epoch-0")

    content = (tmp_path / "epoch-0" / "shard.00000.mds").read_bytes()
    assert content.endswith(b"\x04\x03" + rows.tobytes() + b"\x04\x02\x01\x00")


def test_rows_go_to_olmo_with_a_mask_of_labels(tmp_path):
    rows = np.array([[5, 6, 7, 2], [8, 2, 0, 0]], np.uint16)
    mask = np.array([[True, True, True], [True, False, False]])

    written = export_rows([(rows[:1], mask[:1]), (rows[1:], mask[1:])], str(tmp_path), "olmo", stem="epoch-0")

    assert (tmp_path / "epoch-0.npy").read_bytes() == rows.astype("<u2").tobytes()
    assert (tmp_path / "label_mask/epoch-0.npy").read_bytes() == b"\0\1\1\1\0\1\0\0"
    assert sorted(written.details["files"]) == ["epoch-0.npy", "label_mask/epoch-0.npy"]


def test_rows_are_refused_without_a_place_for_the_mask_or_with_one_that_does_not_fit(tmp_path):
    rows = np.array([[1, 2, 3]], np.uint16)

    with pytest.raises(RecipeError, match="packed rows go to datasets, mds or olmo, got 'megatron'"):
        export_rows([(rows, np.array([[True, True]]))], str(tmp_path), "megatron")
    with pytest.raises(
        ValueError, match=r"rows of shape \(1, 3\) do not go with a loss mask of shape \(1, 3\)"
    ):
        export_rows([(rows, np.array([[True, True, True]]))], str(tmp_path), "mds")
    wider = (rows.astype(np.uint32), np.array([[True, True]]))
    with pytest.raises(ValueError, match="rows of 3 uint32 do not go with those of 3 uint16 before"):
        export_rows([(rows, np.array([[True, True]])), wider], str(tmp_path / "olmo"), "olmo")
    assert [path for path in (tmp_path / "olmo").rglob("*") if path.is_file()] == []
    with pytest.raises(ValueError, match="no row to export"):
        export_rows([], str(tmp_path), "datasets")


@pytest.mark.parametrize("to", ["megatron", "mds", "datasets", "litdata"])
def test_the_boundary_can_be_left_out(tmp_path, to):
    out = export(tmp_path, to, append_boundary=False, boundary_id=None)

    content = b"".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    assert np.array([5, 6, 7], "<u2").tobytes() in content


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_a_boundary_that_is_not_there_is_refused(tmp_path, to):
    with pytest.raises(RecipeError, match="has no boundary to put after each document"):
        export(tmp_path, to, boundary_id=None)


def test_olmo_cannot_do_without_a_boundary(tmp_path):
    with pytest.raises(RecipeError, match="olmo finds documents by their boundary"):
        export(tmp_path, "olmo", append_boundary=False)


def test_an_unknown_format_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(
        RecipeError, match="no format 'tfrecord'; there are megatron, olmo, mds, datasets, litdata"
    ):
        export(tmp_path, "tfrecord")


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_what_is_finished_is_not_done_again(tmp_path, to):
    path = make_arrays(tmp_path / "a.arrow", DOCUMENTS)
    task = ExportTask("prose/0000", path, "d", str(tmp_path / "out"), to)
    first = export_documents([task])
    times = {
        file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("prose-0000*") if file.is_file()
    }

    Path(path).unlink()  # not even opened
    again = export_documents([task])

    assert again == first
    assert {file: file.stat().st_mtime_ns for file in times} == times


@pytest.mark.parametrize("change", ["cut", "removed", "other input", "other option"])
def test_what_changed_is_done_again(tmp_path, change):
    path = make_arrays(tmp_path / "a.arrow", DOCUMENTS)
    out = tmp_path / "out"
    task = ExportTask("prose/0000", path, "d", str(out), "megatron")
    export_shard(task)
    binary = out / "prose-0000.bin"
    if change == "cut":
        binary.write_bytes(binary.read_bytes()[:-1])
    elif change == "removed":
        (out / "prose-0000.idx").unlink()
    elif change == "other input":
        make_arrays(tmp_path / "a.arrow", [[9]])
        task = ExportTask("prose/0000", path, "e", str(out), "megatron")
    else:
        task = ExportTask("prose/0000", path, "d", str(out), "megatron", append_boundary=False)

    export_shard(task)

    expected = {"other input": [9, 2], "other option": [5, 6, 7, 8]}.get(change, [5, 6, 7, 2, 8, 2])
    assert np.fromfile(binary, "<u2").tolist() == expected
    assert (out / "prose-0000.idx").exists()


def test_what_was_cut_while_another_input_was_exported_is_not_taken_for_the_old_one(tmp_path, monkeypatch):
    first = make_arrays(tmp_path / "a.arrow", [[5, 6]])
    second = make_arrays(tmp_path / "b.arrow", [[7, 8]])
    out = tmp_path / "out"
    task = ExportTask("prose/0000", first, "d", str(out), "megatron")
    whole = export_shard(task)

    def cut(arrays, files, stem, **options):
        with files.write(f"{stem}.bin") as file:
            file.write(np.array([7, 8, 2], "<u2"))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setitem(FORMATS, "megatron", cut)
        with pytest.raises(KeyboardInterrupt):
            export_shard(ExportTask("prose/0000", second, "e", str(out), "megatron"))

    assert export_shard(task) == whole  # of the same size, but now of other tokens
    assert np.fromfile(out / "prose-0000.bin", "<u2").tolist() == [5, 6, 2]


def test_nothing_of_an_earlier_export_stays_in_the_folder(tmp_path):
    path = make_arrays(tmp_path / "a.arrow", DOCUMENTS)
    empty = make_arrays(tmp_path / "b.arrow", [])
    out = tmp_path / "out"

    def names(*tasks):
        export_documents([ExportTask(key, arrays, digest, str(out), to) for key, arrays, digest, to in tasks])
        found = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
        return sorted(name for name in found if not name.startswith(".export"))

    assert len(names(("p/0000", path, "d", "mds"), ("p/0001", path, "d", "mds"))) == 5
    assert names(("p/0000", path, "d", "olmo"), ("p/0001", path, "d", "olmo")) == [
        "p-0000.csv.gz", "p-0000.npy", "p-0001.csv.gz", "p-0001.npy",
    ]  # fmt: skip
    assert names(("p/0000", path, "d", "olmo"), ("p/0001", empty, "e", "olmo")) == [
        "p-0000.csv.gz", "p-0000.npy",
    ]  # fmt: skip
    assert names(("q/0000", path, "d", "olmo")) == ["q-0000.csv.gz", "q-0000.npy"]


def test_a_broken_record_is_no_obstacle(tmp_path):
    out = export(tmp_path, "megatron")
    record = out / ".export" / "prose-0000.json"
    record.write_bytes(record.read_bytes()[:20])

    export(tmp_path, "megatron")

    assert json.loads(record.read_text())["written"]["counts"]["num_out"] == 2


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_an_export_has_the_same_bytes_each_time(tmp_path, to):
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        out = export(tmp_path / folder, to)
        found.append(
            {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        )

    assert found[0] == found[1]


@pytest.mark.parametrize("to", sorted(FORMATS))
def test_a_shard_without_documents_breaks_nothing(tmp_path, to):
    empty = make_arrays(tmp_path / "a.arrow", [])
    full = make_arrays(tmp_path / "b.arrow", DOCUMENTS)
    out = str(tmp_path / "out")

    written = export_documents(
        [ExportTask("prose/0000", empty, "d", out, to), ExportTask("prose/0001", full, "e", out, to)]
    )

    assert (written.counts.num_out, written.details["num_tokens"]) == (2, 4)
    assert not (tmp_path / "out" / "prose-0000.bin").exists()


def test_an_empty_document_without_a_boundary_cannot_go_to_mds(tmp_path):
    with pytest.raises(InputError, match="a document without tokens"):
        export(tmp_path, "mds", [[]], append_boundary=False)


def test_one_export_has_one_folder(tmp_path):
    path = make_arrays(tmp_path / "a.arrow", DOCUMENTS)

    with pytest.raises(RecipeError, match="one export has one format and folder"):
        export_documents(
            [
                ExportTask("a/0000", path, "d", "x", "megatron"),
                ExportTask("a/0001", path, "d", "y", "megatron"),
            ]
        )
    with pytest.raises(RecipeError, match="one export has one format and folder, got \\[\\]"):
        export_documents([])


documents_strategy = st.lists(st.lists(st.integers(3, 65535), max_size=20), min_size=1, max_size=10)


@given(documents=documents_strategy, dtype=st.sampled_from(["uint16", "uint32"]))
@settings(deadline=None, max_examples=30)
def test_megatron_and_olmo_files_come_back_as_the_same_documents(tmp_path_factory, documents, dtype):
    folder = tmp_path_factory.mktemp("trip")
    size = 65536 if dtype == "uint16" else 2**31
    path = make_arrays(folder / "a.arrow", documents, dtype=dtype)
    for to in ("megatron", "olmo"):
        export_documents([ExportTask("prose/0000", path, "d", str(folder / to), to)])

    import_megatron(str(folder / "megatron" / "prose-0000"), str(folder / "m.arrow"), boundary_id=2, vocabulary_size=size)  # fmt: skip  # noqa: E501
    import_olmo(str(folder / "olmo" / "prose-0000.npy"), str(folder / "o.arrow"), boundary_id=2, vocabulary_size=size)  # fmt: skip  # noqa: E501

    megatron, olmo = DocArrays.open(str(folder / "m.arrow")), DocArrays.open(str(folder / "o.arrow"))
    assert [tokens.tolist() for tokens in megatron] == documents
    assert [tokens.tolist() for tokens in olmo] == documents
    assert olmo.dtype.name == megatron.dtype.name == dtype
    assert list(olmo.ids()) == [f"d{number}" for number in range(len(documents))]
    assert olmo.provenance(0) == "prose/0000.jsonl.gz:1"
    assert megatron.provenance(0) == "prose-0000:1"
    assert megatron.metadata["boundary_id"] == 2


def test_an_imported_file_is_found_broken(tmp_path):
    out = export(tmp_path, "megatron")
    prefix, target = str(out / "prose-0000"), str(tmp_path / "b.arrow")
    binary, index = out / "prose-0000.bin", out / "prose-0000.idx"
    whole, head = binary.read_bytes(), index.read_bytes()
    options = {"boundary_id": 2, "vocabulary_size": 65536}

    with pytest.raises(InputError, match=r"nowhere\.idx: cannot be read"):
        import_megatron(str(out / "nowhere"), target, **options)
    binary.write_bytes(whole[:-2])
    with pytest.raises(InputError, match=r"\.bin: cut short: 5 tokens are there"):
        import_megatron(prefix, target, **options)
    binary.write_bytes(whole[:-1])
    with pytest.raises(InputError, match="11 bytes are no whole number of uint16"):
        import_megatron(prefix, target, **options)
    binary.write_bytes(whole)
    for content, message in [
        (b"PK" + head, "not an index of Megatron"),
        (head[:-4], "cut short: 2 sequences are announced"),
        (head[:17] + b"\x07" + head[18:], "version 1 with dtype code 7 is not known"),
        (head[:-8] + struct.pack("<q", 1), "its documents do not end where its sequences do"),
    ]:
        index.write_bytes(content)
        with pytest.raises(InputError, match=message):
            import_megatron(prefix, target, **options)
    index.write_bytes(head)
    with pytest.raises(InputError, match="token id 7 at prose-0000:1 is not from 0 to 6"):
        import_megatron(prefix, target, boundary_id=2, vocabulary_size=7)


def test_an_imported_list_of_ranges_is_found_broken(tmp_path):
    out = export(tmp_path, "olmo")
    path, target = str(out / "prose-0000.npy"), str(tmp_path / "b.arrow")
    listed = out / "prose-0000.csv.gz"
    for rows, message in [
        ([[0, 4], [4, 7]], "tokens 4 to 7 do not follow on 4, or exceed 6"),
        ([[0, 4], [5, 6]], "tokens 5 to 6 do not follow on 4"),
        ([[0, 4]], "6 tokens, but the documents end at 4"),
        ([["x", 4]], "not start,end"),
    ]:
        with gzip.open(listed, "wt", newline="") as file:
            csv.writer(file).writerows(rows)
        with pytest.raises(InputError, match=message):
            import_olmo(path, target, boundary_id=2, vocabulary_size=65536)
    with gzip.open(listed, "wt", newline="") as file:
        csv.writer(file).writerows([[0, 4], [4, 6]])
    listed.write_bytes(listed.read_bytes()[:-6])
    with pytest.raises(InputError, match=r"not a whole \.csv\.gz file"):
        import_olmo(path, target, boundary_id=2, vocabulary_size=65536)


def test_two_imported_files_have_together_the_documents_of_both(tmp_path):
    # Joining token files by hand has lost document borders before; here each stays a shard of its own.
    first = export(tmp_path, "olmo", [[5], [6, 7]])
    import_olmo(
        str(first / "prose-0000.npy"), str(tmp_path / "x.arrow"), boundary_id=2, vocabulary_size=65536
    )
    second = export(tmp_path, "olmo", [[8], [], [9]], digest="e", name="b")
    import_olmo(
        str(second / "prose-0000.npy"), str(tmp_path / "y.arrow"), boundary_id=2, vocabulary_size=65536
    )
    out = tmp_path / "joined"

    export_documents(
        [
            ExportTask("prose/0000", str(tmp_path / "x.arrow"), "x", str(out), "litdata"),
            ExportTask("prose/0001", str(tmp_path / "y.arrow"), "y", str(out), "litdata"),
        ]
    )

    chunks = json.loads((out / "index.json").read_text())["chunks"]
    assert [(chunk["chunk_size"], chunk["dim"]) for chunk in chunks] == [(2, 5), (3, 5)]
