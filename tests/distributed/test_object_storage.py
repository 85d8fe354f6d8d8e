"""The verbs of storage against a real S3 server."""

import io
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import obstore
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from object_store import SECRET, failing_proxy

from mixle_assets import storage
from mixle_assets.errors import InputError, LeaseError, StoreError
from mixle_assets.storage import copies, object_files, object_lease
from mixle_assets.storage.globs import matches
from mixle_assets.storage.object_stores import open_store


def put(url: str, content: bytes = b"x") -> None:
    with storage.write_whole(url) as file:
        file.write(content)


def test_an_object_written_whole_replaces_the_earlier_one(bucket: str) -> None:
    url = f"{bucket}/deep/folder/shard.gz"
    for content in (b"first", b"second"):
        put(url, content)

    assert storage.read_bytes(url) == b"second"
    assert storage.list_folder(f"{bucket}/deep/folder") == ["shard.gz"]
    assert storage.exists(url)
    found = storage.stat(url)
    assert found is not None
    assert found.size_in_bytes == 6
    assert found.modified == '"a9f0e61a137d86aa9db53465e0801612"'  # md5 of "second"


def test_an_exception_while_writing_leaves_the_earlier_object(bucket: str) -> None:
    url = f"{bucket}/shard.gz"
    put(url, b"good")
    for size in (4, 3 * object_files.PART_IN_BYTES):  # one request; a multipart upload that has begun
        with pytest.raises(KeyboardInterrupt), storage.write_whole(url) as file:
            file.write(b"h" * size)
            raise KeyboardInterrupt

    assert storage.read_bytes(url) == b"good"
    assert storage.list_folder(bucket) == ["shard.gz"]


def test_an_object_of_many_parts_shows_only_when_it_is_whole(bucket: str) -> None:
    url = f"{bucket}/large"
    piece = np.arange(2**20, dtype=np.uint32)
    with storage.write_whole(url) as file:
        for _ in range(10):
            assert file.write(piece.data) == 4 * 2**20
            assert not storage.exists(url)
        assert file.tell() == 40 * 2**20

    with storage.open_read(url) as stored:
        stored.seek(39 * 2**20 + 4)
        assert np.frombuffer(stored.read(8), np.uint32).tolist() == [3 * 2**18 + 1, 3 * 2**18 + 2]
        stored.seek(0)
        size = 0
        while chunk := stored.read(1_000_003):
            size += len(chunk)
    assert size == 40 * 2**20


_KILLED_UPLOAD = """
import os, sys
from mixle_assets import storage
with storage.write_whole(sys.argv[1]) as file:
    for _ in range(5):
        file.write(bytes(16 * 2**20))
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_the_upload_of_a_killed_writer_never_shows(bucket: str) -> None:
    url = f"{bucket}/half.arrow"
    writer = subprocess.Popen(
        [sys.executable, "-c", _KILLED_UPLOAD, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == b"begun\n"
    writer.kill()
    writer.wait()
    writer.stdout.close()
    writer.stdin.close()

    assert not storage.exists(url)
    assert storage.find_files(f"{bucket}/**") == []


def test_a_request_cut_in_its_middle_never_shows(bucket: str, s3: str) -> None:
    import http.client

    connection = http.client.HTTPConnection(s3.removeprefix("http://"))
    connection.putrequest("PUT", f"/corpora/{bucket.rpartition('/')[2]}/cut")
    connection.putheader("Content-Length", "1000")
    connection.endheaders(b"only this")
    connection.close()
    time.sleep(0.5)

    assert not storage.exists(f"{bucket}/cut")


def test_what_is_missing_is_named(bucket: str) -> None:
    url = f"{bucket}/gone.jsonl"
    assert storage.stat(url) is None
    assert not storage.exists("s3://corpora")
    storage.remove(url)
    for read in (storage.open_read, storage.read_bytes, storage.local_path):
        with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read: there is no such object"):
            read(url)
    with pytest.raises(StoreError, match="there is no bucket 'no-such-bucket'"):
        put("s3://no-such-bucket/a")
    with pytest.raises(StoreError, match="no empty part"):
        storage.exists("s3://corpora/a/../b")


def test_an_object_that_changes_while_it_is_read_is_an_error(bucket: str) -> None:
    url = f"{bucket}/changing"
    put(url, b"a" * (5 * object_files.BLOCK_IN_BYTES))
    with storage.open_read(url) as file:
        file.read(10)
        put(url, b"b" * (5 * object_files.BLOCK_IN_BYTES))
        with pytest.raises(InputError, match="changed while it was read"):
            while file.read(2**20):
                pass


NAMES = (
    "b.gz", "a.gz", "10.gz", "9.gz", ".hid.gz", "x[1].gz", "with # and %20 space.gz", "one/c.gz",
    "one/two/d.gz",
)  # fmt: skip


@pytest.fixture
def tree(bucket: str) -> str:
    for name in NAMES:
        put(f"{bucket}/{name}")
    store, name = open_store(bucket)
    obstore.put(store, f"{name.key}/one/", b"")  # as a console makes a folder
    return bucket


def test_patterns_mean_what_they_mean_in_folders(tree: str, tmp_path: Path) -> None:
    for name in NAMES:
        put(str(tmp_path / "tree" / name))
    for pattern in (
        "*.gz", "**/[a-d].gz", "**/d.gz", "one/**", "**", "x[1].gz", "x[[]1].gz", "on*", "o?e/*",
        "nothing/*.gz", "[!a-z].gz", "*/*/d.gz", "**/two/*", "a.gz", "with # and %20 space.gz",
    ):  # fmt: skip
        local = storage.find_files(str(tmp_path / "tree" / pattern))
        found = storage.find_files(f"{tree}/{pattern}")
        assert [each.removeprefix(tree) for each in found] == [
            each.removeprefix(str(tmp_path / "tree")) for each in local
        ], pattern


@settings(deadline=None, max_examples=100)
@given(
    names=st.lists(st.sampled_from("ab"), min_size=1, max_size=4),
    parts=st.lists(st.sampled_from(["a", "b", "*", "**", "[ab]", "[!a]", "?"]), min_size=1, max_size=4),
)
def test_a_name_matches_in_a_store_if_and_only_if_it_does_in_a_folder(
    names: list[str], parts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    path = folder.joinpath(*names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()

    assert matches(names, parts) == bool(storage.find_files(str(folder.joinpath(*parts))))


def test_a_listing_of_more_than_a_thousand_objects_is_whole(bucket: str) -> None:
    store, name = open_store(bucket)
    for number in range(1005):
        obstore.put(store, f"{name.key}/many/{number:04d}", b"x")

    expected = [f"{number:04d}" for number in range(1005)]
    assert storage.list_folder(f"{bucket}/many") == expected
    assert storage.find_files(f"{bucket}/**") == [f"{bucket}/many/{each}" for each in expected]


def test_a_local_copy_is_made_once_and_anew_when_the_object_changed(bucket: str) -> None:
    url = f"{bucket}/rows.npy"
    put(url, b"one")
    first = storage.local_path(url)
    written = first.stat().st_ino
    assert storage.local_path(url).stat().st_ino == written
    put(url, b"two")
    second = storage.local_path(url)

    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    assert second.name == "rows.npy"


def test_copies_stay_within_their_limit_and_the_longest_unused_goes(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = []
    for number in range(3):
        put(f"{bucket}/{number}", bytes(1000))
        paths.append(storage.local_path(f"{bucket}/{number}"))
    long_ago = time.time() - 7200
    os.utime(paths[0], (long_ago, long_ago))
    os.utime(paths[1], (long_ago + 60, long_ago + 60))
    monkeypatch.setenv(copies.LIMIT_VARIABLE, "3500")
    put(f"{bucket}/3", bytes(1000))
    storage.local_path(f"{bucket}/3")

    assert [path.exists() for path in paths] == [False, True, True]
    assert storage.local_path(f"{bucket}/0").exists()
    assert [path.exists() for path in paths] == [True, False, True]


def _read_in_fork(url: str, results: object) -> None:
    with storage.open_read(url) as file:
        read = file.read()
    results.put((read, storage.exists(url), storage.list_folder(url.rpartition("/")[0])))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_worker_of_a_data_loader_reads_too(bucket: str) -> None:
    url = f"{bucket}/rows.npy"
    put(url, b"content")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    worker = context.Process(target=_read_in_fork, args=(url, results), daemon=True)
    worker.start()

    assert results.get(timeout=100) == (b"content", True, ["rows.npy"])
    worker.join()


def test_a_server_that_fails_on_every_second_request_changes_nothing(
    bucket: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_proxy(s3, every=2) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        content = os.urandom(40 * 2**20)
        put(f"{bucket}/large", content)
        with storage.open_read(f"{bucket}/large") as file:
            assert file.read() == content
        assert storage.find_files(f"{bucket}/*") == [f"{bucket}/large"]
        assert storage.local_path(f"{bucket}/large").read_bytes() == content
        assert proxy.num_failed >= 8


def test_refused_credentials_are_said_and_not_shown(
    bucket: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import http.server
    import threading

    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = (
                f"<Error><Code>AccessDenied</Code><Message>No.</Message><Key>{SECRET}</Key></Error>".encode()
            )
            self.send_response_only(403)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = http.server.HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    with pytest.raises(InputError) as caught:
        storage.read_bytes(f"{bucket}/a")
    server.shutdown()
    server.server_close()

    assert str(caught.value) == f"{bucket}/a: cannot be read: 403 Forbidden: AccessDenied: No."


def test_without_obstore_the_message_says_what_to_install(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(StoreError, match=r"pip install 'mixle_assets\[s3\]'"):
        storage.exists(f"{bucket}/a")


_HOLD = """
import sys
from mixle_assets import storage
with storage.hold_lease(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_holder(bucket: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lease on the bucket's folder."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, bucket], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    yield holder
    holder.kill()
    holder.wait()
    holder.stdout.close()
    holder.stdin.close()


def test_a_second_process_learns_who_holds_the_lease(
    bucket: str, other_holder: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(LeaseError) as caught, storage.hold_lease(bucket):
        raise AssertionError("two holders at once")
    facts = caught.value.message.split(": ", 1)[1].partition(" (if it is gone")[0]
    assert json.loads(facts)["pid"] == other_holder.pid
    other_holder.communicate()  # it ends when its input does
    with storage.hold_lease(bucket, wait_in_seconds=60), storage.hold_lease(bucket):
        assert storage.exists(f"{bucket}/.lease")
    assert not storage.exists(f"{bucket}/.lease")


def test_the_lease_of_a_killed_process_of_this_machine_is_free_at_once(
    bucket: str, other_holder: subprocess.Popen[bytes]
) -> None:
    other_holder.kill()
    other_holder.wait()

    with storage.hold_lease(bucket):
        pass


def test_the_lease_of_a_lost_machine_is_free_when_it_ends(bucket: str) -> None:
    facts = {"host": "elsewhere", "pid": 1, "token": "theirs", "of": {"boot": "other"}}
    put(f"{bucket}/.lease", json.dumps({**facts, "ends": time.time() - 30}).encode())
    with pytest.raises(LeaseError, match='"host":"elsewhere"'), storage.hold_lease(bucket):
        raise AssertionError("clocks may differ by that much")
    put(f"{bucket}/.lease", json.dumps({**facts, "ends": time.time() - 90}).encode())

    with storage.hold_lease(bucket):
        assert b"elsewhere" not in storage.read_bytes(f"{bucket}/.lease")


def test_a_lease_is_renewed_and_its_loss_is_noticed(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_lease, "RENEWED_EVERY_IN_SECONDS", 0.2)
    with pytest.raises(LeaseError, match="another build took it over"):
        with storage.hold_lease(bucket):
            first = json.loads(storage.read_bytes(f"{bucket}/.lease"))
            time.sleep(1)
            second = json.loads(storage.read_bytes(f"{bucket}/.lease"))
            assert second["ends"] > first["ends"]
            assert second["since"] == first["since"]
            put(f"{bucket}/.lease", b'{"token": "theirs"}')
            time.sleep(1)
    assert storage.read_bytes(f"{bucket}/.lease") == b'{"token": "theirs"}'


def test_places_in_a_store_are_relative_to_each_other() -> None:
    doc_arrays = "s3://b/x/doc_arrays/a.arrow"
    assert storage.relative(doc_arrays, "s3://b/x/packed_epoch/0000") == "../../doc_arrays/a.arrow"
    assert storage.resolve("../../doc_arrays/a.arrow", "s3://b/x/packed_epoch/0000") == doc_arrays
    assert storage.relative(doc_arrays, "s3://c/x") == doc_arrays
    assert storage.relative(doc_arrays, "/x") == doc_arrays
    assert storage.resolve(doc_arrays, "/x") == doc_arrays
    assert storage.absolute("s3://b/x/") == "s3://b/x"


def test_a_reader_of_a_store_is_a_file_to_arrow_and_numpy(bucket: str) -> None:
    content = io.BytesIO()
    np.save(content, np.arange(5))
    put(f"{bucket}/a.npy", content.getvalue())
    with storage.open_read(f"{bucket}/a.npy") as file:
        assert np.load(file).tolist() == [0, 1, 2, 3, 4]
