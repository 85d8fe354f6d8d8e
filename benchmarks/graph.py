"""What Dagster costs beside the work: loading definitions, recording a range, its share of a build.

    python -m benchmarks graph definitions --work FOLDER [--shards 10000]
    python -m benchmarks graph range --work FOLDER [--shards 2000]
    python -m benchmarks graph share --work FOLDER [--shards 400]
    python -m benchmarks graph share --work FOLDER --shards 3 --megabytes 64

Every run is a process of its own. What a build with Dagster wrote is compared with what one without it wrote,
digest by digest, before any figure is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Contender, Usage, interleave, run, table

RECIPE = """\
name: many
streams:
  - name: prose
    documents: [{documents}/*.jsonl.gz]
    taggers: {{quality: [gopher_v1]}}
    dedupe: {{documents: {{}}}}
    filter:
      exclude:
        - $.attributes[?(@.quality__gopher_v1__word_count[0][2] < 5)]
        - $.attributes[?(@.bff_duplicate_docs[0][2] >= 1)]
    output: {{max_size_in_bytes: 1}}
tokenizer: {{bytes: true}}
packing: {{block: 256, batch_size: 8, seed: 1}}
execution: {{engine: {engine}}}
"""
STAGES = ("attributes", "content_hashes", "duplicate_attributes", "mixed_shards", "doc_arrays")
FEW = 20  # shards of the small build, whose cost is taken off that of the large one

_DEFINITIONS = """
import sys
from mixle_assets.defs.location import location_definitions
location_definitions([sys.argv[1]], sys.argv[2]).resolve_implicit_global_asset_job_def()
"""
_PLAN = """
import sys
from mixle_assets.pipeline.inputs import freeze_plan
from mixle_assets.pipeline.load import load
freeze_plan(load(sys.argv[1], sys.argv[2]))
"""


def measure_definitions(work: Path, num_shards: int, repetitions: int) -> None:
    """Print what it takes to load the definitions of a recipe of many shards, beside Dagster's own import."""
    recipe = _make_recipe(work / f"definitions-{num_shards}", num_shards, engine="serial")
    root = recipe.parent / "root"
    log = work / "definitions.log"
    run(_python(_PLAN, recipe, root), log)
    usages = interleave(
        {
            "import dagster": _python("import dagster"),
            f"definitions of {num_shards:,} shards": _python(_DEFINITIONS, recipe, root),
        },
        repetitions,
        log,
    )
    _print(f"definitions of {num_shards:,} shards", usages)


def measure_range(work: Path, num_shards: int, repetitions: int) -> None:
    """Print what a range over many shards takes as the UI's daemon starts it: one run, all stages, recorded.

    Raises:
        SystemExit: Not every partition was recorded.
    """
    recipe = _make_recipe(work / f"range-{num_shards}", num_shards, engine="processes")
    root, home = recipe.parent / "root", recipe.parent / "root" / ".dagster"
    log = work / "range.log"
    keys = [f"prose/{number:04d}" for number in range(num_shards)]
    names = [*STAGES, "duplicate_index"]
    environment = {"MIXLE_RECIPES": str(recipe), "MIXLE_ROOT": str(root), "DAGSTER_HOME": str(home)}
    command = [
        *("env", *(f"{name}={value}" for name, value in environment.items())),
        *(sys.executable, "-m", "dagster", "asset", "materialize", "-m", "mixle_assets.definitions"),
        *("--select", ",".join(f"many/{name}" for name in names)),
        *("--partition-range", f"{keys[0]}...{keys[-1]}"),
    ]

    def prepare() -> None:
        shutil.rmtree(root, ignore_errors=True)
        run(_python(_PLAN, recipe, root), log)
        run(_python(f"from mixle_assets.defs.home import *; prepare_home({str(root)!r})"), log)

    usages = interleave({"range": Contender(command, prepare)}, repetitions, log)
    count = f"""
import dagster as dg
with dg.DagsterInstance.from_config({str(home)!r}) as instance:
    for name in {STAGES!r}:
        found = instance.get_materialized_partitions(dg.AssetKey(["many", name]))
        assert len(found) == {num_shards}, (name, len(found))
"""
    run(_python(count), log)
    print(f"all {num_shards:,} partitions of {len(STAGES)} assets are recorded")
    _print(f"one run over {num_shards:,} partitions of {len(STAGES)} assets, with their checks", usages)


def measure_share(work: Path, num_shards: int, megabytes: float, repetitions: int) -> None:
    """Print what a build takes with Dagster beyond one without, in all, and for each shard and stage.

    Raises:
        SystemExit: The two wrote different things.
    """
    sizes = [FEW, num_shards] if num_shards > FEW else [num_shards]
    more: dict[int, list[tuple[float, float]]] = {}
    for number in sizes:
        recipe = _make_recipe(work / f"share-{number}-{megabytes:g}", number, megabytes=megabytes)
        contenders = {
            name: _build(recipe, recipe.parent / name, *options)
            for name, options in (("plain", ["--plain"]), ("dagster", []))
        }
        log = recipe.parent / "log"
        log.unlink(missing_ok=True)
        usages = interleave(contenders, repetitions, log)
        _require_equal(log)
        _print(f"{number:,} shards of {megabytes:g} MB", usages)
        more[number] = [
            (with_.wall - without.wall, with_.cpu - without.cpu)
            for with_, without in zip(usages["dagster"], usages["plain"], strict=True)
        ]
        for place, what in ((0, "wall"), (1, "CPU")):
            of = [one.wall if place == 0 else one.cpu for one in usages["dagster"]]
            share = statistics.median(
                difference[place] / whole for difference, whole in zip(more[number], of, strict=True)
            )
            difference = statistics.median(one[place] for one in more[number])
            print(f"- Dagster's share of the {what} time: {share:.1%} ({difference:.2f} s)")
    if len(sizes) == 2:
        steps = (num_shards - FEW) * len(STAGES)
        for place, what in ((0, "wall"), (1, "CPU")):
            each = [
                (large[place] - small[place]) / steps * 1000
                for small, large in zip(more[FEW], more[num_shards], strict=True)
            ]
            print(
                f"- for each further shard and stage, {what}: {statistics.median(each):.1f} ms "
                f"({min(each):.1f} to {max(each):.1f}, n={len(each)})"
            )


def _build(recipe: Path, root: Path, *options: str) -> Contender:
    command = [sys.executable, "-m", "mixle_assets", "build", str(recipe), "--root", str(root), "--json"]
    environment = ["env", "-u", "DAGSTER_HOME"]
    return Contender([*environment, *command, *options], partial(shutil.rmtree, root, ignore_errors=True))


def _require_equal(log: Path) -> None:
    """Raise if the builds in a log did not all write the same."""
    digests = [
        {stage["name"]: (stage["digest"], stage["num_built"]) for stage in report["stages"]}
        for report in _reports(log.read_text())
    ]
    if len(digests) < 2 or any(one != digests[0] for one in digests):
        raise SystemExit(f"the builds differ, no figure is printed: {digests}")
    print(f"{len(digests)} builds, with Dagster and without, have equal digests in {len(digests[0])} stages")


def _reports(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON that the builds printed among other lines."""
    decoder = json.JSONDecoder()
    place = text.find("{\n")
    while place >= 0:
        report, end = decoder.raw_decode(text, place)
        yield report
        place = text.find("{\n", end)


def _make_recipe(folder: Path, num_shards: int, *, engine: str = "serial", megabytes: float = 0.001) -> Path:
    """Write a recipe over documents of random words, one file a shard, and return its path."""
    documents = folder / "documents"
    if not documents.exists():
        documents.mkdir(parents=True)
        words = random.Random(0)  # noqa: S311 - reproducible text, no secret
        known = ["".join(words.choices("etaoinshrdlu", k=words.randint(2, 9))) for _ in range(5000)]
        for number in range(num_shards):
            rows: list[str] = []
            size = 0
            while size < megabytes * 1e6:
                text = " ".join(words.choices(known, k=words.randint(20, 400)))
                rows.append(json.dumps({"id": f"{number}-{len(rows)}", "text": text}))
                size += len(text)
            content = gzip.compress("".join(f"{row}\n" for row in rows).encode(), 1, mtime=0)
            (documents / f"{number:05d}.jsonl.gz").write_bytes(content)
    recipe = folder / "many.yaml"
    recipe.write_text(RECIPE.format(documents=documents.resolve(), engine=engine))
    return recipe.resolve()


def _python(code: str, *arguments: Path) -> Contender:
    return Contender([sys.executable, "-c", code, *map(str, arguments)])


def _print(title: str, usages: dict[str, list[Usage]]) -> None:
    print(f"\n### {title}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores\n\n{table(usages)}\n")


def main(arguments: Sequence[str]) -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks graph",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("definitions", "range", "share"))
    parser.add_argument("--work", type=Path, required=True, help="folder for documents and outputs")
    parser.add_argument("--shards", type=int, help="default: 10,000, 2,000 or 400")
    parser.add_argument("--megabytes", type=float, default=0.001, help="text of one shard, for share")
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args(arguments)
    given.work.mkdir(parents=True, exist_ok=True)
    measures: dict[str, Callable[[], None]] = {
        "definitions": lambda: measure_definitions(given.work, given.shards or 10_000, given.repetitions),
        "range": lambda: measure_range(given.work, given.shards or 2_000, given.repetitions),
        "share": lambda: measure_share(given.work, given.shards or 400, given.megabytes, given.repetitions),
    }
    measures[given.what]()
