"""Work on a Ray cluster: the same content, and a dead worker or node costs its item only."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ray_cluster import Node, run_cluster

from mixle_assets.engine import open_engine
from mixle_assets.errors import RecipeError
from mixle_assets.recipe import load_recipe

RECIPE = """\
name: many
streams:
  - name: prose
    documents: [documents/*.jsonl.gz]
    taggers: {quality: [slow_tagger.slow, gopher_v1]}
    dedupe: {documents: {}}
    filter:
      exclude: ["$.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]"]
    output: {max_size_in_bytes: 1}
tokenizer: {bytes: true}
packing: {block: 64, batch_size: 4, seed: 1}
execution: {engine: <engine>}
"""

# A module of the user's own, found on every node by PYTHONPATH.
SLOW_TAGGER = '''\
import sys
import time
from pathlib import Path


def slow(document):
    """Say which node this is, and take a moment, so that the node can die in it."""
    if "ray" in sys.modules:
        Path(__file__).with_name(sys.modules["ray"].util.get_node_ip_address()).touch()
    time.sleep(0.05)
    return {"length": [[0, len(document.text), 1.0]]}
'''


@pytest.fixture(scope="module")
def users_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("user")
    (folder / "slow_tagger.py").write_text(SLOW_TAGGER)
    for file in range(8):
        rows = [{"id": f"{file}-{n}", "text": f"Document {n % 7} of file {n * file % 5}."} for n in range(20)]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path = folder / "documents" / f"{file}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content, mtime=0))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{Path(__file__).parent}"
    yield folder
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def cluster(users_folder: Path) -> Iterator[tuple[str, Node]]:
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        with run_cluster(Path(folder)) as (address, second):
            yield address, second


def start(engine: str, users_folder: Path, root: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    recipe = users_folder / f"{engine}.yaml"
    recipe.write_text(RECIPE.replace("<engine>", engine))
    arguments = ["build", str(recipe), "--root", str(root), "--plain", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "mixle_assets", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def digests_of(process: subprocess.Popen[str]) -> dict[str, str]:
    said, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return {stage["name"]: stage["digest"] for stage in json.loads(said)["stages"]}


def test_errors_come_back_whole_and_a_dead_worker_is_tried_again(
    cluster: tuple[str, Node], tmp_path: Path
) -> None:
    address, _ = cluster
    script = Path(__file__).parent / "cluster_items.py"
    program = "import cluster_items; cluster_items.main()"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, address, str(tmp_path / "seen")],
        capture_output=True,
        text=True,
        check=False,
        cwd=script.parent,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert lines[:4] == [
        "0 (0, '1') NoneType None",
        "1 (1, '1') NoneType None",
        "2 (4, '1') NoneType None",
        "3 None InputError a.jsonl:7: bad row",
    ]
    assert lines[4].startswith("4 None ShardError the worker process or its node died (WorkerCrashedError")
    assert lines[5] == "5 (25, '1') NoneType None"
    assert last == "done"


def test_a_killed_node_costs_only_its_items_and_changes_no_digest(
    cluster: tuple[str, Node], users_folder: Path, tmp_path: Path
) -> None:
    address, second = cluster  # which loses its second node here, so this is the last test that uses it
    serial = digests_of(start("serial", users_folder, tmp_path / "serial", {}))

    process = start("ray", users_folder, tmp_path / "ray", {"RAY_ADDRESS": address})
    while not (users_folder / "127.0.0.3").exists():
        assert process.poll() is None
        time.sleep(0.05)
    second.kill()

    assert digests_of(process) == serial
    assert len(list((tmp_path / "ray" / "many" / "mixed_shards").glob("*.gz"))) == 8


def test_an_address_without_a_cluster_is_refused_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(RecipeError, match=r"no Ray cluster can be reached at '127\.0\.0\.1:9': .*refused"):
        list(open_engine("ray", ray_address="127.0.0.1:9").run(abs, [1]))
    assert time.monotonic() - started < 60


def test_without_ray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RecipeError, match=r"pip install 'mixle_assets\[ray\]'"):
        list(open_engine("ray").run(abs, [1]))


def test_the_recipe_names_the_cluster(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "streams: [{name: a, documents: [x]}]\nexecution: {engine: ray, ray_address: 'head:6379'}\n"
    )

    assert load_recipe(path).execution.ray_address == "head:6379"
