from pathlib import Path

from mixle_assets.pipeline.space import find_lack_of_space
from mixle_assets.pipeline.work import Output, Work


def write_nothing(task: object) -> None:
    raise AssertionError("only looked at")


def mixing(folder: Path, name: str) -> Work:
    output = Output("", name, str(folder / "new" / name), "f")
    return Work("mixed_shards", name, "1", write_nothing, None, (output,))


def test_a_disk_that_may_be_too_small_is_named_before_work_begins(tmp_path: Path) -> None:
    works = [mixing(tmp_path, "s-0000.jsonl.gz"), mixing(tmp_path, "s-0001.jsonl.gz")]
    assert find_lack_of_space(works, [10, 10]) == []

    (warning,) = find_lack_of_space(works, [10**17, 10**17])
    assert warning.startswith(f"{tmp_path}: up to 200,000,000,000,000,000 bytes will be written, ")
    assert warning.endswith(" are free")
