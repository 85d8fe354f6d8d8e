"""A resume in an object store: its questions go side by side, and give the answers of one after the other."""

import gzip
import json
import threading
import time
from pathlib import Path

import pytest
from object_store import failing_proxy

from mixle_assets import storage
from mixle_assets.engine import SerialEngine
from mixle_assets.errors import InputError
from mixle_assets.pipeline import asking
from mixle_assets.pipeline.asking import ask_all
from mixle_assets.pipeline.build import build
from mixle_assets.pipeline.load import LoadedRecipe, load
from mixle_assets.pipeline.status import find_status

RECIPE = """\
name: many
streams:
  - name: prose
    documents: [documents/*.jsonl.gz]
    taggers: {quality: [char_length_v1]}
    output: {max_size_in_bytes: 1}
"""
NUM_SHARDS = 24
DELAY_IN_SECONDS = 0.05


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    for number in range(NUM_SHARDS):
        path = tmp_path / "documents" / f"{number:04d}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps({"id": str(number), "text": "A text."}).encode(), mtime=0))
    (tmp_path / "many.yaml").write_text(RECIPE)
    return tmp_path / "many.yaml"


def resume(recipe: Path, root: str) -> tuple[int, int, list[list[str]]]:
    """Build again and return how much was built, how much was left, and the partitions in their order."""
    report = build(load(recipe, root), SerialEngine())
    assert report.failed == {}
    return report.num_built, report.num_current, [list(outcome.finished) for outcome in report.outcomes]


def test_a_resume_does_not_wait_for_each_request_in_turn(
    bucket: str, recipe: Path, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(load(recipe, bucket), SerialEngine())
    with failing_proxy(s3, delay_in_seconds=DELAY_IN_SECONDS) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        started = time.monotonic()
        num_built, num_current, partitions = resume(recipe, bucket)
        seconds = time.monotonic() - started
        num_requests = proxy.num_requests

    assert (num_built, num_current) == (0, 2 * NUM_SHARDS)
    assert partitions == [[f"prose/{number:04d}" for number in range(NUM_SHARDS)]] * 2
    # A manifest and a size of every output, and each set of attributes once more as an input.
    assert num_requests >= 5 * NUM_SHARDS
    assert seconds < num_requests * DELAY_IN_SECONDS / 2


def test_what_is_missing_and_damaged_is_found_in_the_order_of_the_plan(bucket: str, recipe: Path) -> None:
    loaded = load(recipe, bucket)
    build(loaded, SerialEngine())
    storage.remove(f"{loaded.layout.folder}/mixed_shards/prose-0017.jsonl.gz.manifest.json")
    with storage.write_whole(f"{loaded.layout.folder}/mixed_shards/prose-0003.jsonl.gz") as file:
        file.write(b"damaged")

    (_, mixed) = find_status(load(recipe, bucket))
    assert mixed.missing == {"prose/0017": "not built"}
    assert [key for key, reason in mixed.stale.items() if "has 7 bytes instead of" in reason] == [
        "prose/0003"
    ]
    assert mixed.current == [f"prose/{n:04d}" for n in range(NUM_SHARDS) if n not in (3, 17)]
    assert resume(recipe, bucket)[:2] == (2, 2 * NUM_SHARDS - 2)


@pytest.fixture
def remote(recipe: Path) -> LoadedRecipe:
    """A recipe whose root is in a store that nobody asks here."""
    return load(recipe, "s3://corpora/never-asked")


def test_answers_come_in_the_order_of_the_items_and_many_at_once(remote: LoadedRecipe) -> None:
    all_are_waiting = threading.Barrier(asking.AT_ONCE)

    def ask(item: int) -> int:
        all_are_waiting.wait(timeout=60)  # passes only if so many ask at one time
        time.sleep(0.001 * (item % 7))
        return item * item

    items = range(2 * asking.AT_ONCE)
    assert list(ask_all(remote, ask, items)) == [item * item for item in items]


def test_the_first_error_in_the_order_of_the_items_is_raised_and_the_rest_is_not_asked(
    remote: LoadedRecipe,
) -> None:
    asked = []

    def ask(item: int) -> int:
        asked.append(item)
        if item in (3, 5):
            time.sleep(0.2 if item == 3 else 0)
            raise InputError(f"item {item}")
        time.sleep(0.01)
        return item

    answers = ask_all(remote, ask, range(10_000))
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="item 3"):
        next(answers)
    assert len(asked) < 10_000


def test_on_a_disk_one_is_asked_after_the_other(recipe: Path, tmp_path: Path) -> None:
    threads = ask_all(load(recipe, str(tmp_path / "root")), lambda _: threading.get_ident(), range(3))

    assert set(threads) == {threading.get_ident()}
