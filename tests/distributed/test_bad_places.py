"""Places that cannot be reached or may not be entered: one clear message, soon, and nothing is left."""

import gzip
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import command_line
import dagster as dg
import object_store
import pytest
from object_store import SECRET, free_port

from mixle_assets.defs.location import location_definitions
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import load

RECIPE = """\
name: small
streams:
  - name: prose
    documents: ["<place>/documents/*.jsonl.gz"]
    taggers: {quality: [char_length_v1]}
execution: {<execution>}
"""


def write_recipe(folder: Path, *, place: str = "", execution: str = "engine: serial") -> Path:
    """Write a recipe with one document, beside it unless it is said to lie elsewhere."""
    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    content = json.dumps({"id": "a", "text": "A text."}).encode() + b"\n"
    (documents / "0.jsonl.gz").write_bytes(gzip.compress(content, mtime=0))
    path = folder / "small.yaml"
    path.write_text(RECIPE.replace("<place>", place or str(folder)).replace("<execution>", execution))
    return path


def run(*arguments: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    started = time.monotonic()
    own = {name: value for name, value in environment.items() if name != "DAGSTER_HOME"}
    done = command_line.run(*arguments, cwd=folder, environment=own)
    assert time.monotonic() - started < 60
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def written(folder: Path) -> list[str]:
    """Return what is left in a folder, but for the recipe, its document and Dagster's own records."""
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    own = ("small.yaml", "documents/0.jsonl.gz", "corpora/small/.lease")
    return [name for name in files if name not in own and ".dagster/" not in name]


@pytest.fixture
def nobody(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody whose endpoint does not answer."""
    return object_store.environment(f"http://127.0.0.1:{free_port()}", tmp_path / "cache")


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a server that checks credentials, and knows none."""
    with object_store.run_moto(tmp_path_factory.mktemp("moto") / "log", knows_nobody=True) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    "arguments",
    [["build", "--plain"], ["build"], ["plan"], ["status"], ["check"], ["verify"], ["report"]],
    ids=" ".join,
)
def test_an_endpoint_that_does_not_answer_is_named_with_its_bucket(
    arguments: list[str], nobody: dict[str, str], tmp_path: Path
) -> None:
    write_recipe(tmp_path)
    command, *options = arguments

    done = run(
        command, "small.yaml", "--root", "s3://corpora/x", *options, folder=tmp_path, environment=nobody
    )

    assert done.returncode == 1
    endpoint = nobody["AWS_ENDPOINT_URL"]
    assert f"error: s3://corpora: no object store can be reached at {endpoint}: " in done.stderr
    assert "Connection refused" in done.stderr
    assert written(tmp_path) == []


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_documents_behind_such_an_endpoint_leave_no_plan_and_no_output(
    options: list[str], nobody: dict[str, str], tmp_path: Path
) -> None:
    write_recipe(tmp_path, place="s3://corpora/web")

    done = run("build", "small.yaml", *options, folder=tmp_path, environment=nobody)

    assert done.returncode == 1
    assert f"s3://corpora: no object store can be reached at {nobody['AWS_ENDPOINT_URL']}" in done.stderr
    assert written(tmp_path) == []


def test_an_endpoint_that_never_answers_is_given_up_within_a_minute(
    nobody: dict[str, str], tmp_path: Path
) -> None:
    write_recipe(tmp_path)
    with socket.socket() as silent:  # takes the connection, and says nothing; closed ones are tried again
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        silent.settimeout(0)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        waiting = [socket.create_connection(silent.getsockname()) for _ in range(1)]  # its queue is full
        nobody["AWS_ENDPOINT_URL"] = address

        done = run(
            "build", "small.yaml", "--plain", "--root", "s3://corpora/x", folder=tmp_path, environment=nobody
        )
        for one in waiting:
            one.close()

    assert done.returncode == 1
    assert f"no object store can be reached at {address}: timed out" in done.stderr


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_wrong_credentials_are_refused_and_not_shown(
    options: list[str], refusing: str, tmp_path: Path
) -> None:
    write_recipe(tmp_path)
    environment = object_store.environment(refusing, tmp_path / "cache")

    done = run(
        "build", "small.yaml", "--root", "s3://corpora/x", *options, folder=tmp_path, environment=environment
    )

    assert done.returncode == 1
    assert "s3://corpora/x/small" in done.stderr
    assert "403 Forbidden" in done.stderr
    assert written(tmp_path) == []


def test_a_bucket_that_is_not_there_is_named(bucket: str, tmp_path: Path) -> None:
    del bucket
    write_recipe(tmp_path)
    done = run(
        "build", "small.yaml", "--root", "s3://nowhere/x", folder=tmp_path, environment=dict(os.environ)
    )
    assert done.returncode == 1
    assert "there is no bucket 'nowhere'" in done.stderr

    write_recipe(tmp_path, place="s3://nowhere/web")
    done = run("build", "small.yaml", "--plain", folder=tmp_path, environment=dict(os.environ))
    assert done.returncode == 1
    assert "error: s3://nowhere/web/documents: cannot be read: 404 Not Found: NoSuchBucket" in done.stderr
    assert written(tmp_path) == []


def test_the_ui_shows_what_is_wrong_with_the_place_of_each_recipe(
    nobody: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in nobody.items():
        monkeypatch.setenv(name, value)
    recipe = write_recipe(tmp_path)

    started = time.monotonic()
    definitions = location_definitions([str(recipe)], "s3://corpora/x")

    assert time.monotonic() - started < 30
    (spec,) = definitions.resolve_all_asset_specs()
    assert spec.key.path == ["small", "recipe"]
    assert f"no object store can be reached at {nobody['AWS_ENDPOINT_URL']}" in (spec.description or "")
    assert SECRET not in (spec.description or "")


def test_a_run_of_the_ui_whose_store_went_away_says_so(
    bucket: str, nobody: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = write_recipe(tmp_path)
    freeze_plan(load(recipe, bucket))
    definitions = location_definitions([str(recipe)], bucket)
    monkeypatch.setenv("AWS_ENDPOINT_URL", nobody["AWS_ENDPOINT_URL"])

    message = failure_of(definitions, tmp_path)

    assert f"s3://corpora: no object store can be reached at {nobody['AWS_ENDPOINT_URL']}" in message
    assert SECRET not in message


@pytest.mark.parametrize("options", [["--plain"], []], ids=["plain", "recorded"])
def test_a_ray_cluster_that_does_not_answer_is_the_calls_fault(options: list[str], tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    write_recipe(tmp_path, execution=f"engine: ray, ray_address: '{address}'")

    done = run("build", "small.yaml", *options, folder=tmp_path, environment=dict(os.environ))

    assert done.returncode == 2
    assert f"execution.ray_address: no Ray cluster can be reached at '{address}'" in done.stderr
    assert written(tmp_path) == ["corpora/small/plan.json"]  # whole, and right


def test_a_run_of_the_ui_without_its_ray_cluster_says_so(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    recipe = write_recipe(tmp_path, execution=f"engine: ray, ray_address: '{address}'")
    root = str(tmp_path / "corpora")
    freeze_plan(load(recipe, root))

    message = failure_of(location_definitions([str(recipe)], root), tmp_path)

    assert f"no Ray cluster can be reached at '{address}'" in message
    assert not (tmp_path / "corpora" / "small" / "attributes").exists()


def failure_of(definitions: dg.Definitions, folder: Path) -> str:
    """Run the first asset over its one partition, as the UI does, and return how the step says it failed."""
    with dg.DagsterInstance.ephemeral(tempdir=str(folder)) as instance:
        result = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey(["small", "attributes"])],
            partition_key="prose/0000",
            raise_on_error=False,
        )
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert not [event for event in result.all_events if event.event_type_value == "STEP_UP_FOR_RETRY"]
    return str(failure.step_failure_data.error)
