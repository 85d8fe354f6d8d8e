"""Resume, on the smallest stage there can be: it copies a file in upper case."""

import dataclasses
import os
from pathlib import Path

import pytest

from mixle_assets import storage
from mixle_assets.errors import InputError, ShardError
from mixle_assets.manifest import hash_bytes
from mixle_assets.pipeline.work import (
    Output,
    Work,
    do_work,
    find_pending,
    find_reason_to_build,
    read_manifest,
)
from mixle_assets.records import Counts, Written


def shout(task: tuple[str, str]) -> Written:
    source, target = task
    rows = storage.read_bytes(source).upper()
    with storage.write_whole(target) as file:
        file.write(rows)
    number = rows.count(b"\n")
    return Written(hash_bytes(rows), hash_bytes(rows), len(rows), Counts(num_in=number, num_out=number))


def shout_wanted(tasks: dict[str, tuple[str, str]], wanted: tuple[str, ...]) -> dict[str, Written]:
    return {name: shout(tasks[name]) for name in wanted}


def lose_one(task: tuple[str, str]) -> Written:
    written = shout(task)
    written.counts.num_in += 1
    return written


@pytest.fixture
def work(tmp_path: Path) -> Work:
    source, target = str(tmp_path / "in.txt"), str(tmp_path / "out.txt")
    Path(source).write_text("a\nb\n")
    output = Output(
        "", "s/0000", target, fingerprint="f1", inputs={"rules": "d1"}, files={"documents/in.txt": source}
    )
    return Work("shouting", "s/0000", "1", shout, (source, target), (output,))


def reason(work: Work) -> str | None:
    return find_reason_to_build(work.outputs[0], work.code_version)


def changed(work: Work, **facts: object) -> Work:
    return dataclasses.replace(work, outputs=(dataclasses.replace(work.outputs[0], **facts),))


def test_what_was_built_is_current_and_its_manifest_says_from_what(work: Work) -> None:
    assert reason(work) == "not built"
    (manifest,) = do_work(work)

    assert reason(work) is None
    assert find_pending(work) == ()
    assert read_manifest(work.outputs[0].path) == manifest
    assert manifest.inputs["rules"].digest == "d1"
    assert manifest.inputs["documents/in.txt"].digest == hash_bytes(b"a\nb\n")
    assert (manifest.counts.num_in, manifest.counts.num_out) == (2, 2)


def test_each_thing_that_decides_content_is_a_reason_to_build_again(work: Work) -> None:
    do_work(work)

    assert reason(changed(work, fingerprint="f2")) == "the recipe changed"
    assert reason(changed(work, inputs={"rules": "d2"})) == "rules changed"
    assert reason(changed(work, inputs={})) == "other inputs: rules"
    assert reason(dataclasses.replace(work, code_version="2")) == "the code changed: version 1 to 2"


def test_an_external_file_counts_by_content_not_by_time(work: Work) -> None:
    do_work(work)
    source = Path(work.outputs[0].files["documents/in.txt"])

    os.utime(source, ns=(1, 1))
    assert reason(work) is None
    source.write_text("a\nc\n")
    assert reason(work) == "documents/in.txt changed"
    source.unlink()
    assert reason(work) == "documents/in.txt changed"


def test_a_stored_file_that_is_gone_or_cut_is_built_again(work: Work) -> None:
    do_work(work)
    target = Path(work.outputs[0].path)

    target.write_text("A\n")
    assert reason(work) == f"{target} has 2 bytes instead of 4"
    target.unlink()
    assert reason(work) == f"{target} is gone"


def test_a_damaged_manifest_is_as_good_as_none(work: Work) -> None:
    do_work(work)
    manifest = Path(work.outputs[0].path + ".manifest.json")
    manifest.write_bytes(manifest.read_bytes()[:100])

    assert reason(work) == "not built"


def test_the_content_digest_knows_no_place_and_no_time(work: Work, tmp_path: Path) -> None:
    (first,) = do_work(work)
    target = str(tmp_path / "elsewhere" / "out.txt")
    (second,) = do_work(dataclasses.replace(changed(work, path=target), task=(work.task[0], target)))

    assert first.content_digest == second.content_digest


def test_a_failed_rebuild_leaves_no_manifest_that_vouches_for_the_old_file(work: Work) -> None:
    do_work(work)
    Path(work.task[0]).unlink()

    with pytest.raises(InputError, match=r"in\.txt: cannot be read") as caught:
        do_work(work)

    assert caught.value.__notes__ == ["while building shouting s/0000"]
    assert read_manifest(work.outputs[0].path) is None


def test_records_that_are_unaccounted_for_are_an_error(work: Work) -> None:
    with pytest.raises(ShardError, match="3 records in, 2 out, 0 dropped: 1 are unaccounted for"):
        do_work(dataclasses.replace(work, function=lose_one))

    assert read_manifest(work.outputs[0].path) is None


def test_of_several_outputs_only_the_pending_are_built_unless_they_belong_together(
    work: Work, tmp_path: Path
) -> None:
    tasks = {name: (work.task[0], str(tmp_path / name)) for name in ("a", "b")}
    outputs = tuple(
        dataclasses.replace(work.outputs[0], name=name, path=path) for name, (_, path) in tasks.items()
    )
    several = dataclasses.replace(work, function=shout_wanted, task=tasks, outputs=outputs, chooses=True)
    do_work(several)
    (tmp_path / "b").unlink()

    assert [output.name for output in find_pending(several)] == ["b"]
    assert [output.name for output in find_pending(dataclasses.replace(several, together=True))] == ["a", "b"]
