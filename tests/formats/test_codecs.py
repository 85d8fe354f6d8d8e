import gzip
import io
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.formats.codecs import MEMBER_IN_BYTES, codec_of, gzip_member, read_chunks, write_shard
from mixle_assets.manifest import hash_bytes

SIX_ROWS = [b'{"id":%d}\n' % number for number in range(6)]


def read_all(path, codec=None):
    return b"".join(read_chunks(str(path), codec=codec))


def read_until_fault(path):
    """What is handed out before the fault, and the fault."""
    content = b""
    with pytest.raises(InputError) as caught:
        for chunk in read_chunks(str(path)):
            content += chunk
    return content, str(caught.value)


@pytest.mark.parametrize(
    ("path", "codec"),
    [
        ("a.jsonl.gz", "gz"),
        ("a.jsonl.zst", "zst"),
        ("a.jsonl.zstd", "zst"),
        ("a.JSONL.GZ", "gz"),
        ("a.jsonl", ""),
        ("folder.gz/a", ""),
        ("s3://bucket/a.jsonl.zst", "zst"),
    ],
)
def test_the_codec_follows_from_the_last_extension(path, codec):
    assert codec_of(path) == codec


def test_an_override_beats_the_extension():
    assert codec_of("a.gz", "") == ""
    assert codec_of("a", "zst") == "zst"
    with pytest.raises(ValueError, match="codec must be gz, zst or empty, got 'bz2'"):
        codec_of("a.gz", "bz2")


def test_all_members_of_a_gzip_are_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(SIX_ROWS[:3])) + gzip.compress(b"".join(SIX_ROWS[3:])))

    assert read_all(path) == b"".join(SIX_ROWS)


def test_empty_members_and_zero_padding_hold_nothing(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(
        gzip.compress(b"") + gzip.compress(b"a\n") + b"\0" * 512 + gzip.compress(b"") + b"\0" * 9
    )

    assert read_all(path) == b"a\n"


def test_all_frames_of_a_zstd_are_read(tmp_path):
    compressor = zstandard.ZstdCompressor()
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(compressor.compress(b"one\n") + compressor.compress(b"") + compressor.compress(b"two\n"))

    assert read_all(path) == b"one\ntwo\n"


def test_a_cut_gzip_gives_what_stands_before_the_cut_and_then_fails(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"".join(SIX_ROWS[:3])) + gzip.compress(b"".join(SIX_ROWS[3:]))
    path.write_bytes(whole[:-9])

    content, message = read_until_fault(path)

    assert content.startswith(b"".join(SIX_ROWS[:3]))
    assert message == f"{path}: truncated: gzip member 2 has no end"


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_a_cut_zstd_fails(tmp_path, cut):
    path = tmp_path / "a.zst"
    path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(b"".join(SIX_ROWS))[:-cut])

    _, message = read_until_fault(path)

    assert message == f"{path}: truncated: zstd frame 1 has no end"


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_a_compressed_file_of_no_bytes_is_a_cut_one(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")

    _, message = read_until_fault(path)

    assert "truncated: a file of 0 bytes" in message


def test_a_plain_file_of_no_bytes_holds_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")

    assert read_all(path) == b""


def test_a_flipped_byte_in_a_gzip_fails(tmp_path):
    path = tmp_path / "a.gz"
    stored = bytearray(gzip.compress(b"".join(SIX_ROWS)))
    stored[-6] ^= 1  # in the checksum
    path.write_bytes(stored)

    _, message = read_until_fault(path)

    assert "corrupt: not valid gzip" in message


def test_text_behind_a_gzip_fails(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n") + b"b\n")

    content, message = read_until_fault(path)

    assert content == b"a\n"
    assert (
        "corrupt: bytes after member 1 that are no gzip" in message or "truncated: gzip member 2" in message
    )


def test_plain_text_named_gz_fails(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b'{"id": 1, "text": "not compressed at all"}\n')

    _, message = read_until_fault(path)

    assert "corrupt: not valid gzip" in message


def test_a_missing_file_fails_at_once(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_chunks(str(tmp_path / "a.gz"))


def test_the_stamp_covers_all_stored_bytes(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n"))
    chunks = read_chunks(str(path))
    with pytest.raises(ValueError, match="known only after the last chunk"):
        _ = chunks.stamp

    assert list(chunks) == [b"a\n"]
    assert chunks.stamp.digest == hash_bytes(path.read_bytes())
    assert chunks.stamp.size_in_bytes == path.stat().st_size
    assert chunks.stamp.modified == path.stat().st_mtime_ns


def test_a_file_that_changes_while_it_is_read_fails(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"a\n")
    chunks = iter(read_chunks(str(path)))
    assert next(chunks) == b"a\n"
    path.write_bytes(b"a\nb\n")

    with pytest.raises(InputError, match="changed while it was read"):
        list(chunks)


@pytest.mark.parametrize("codec", ["gz", "zst"])
def test_a_file_of_zeros_does_not_unfold_in_memory(tmp_path, codec):
    path = tmp_path / f"a.{codec}"
    with write_shard(str(path), codec) as writer:
        for _ in range(64):
            writer.write(b"\0" * MEMBER_IN_BYTES)

    sizes = [len(chunk) for chunk in read_chunks(str(path))]

    assert sum(sizes) == 64 * MEMBER_IN_BYTES
    assert max(sizes) <= 32 * MEMBER_IN_BYTES


@pytest.mark.parametrize("codec", ["gz", "zst", ""])
def test_how_rows_are_cut_into_calls_changes_no_stored_byte(tmp_path, codec):
    rows = [b'{"id":%d,"text":"%s"}\n' % (number, b"word " * (number % 50)) for number in range(20_000)]
    one, many = tmp_path / "one", tmp_path / "many"
    with write_shard(str(one), codec) as first:
        first.write(b"".join(rows))
    with write_shard(str(many), codec) as second:
        for row in rows:
            second.write(row)

    assert one.read_bytes() == many.read_bytes()
    assert (first.rows_digest, first.file_hash, first.size_in_bytes) == (
        hash_bytes(b"".join(rows)),
        hash_bytes(one.read_bytes()),
        one.stat().st_size,
    )
    assert second.rows_digest == first.rows_digest
    assert read_all(many, codec) == b"".join(rows)


def test_every_gzip_reader_takes_what_we_write_and_finds_no_time_in_it(tmp_path):
    rows = b'{"id":1}\n' * 300_000  # 2.7 MB: three members
    path = tmp_path / "a.gz"
    with write_shard(str(path), "gz") as writer:
        writer.write(rows)

    stored = path.read_bytes()
    assert gzip.decompress(stored) == rows
    assert stored[4:8] == b"\0\0\0\0"  # mtime
    assert stored.count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00") == 3


@pytest.mark.parametrize("codec", ["gz", "zst"])
def test_a_shard_without_rows_is_a_valid_empty_file(tmp_path, codec):
    path = tmp_path / f"a.{codec}"
    with write_shard(str(path), codec):
        pass

    assert path.stat().st_size > 0
    assert read_all(path) == b""


def test_an_exception_while_writing_leaves_nothing(tmp_path):
    with pytest.raises(KeyError), write_shard(str(tmp_path / "a.gz"), "gz") as writer:
        writer.write(b"a\n" * MEMBER_IN_BYTES)
        raise KeyError

    assert list(tmp_path.iterdir()) == []


def test_the_fallback_codec_gives_the_same_rows_without_a_time():
    rows = b"".join(SIX_ROWS) * 1000

    member = gzip_member(prefer_libdeflate=False)(memoryview(rows))

    assert gzip.decompress(member) == rows
    assert member[4:8] == b"\0\0\0\0"
    assert gzip.decompress(gzip_member()(memoryview(rows))) == rows


@given(
    parts=st.lists(st.binary(max_size=2000), min_size=1, max_size=6),
    level=st.integers(0, 9),
    read=st.sampled_from(["gz", "zst"]),
)
@settings(deadline=None, max_examples=60)
def test_members_and_frames_join_to_their_contents(tmp_path_factory, parts, level, read):
    path = tmp_path_factory.getbasetemp() / f"joined.{read}"
    if read == "gz":
        path.write_bytes(b"".join(gzip.compress(part, level) for part in parts))
    else:
        path.write_bytes(b"".join(zstandard.ZstdCompressor(level=1 + level).compress(part) for part in parts))

    assert read_all(path) == b"".join(parts)


def test_a_gzip_with_a_name_and_a_comment_in_its_header_is_read(tmp_path):
    path = tmp_path / "a.gz"
    buffer = io.BytesIO()
    with gzip.GzipFile("name.jsonl", "wb", fileobj=buffer, mtime=1_700_000_000) as file:
        file.write(b"a\n")
    path.write_bytes(buffer.getvalue())

    assert read_all(path) == b"a\n"
    assert zlib.crc32(b"a\n") == int.from_bytes(path.read_bytes()[-8:-4], "little")
