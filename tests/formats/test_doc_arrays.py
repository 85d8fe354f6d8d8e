import itertools
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from mixle_assets.errors import InputError
from mixle_assets.formats.doc_arrays import DocArrays, lengths_path_of, write_doc_arrays
from mixle_assets.formats.doc_batches import MAX_BATCH_DOCUMENTS, DocBatch, rebatch

METADATA = {"tokenizer_hash": "c0ffee", "boundary_id": 2, "bos_id": None, "vocabulary_size": 60000}


def batch_of(documents, ids=None):
    return DocBatch(
        ids if ids is not None else [f"d{number}" for number in range(len(documents))],
        [f"prose/0000.jsonl.gz:{number + 1}" for number in range(len(documents))],
        np.array([token for document in documents for token in document], np.int64),
        np.array([len(document) for document in documents], np.int64),
    )


def write(path, documents, *, ids=None, dtype="uint16", metadata=METADATA, **options):
    return write_doc_arrays(str(path), [batch_of(documents, ids)], dtype=dtype, metadata=metadata, **options)


def test_documents_ids_and_provenance_come_back_as_they_were(tmp_path):
    path = str(tmp_path / "prose-0000.arrow")
    ids = ["a", 7, "7", 123456789012345678901234567890, None]
    written = write(path, [[5, 6, 7], [8, 9], [], [59999], [0, 0]], ids=ids)

    arrays = DocArrays.open(path)

    assert [tokens.tolist() for tokens in arrays] == [[5, 6, 7], [8, 9], [], [59999], [0, 0]]
    assert [arrays.id(index) for index in range(5)] == ids == list(arrays.ids())
    assert arrays.provenance(1) == "prose/0000.jsonl.gz:2"
    assert list(arrays.provenances())[-1] == "prose/0000.jsonl.gz:5"
    assert arrays.metadata == {**METADATA, "dtype": "uint16"}
    assert arrays.lengths.tolist() == [3, 2, 0, 1, 2]
    assert arrays.offsets.tolist() == [0, 3, 5, 5, 6, 8]
    assert (arrays.num_documents, arrays.num_tokens, len(arrays)) == (5, 8, 5)
    assert (written.num_documents, written.num_tokens) == (5, 8)
    assert written.size_in_bytes == (tmp_path / "prose-0000.arrow").stat().st_size


def test_doc_arrays_are_a_sequence(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[1], [2, 2], [3, 3, 3]])

    arrays = DocArrays.open(path)

    assert arrays[-1].tolist() == [3, 3, 3]
    assert [tokens.tolist() for tokens in arrays[1:]] == [[2, 2], [3, 3, 3]]
    with pytest.raises(IndexError):
        arrays[3]


def test_a_document_is_a_view_of_the_file_that_nobody_can_change(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[1, 2, 3]])

    tokens = DocArrays.open(path).tokens(0)

    assert not tokens.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        tokens[0] = 9


def test_the_lengths_are_plain_numpy_beside_the_tokens(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[1], [2, 2]])

    assert lengths_path_of(path) == str(tmp_path / "a.lengths.npy")
    assert np.load(tmp_path / "a.lengths.npy", mmap_mode="r").tolist() == [1, 2]


def test_any_arrow_reader_reads_the_file(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[1, 2], [3]], ids=[7, "7"], dtype="uint32")

    with pa.memory_map(path) as mapped:
        table = ipc.open_file(mapped).read_all()

    assert table.to_pydict() == {
        "id": ["7", '"7"'],
        "provenance": ["prose/0000.jsonl.gz:1", "prose/0000.jsonl.gz:2"],
        "tokens": [[1, 2], [3]],
    }
    assert table.schema.field("tokens").type == pa.large_list(pa.field("item", pa.uint32(), nullable=False))
    assert table.schema.metadata[b"vocabulary_size"] == b"60000"


def test_no_document_at_all_is_a_file_too(tmp_path):
    path = str(tmp_path / "a.arrow")
    write_doc_arrays(path, [], dtype="uint16", metadata=METADATA)

    arrays = DocArrays.open(path)

    assert list(arrays) == []
    assert arrays.offsets.tolist() == [0]
    assert arrays.num_tokens == 0


def test_documents_without_tokens_alone_are_a_batch(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[], []])

    assert [tokens.tolist() for tokens in DocArrays.open(path)] == [[], []]


documents_strategy = st.lists(st.lists(st.integers(0, 59999), max_size=9), max_size=12)


@given(documents=documents_strategy, cuts=st.lists(st.integers(0, 12), max_size=4), room=st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_however_documents_arrive_the_bytes_are_the_same(tmp_path_factory, documents, cuts, room):
    folder = tmp_path_factory.mktemp("arrays")
    whole = batch_of(documents)
    borders = sorted({0, len(documents), *(min(cut, len(documents)) for cut in cuts)})
    ends = np.cumsum([0, *whole.lengths])
    parts = [
        DocBatch(whole.ids[a:b], whole.provenances[a:b], whole.values[ends[a] : ends[b]], whole.lengths[a:b])
        for a, b in itertools.pairwise(borders)
    ]

    one = write(folder / "one.arrow", documents, max_batch_in_bytes=2 * room)
    many = write_doc_arrays(
        str(folder / "many.arrow"), parts, dtype="uint16", metadata=METADATA, max_batch_in_bytes=2 * room
    )
    wide = write(folder / "wide.arrow", documents)

    assert one == many
    assert one.rows_digest == wide.rows_digest
    for name in ("one", "many", "wide"):
        arrays = DocArrays.open(str(folder / f"{name}.arrow"))
        assert [tokens.tolist() for tokens in arrays] == documents
        assert list(arrays.ids()) == [f"d{number}" for number in range(len(documents))]


def test_a_batch_holds_as_many_documents_as_fit_and_a_long_one_stands_alone():
    documents = [[1] * 3, [2], [3] * 2, [4] * 9, [5]]

    batches = list(rebatch([batch_of(documents[:1]), batch_of(documents[1:])], 4 * 8))

    assert [batch.lengths.tolist() for batch in batches] == [[3, 1], [2], [9], [1]]


def test_very_short_documents_are_bounded_by_number():
    lengths = np.zeros(MAX_BATCH_DOCUMENTS + 1, np.int64)
    names = [""] * len(lengths)

    batches = list(rebatch([DocBatch(names, names, np.empty(0, np.uint16), lengths)]))

    assert [len(batch.lengths) for batch in batches] == [MAX_BATCH_DOCUMENTS, 1]


@pytest.mark.parametrize(
    ("documents", "dtype", "size", "document_id", "message"),
    [
        ([[1], [2, 65536]], "uint16", 65537, "d1", "token id 65536 at prose/0000.jsonl.gz:2 .* 0 to 65535"),
        ([[1], [2, 60000]], "uint16", 60000, "d1", "token id 60000 at prose/0000.jsonl.gz:2 .* 0 to 59999"),
        ([[], [], [-1], [-2]], "uint32", None, "d2", "token id -1 at prose/0000.jsonl.gz:3 is not from 0"),
        ([[2**32]], "uint32", None, "d0", "token id 4294967296 .* is not from 0 to 4294967295"),
    ],
)  # fmt: skip
def test_an_id_that_does_not_fit_is_refused_with_its_document_and_nothing_is_written(
    tmp_path, documents, dtype, size, document_id, message
):
    with pytest.raises(InputError, match=message) as caught:
        write(tmp_path / "a.arrow", documents, dtype=dtype, metadata={**METADATA, "vocabulary_size": size})

    assert caught.value.document_id == document_id
    assert list(tmp_path.iterdir()) == []


def test_the_largest_ids_of_both_dtypes_are_kept(tmp_path):
    metadata = {**METADATA, "vocabulary_size": None}
    write(tmp_path / "a.arrow", [[65535]], metadata=metadata)
    write(tmp_path / "b.arrow", [[65536, 2**32 - 1]], dtype="uint32", metadata=metadata)

    assert DocArrays.open(str(tmp_path / "a.arrow"))[0].tolist() == [65535]
    assert DocArrays.open(str(tmp_path / "b.arrow"))[0].tolist() == [65536, 2**32 - 1]


def test_a_failure_while_documents_arrive_leaves_the_earlier_file(tmp_path):
    path = str(tmp_path / "a.arrow")
    write(path, [[1, 2]])

    def broken():
        yield batch_of([[3]])
        raise RuntimeError("the disk caught fire")

    with pytest.raises(RuntimeError, match="fire"):
        write_doc_arrays(path, broken(), dtype="uint16", metadata=METADATA)

    assert [tokens.tolist() for tokens in DocArrays.open(path)] == [[1, 2]]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.arrow", "a.lengths.npy"]


def test_parts_of_a_batch_that_disagree_are_refused(tmp_path):
    batch = batch_of([[1, 2]])._replace(lengths=np.array([3]))

    with pytest.raises(ValueError, match="1 lengths of 3 tokens do not go with 2 values"):
        write_doc_arrays(str(tmp_path / "a.arrow"), [batch], dtype="uint16", metadata=METADATA)


def test_a_cut_file_is_an_error_wherever_it_is_cut(tmp_path):
    path = tmp_path / "a.arrow"
    write(path, [[1, 2], [3]])
    whole = path.read_bytes()

    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"a\.arrow: not a whole Arrow file"):
            DocArrays.open(str(path))


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "a.arrow"
    with pytest.raises(InputError, match="there are no doc arrays here"):
        DocArrays.open(str(path))

    write(path, [[1]])
    (tmp_path / "a.lengths.npy").unlink()
    with pytest.raises(InputError, match=r"lengths beside it are missing: .*a\.lengths\.npy"):
        DocArrays.open(str(path))


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (np.array([2], np.int64), "holds 2 documents, but .* 1"),
        (np.array([2, 2], np.int64), "have 3 tokens, but 4"),
        (np.array([2, 1], np.int32), "1-D int64, got int32"),
    ],
)
def test_lengths_of_other_documents_are_refused(tmp_path, lengths, message):
    write(tmp_path / "a.arrow", [[1, 2], [3]])
    np.save(tmp_path / "a.lengths.npy", lengths)

    with pytest.raises(InputError, match=message):
        DocArrays.open(str(tmp_path / "a.arrow"))


def test_cut_lengths_are_an_error(tmp_path):
    write(tmp_path / "a.arrow", [[1, 2], [3]])
    lengths = tmp_path / "a.lengths.npy"
    for size in (0, 50, 130, 140):
        np.save(lengths, np.array([2, 1], np.int64))
        lengths.write_bytes(lengths.read_bytes()[:size])
        with pytest.raises(InputError, match=r"not a whole \.npy file"):
            DocArrays.open(str(tmp_path / "a.arrow"))


def test_an_arrow_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "a.arrow"
    schema = pa.schema([("tokens", pa.large_list(pa.uint16()))])
    with ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.record_batch([pa.array([[1]], schema.field(0).type)], schema=schema))

    with pytest.raises(InputError, match="not one of doc arrays"):
        DocArrays.open(str(path))


def test_doc_arrays_whose_columns_were_changed_are_refused(tmp_path):
    path = tmp_path / "a.arrow"
    write(path, [[1]])
    with pa.memory_map(str(path)) as mapped:
        table = ipc.open_file(mapped).read_all()
    tokens = table.column(2).cast(pa.large_list(pa.int64()))
    table = table.set_column(2, "tokens", tokens)
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)

    with pytest.raises(InputError, match=r"another schema(.|\n)*int64"):
        DocArrays.open(str(path))


def test_places_past_two_to_the_31_are_read_exactly(tmp_path):
    # Offsets of 32 bits would wrap behind the five long documents, which are holes in a sparse file.
    path = tmp_path / "a.arrow"
    write(path, [[0]])
    schema = ipc.open_file(str(path)).schema
    lengths = np.array([*[2**29] * 5, 3], np.int64)
    zeros = np.zeros(2**29, np.uint16)
    with path.open("wb") as file, ipc.new_file(_HoleySink(file), schema) as writer:
        for values in (*[zeros] * 5, np.array([7, 8, 9], np.uint16)):
            tokens = pa.LargeListArray.from_arrays(
                pa.array([0, len(values)], pa.int64()), pa.array(values), type=schema.field("tokens").type
            )
            writer.write_batch(pa.record_batch([pa.array(["1"]), pa.array(["x:1"]), tokens], schema=schema))
    np.save(lengths_path_of(str(path)), lengths)

    arrays = DocArrays.open(str(path))

    assert arrays.offsets[-2:].tolist() == [5 * 2**29, 5 * 2**29 + 3]
    assert arrays.tokens(5).tolist() == [7, 8, 9]
    assert (len(arrays.tokens(4)), arrays.tokens(4)[-1]) == (2**29, 0)
    assert path.stat().st_blocks * 512 < 2**20


class _HoleySink:
    """Writes a file with a hole where a buffer is huge."""

    closed = False

    def __init__(self, file):
        self.file = file

    def write(self, content):
        size = memoryview(content).nbytes
        if size >= 2**30:
            self.file.seek(size, 1)
        else:
            self.file.write(content)
        return size

    def flush(self):
        self.file.flush()


def test_writing_holds_a_batch_not_the_shard(tmp_path):
    def many(number):
        for _ in range(number):
            yield batch_of([[1] * 50_000] * 4)

    def peak(number):
        tracemalloc.start()
        write_doc_arrays(
            str(tmp_path / "a.arrow"),
            many(number),
            dtype="uint16",
            metadata=METADATA,
            max_batch_in_bytes=2**20,
        )
        _, peak_in_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak_in_bytes

    assert peak(40) < 1.2 * peak(4)
