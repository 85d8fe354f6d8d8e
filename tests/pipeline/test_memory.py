"""Models that do not fit into the machine once for each worker are refused before any work begins."""

from pathlib import Path

import pytest

from mixle_assets.engine import ProcessEngine, SerialEngine
from mixle_assets.errors import RecipeError
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.load import load
from mixle_assets.pipeline.memory import _free_in_group as free_in_group
from mixle_assets.pipeline.memory import available_memory, require_memory
from mixle_assets.pipeline.work import Work

GB = 10**9


def work(**kept: int) -> Work:
    return Work("attributes", "s/0000", "1", print, None, (), kept_in_bytes=kept)


def test_copies_that_fit_are_let_through() -> None:
    require_memory([work(a=GB), work(a=GB)], ProcessEngine(2), available_in_bytes=2 * GB)
    require_memory([work(a=GB)] * 9, SerialEngine(), available_in_bytes=GB)
    require_memory([work()] * 9, ProcessEngine(8), available_in_bytes=0)


def test_copies_that_do_not_fit_are_refused_with_the_number_that_does() -> None:
    message = (
        r"keep 3\.0 GB in each of 4 workers \(most of it b\), 12\.0 GB together, and 7\.0 GB of memory are "
        "free; take 2 workers or fewer"
    )

    with pytest.raises(RecipeError, match=message):
        require_memory([work(a=GB), work(b=2 * GB)] * 2, ProcessEngine(4), available_in_bytes=7 * GB)


def test_one_copy_that_does_not_fit_is_said_to_be_too_large() -> None:
    with pytest.raises(RecipeError, match="not even one worker fits: take a smaller model"):
        require_memory([work(a=GB)], SerialEngine(), available_in_bytes=GB - 1)


def test_there_are_no_more_copies_than_pieces_of_work() -> None:
    require_memory([work(a=GB)], ProcessEngine(64), available_in_bytes=GB)


def test_this_machine_says_what_is_free() -> None:
    available = available_memory()

    assert available is not None
    assert 10**6 < available < 10**15


def test_in_a_control_group_cached_files_count_as_free(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 400\ninactive_file 200\nactive_file 100\n")

    assert free_in_group(tmp_path) == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert free_in_group(tmp_path) is None
    assert free_in_group(tmp_path / "none") is None


def test_a_build_whose_tagger_asks_for_more_than_there_is_stops_before_it_begins(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small.parent / "huge_tags.py").write_text(
        "class Huge:\n"
        '    """Says that it needs an exabyte."""\n'
        "    memory_in_bytes = 10**18\n"
        "    def __call__(self, document):\n"
        "        return {}\n"
    )
    monkeypatch.syspath_prepend(str(small.parent))
    small.write_text(
        small.read_text().replace(
            "{quality: [char_length_v1],", "{huge: [huge_tags.Huge], quality: [char_length_v1],"
        )
    )

    with pytest.raises(RecipeError, match=r"huge_tags\.Huge .*not even one worker fits"):
        build(load(small, str(small.parent / "corpora")), ProcessEngine(2))
    assert not list(small.parent.glob("corpora/**/attributes/**/*.jsonl.gz"))
