import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.formats.packed_rows import hash_file, open_array, write_array, write_pieces
from mixle_assets.manifest import hash_bytes


@settings(deadline=None, max_examples=40)
@given(
    cuts=st.lists(st.integers(0, 7), max_size=4),
    width=st.integers(1, 5),
    dtype=st.sampled_from(["uint16", "uint32", "int64"]),
)
def test_an_array_written_in_pieces_has_the_bytes_of_np_save(tmp_path_factory, cuts, width, dtype):
    whole = np.arange(7 * width, dtype=dtype).reshape(7, width)
    path = tmp_path_factory.mktemp("rows") / "rank-00000-of-00001.npy"
    edges = [0, *sorted(cuts), 7]

    stored = write_pieces(str(path), (whole[a:b] for a, b in pairwise(edges)), whole.shape, dtype)

    saved = io.BytesIO()
    np.save(saved, whole)
    assert path.read_bytes() == saved.getvalue()
    assert stored.hash == hash_bytes(saved.getvalue()) == hash_file(str(path)).hash
    assert stored.size_in_bytes == len(saved.getvalue())
    assert np.load(path, mmap_mode="r").tolist() == whole.tolist()


def test_rows_are_opened_by_memory_map_and_cannot_be_changed(tmp_path):
    path = str(tmp_path / "rows.npy")
    write_pieces(path, [np.zeros((2, 3), np.uint16)], (2, 3), np.uint16)

    rows = open_array(path, dtype=np.uint16, ndim=2)

    assert isinstance(rows, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 1


def test_a_private_map_may_be_changed_and_the_file_stays(tmp_path):
    path = str(tmp_path / "order.npy")
    write_pieces(path, [np.zeros(3, np.int64)], (3,), np.int64)

    open_array(path, dtype=np.int64, ndim=1, private=True)[:] = 5

    assert np.load(path).tolist() == [0, 0, 0]


def test_an_array_without_rows_is_opened_too(tmp_path):
    path = str(tmp_path / "rows.npy")
    write_pieces(path, [], (0, 5), np.uint16)

    assert open_array(path, dtype=np.uint16, ndim=2).shape == (0, 5)


@pytest.mark.parametrize("num_rows", [1, 3])
def test_fewer_or_more_rows_than_announced_leave_no_file(tmp_path, num_rows):
    path = tmp_path / "rows.npy"

    with (
        pytest.raises(ValueError, match=f"announced 2 rows, got {num_rows}"),
        write_array(str(path), (2, 4), np.uint16) as writer,
    ):
        writer.write(np.zeros((num_rows, 4), np.uint16))

    assert list(tmp_path.iterdir()) == []


def test_an_exception_while_writing_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "rows.npy"
    path.write_bytes(b"earlier")

    with pytest.raises(KeyError), write_array(str(path), (2, 4), np.uint16) as writer:
        writer.write(np.zeros((1, 4), np.uint16))
        raise KeyError

    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("piece", [np.zeros((1, 4), np.int64), np.zeros((1, 5), np.uint16)], ids=str)
def test_a_piece_of_another_kind_is_refused(tmp_path, piece):
    with (
        pytest.raises(ValueError, match="announced uint16"),
        write_array(str(tmp_path / "rows.npy"), (1, 4), np.uint16) as writer,
    ):
        writer.write(piece)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"", "not a whole .npy file"),
        (b"\x93NUMPY\x01\x00", "not a whole .npy file"),
        (b"hello, this is text", "not a whole .npy file"),
    ],
)
def test_what_is_no_array_is_refused_with_its_path(tmp_path, content, message):
    path = tmp_path / "rows.npy"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InputError, match=message) as caught:
        open_array(str(path), dtype=np.uint16, ndim=2)
    assert caught.value.path == str(path)


def test_a_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    write_pieces(str(path), [np.zeros((99, 4), np.uint16)], (99, 4), np.uint16)
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(InputError, match=r"not a whole \.npy file"):
        open_array(str(path), dtype=np.uint16, ndim=2)


def test_another_dtype_is_refused(tmp_path):
    path = str(tmp_path / "rows.npy")
    write_pieces(path, [np.zeros((2, 4), np.uint32)], (2, 4), np.uint32)

    with pytest.raises(InputError, match=r"expected uint16 with 2 dimensions, found uint32 \(2, 4\)"):
        open_array(path, dtype=np.uint16, ndim=2)
