import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from mixle_assets import storage
from mixle_assets.errors import InputError, LeaseError, StoreError


def test_a_file_written_whole_replaces_the_earlier_one(tmp_path: Path) -> None:
    target = str(tmp_path / "deep" / "folder" / "shard.gz")
    for content in (b"first", b"second"):
        with storage.write_whole(target) as file:
            file.write(content)

    assert storage.read_bytes(target) == b"second"
    assert storage.list_folder(str(tmp_path / "deep" / "folder")) == ["shard.gz"]


def test_an_exception_while_writing_leaves_the_earlier_file_and_nothing_else(tmp_path: Path) -> None:
    target = str(tmp_path / "shard.gz")
    with storage.write_whole(target) as file:
        file.write(b"good")

    with pytest.raises(KeyboardInterrupt), storage.write_whole(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt

    assert storage.read_bytes(target) == b"good"
    assert os.listdir(tmp_path) == ["shard.gz"]


def test_a_full_disk_says_how_much_was_written_and_leaves_nothing(tmp_path: Path) -> None:
    target = str(tmp_path / "shard.gz")

    with pytest.raises(StoreError, match=r"the disk is full: 1,000 bytes .* bytes are free"):
        with storage.write_whole(target) as file:
            file.write(b"x" * 1000)
            file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

    assert os.listdir(tmp_path) == []


def test_partial_files_of_killed_writers_are_swept(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".shard.gz.77-0.partial").write_bytes(b"half")
    (tmp_path / "a" / "shard.gz").write_bytes(b"whole")

    assert storage.remove_partial_files(str(tmp_path)) == 1
    assert os.listdir(tmp_path / "a") == ["shard.gz"]


def test_a_missing_file_is_an_input_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read: No such file"):
        storage.open_read(str(tmp_path / "gone.jsonl"))


def test_a_url_of_an_unknown_store_is_refused_by_name() -> None:
    with pytest.raises(StoreError, match="ftp://host/file"):
        storage.exists("ftp://host/file")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.gz",
        "a.gz",
        "10.gz",
        "9.gz",
        ".hid.gz",
        "x[1].gz",
        "with # and space.gz",
        "one/c.gz",
        "one/two/d.gz",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def names(tree: Path, pattern: str) -> list[str]:
    return [os.path.relpath(path, tree) for path in storage.find_files(str(tree / pattern))]


def test_a_star_matches_one_level_in_order_hidden_names_included(tree: Path) -> None:
    assert names(tree, "*.gz") == [
        ".hid.gz", "10.gz", "9.gz", "a.gz", "b.gz", "with # and space.gz", "x[1].gz",
    ]  # fmt: skip


def test_two_stars_match_every_depth_this_level_included(tree: Path) -> None:
    assert names(tree, "**/[a-d].gz") == ["a.gz", "b.gz", "one/c.gz", "one/two/d.gz"]
    assert names(tree, "**/d.gz") == ["one/two/d.gz"]
    assert names(tree, "one/**") == ["one/c.gz", "one/two/d.gz"]


def test_a_literal_bracket_can_be_named_in_two_ways(tree: Path) -> None:
    assert names(tree, "x[1].gz") == ["x[1].gz"]
    assert names(tree, "x[[]1].gz") == ["x[1].gz"]


def test_folders_and_unmatched_patterns_give_nothing(tree: Path) -> None:
    assert names(tree, "on*") == []
    assert names(tree, "nothing/*.gz") == []
    assert names(tree, "[!a-z].gz") == ["9.gz"]


def _hold(folder: str, ready: object, stop: object) -> None:
    with storage.hold_lease(folder):
        ready.set()  # type: ignore[attr-defined]
        stop.wait(60)  # type: ignore[attr-defined]


def test_a_second_process_learns_who_holds_the_lease(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(str(tmp_path), ready, stop))
    holder.start()
    assert ready.wait(60)

    with pytest.raises(LeaseError) as caught, storage.hold_lease(str(tmp_path)):
        raise AssertionError("two holders at once")
    stop.set()
    holder.join()

    facts = json.loads(caught.value.message.split(": ", 1)[1])
    assert facts["pid"] == holder.pid
    with storage.hold_lease(str(tmp_path)):
        pass


def test_the_lease_is_given_back_only_by_the_last_holder_of_a_process(tmp_path: Path) -> None:
    with storage.hold_lease(str(tmp_path)):
        with storage.hold_lease(str(tmp_path)):
            pass
        ready = multiprocessing.get_context("spawn").Event()
        other = multiprocessing.get_context("spawn").Process(target=_hold, args=(str(tmp_path), ready, ready))
        other.start()
        other.join()
        assert other.exitcode == 1
        assert not ready.is_set()


def test_places_are_joined_by_single_slashes() -> None:
    assert storage.join("corpora", "x", "a.gz") == "corpora/x/a.gz"
    assert storage.join("/", "x") == "/x"
    assert storage.join("s3://bucket/", "x", "y/z") == "s3://bucket/x/y/z"
