"""The pool of all steps: where an instance allows one at a time, runs and recipes take turns."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_graph import write_documents

from mixle_assets.defs.assets import POOL
from mixle_assets.defs.event_log import open_instance
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import load

RECIPE = """\
name: {name}
streams:
  - name: prose
    documents: [documents/*.jsonl.gz]
    taggers: {{quality: [{{tagger: timed_tagger.work, marks: '{marks}'}}]}}
execution: {{engine: serial}}
"""
RUN = """
import sys
import dagster as dg
from mixle_assets.defs.event_log import open_instance
from mixle_assets.defs.location import location_definitions
recipe, root, home, name = sys.argv[1:]
job = location_definitions([recipe], root).resolve_implicit_global_asset_job_def()
with open_instance(home) as instance:
    print("ready", flush=True)
    sys.stdin.readline()
    assert job.execute_in_process(
        instance=instance, asset_selection=[dg.AssetKey([name, "attributes"])], partition_key="prose/0000"
    ).success
"""


@pytest.mark.slow
def test_two_runs_take_their_turn_where_the_pool_has_one_place(tmp_path: Path) -> None:
    write_documents(tmp_path / "documents" / "0.jsonl.gz", [{"id": "a", "text": "A text."}])
    home, root, marks = tmp_path / "home", str(tmp_path / "corpora"), tmp_path / "marks"
    home.mkdir()
    with open_instance(str(home)) as instance:
        instance.event_log_storage.set_concurrency_slots(POOL, 1)
    runs = []
    for name in ("one", "two"):
        recipe = tmp_path / f"{name}.yaml"
        recipe.write_text(RECIPE.format(name=name, marks=marks))
        freeze_plan(load(recipe, root))
        runs.append(
            subprocess.Popen(
                [sys.executable, "-c", RUN, str(recipe), root, str(home), name],
                env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    first, second = runs
    go(first)
    deadline = time.monotonic() + 60
    while not marks.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    go(second)
    for run in runs:
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors

    assert marks.read_text().split() == ["begins", "ends", "begins", "ends"]


def go(run: subprocess.Popen[str]) -> None:
    assert run.stdin is not None
    run.stdin.write("go\n")
    run.stdin.flush()
