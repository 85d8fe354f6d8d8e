"""Marking repeated paragraphs, beside ``dolma dedupe``: the runs, and the proof that both mark the same.

    python -m benchmarks.dedupe CORPUS --dolma PATH/TO/bin/dolma [--repeats 5] [--processes 1]

Each run is a process of its own, over the same files; runs alternate, so that a busy machine slows all of
them. What dolma marks is compared with what we mark before any figure is printed: the same paragraphs of
every document. Ends differ where dolma mixes bytes and characters (docs/reference/deduping.md).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

SET_NAME = "duplicates"
KEY = "bff_duplicate_paragraph_spans"

_STEP = (
    sys.executable,
    "-c",
    "import sys, pathlib, benchmarks.dedupe as d; getattr(d, sys.argv[1])(*map(pathlib.Path, sys.argv[2:]))",
)
"""Runs one function of this module in a process of its own: name, then folders."""


class Run(NamedTuple):
    """One finished process: CPU and wall seconds, peak memory in MB."""

    cpu: float
    wall: float
    peak: float


def mark_paragraphs(documents: Path, into: Path) -> None:
    """Run our three stages over all files of a folder, as one shard, in this process."""
    import gc

    from mixle_assets.deduping import (
        AttributeTask,
        HashedShard,
        HashTask,
        IndexTask,
        build_index,
        hash_shard,
        write_duplicate_attributes,
    )
    from mixle_assets.planning import PlannedFile
    from mixle_assets.recipe import Dedupe

    gc.freeze()  # as in the engine's workers
    gc.disable()
    # Dolma's defaults: blank lines are compared too.
    rules = Dedupe.model_validate({"paragraphs": {}, "skip_empty": False})
    files = tuple(
        PlannedFile(str(path), path.name, path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(documents.iterdir())
    )
    key, hashes, marks = "corpus/0000", str(into / "hashes.arrow"), str(into / "index.arrow")
    hash_shard(HashTask(key, files, rules, hashes))
    build_index(IndexTask((HashedShard(key, "corpus", rules, hashes, marks),)))
    outputs = {file.name: str(into / SET_NAME / file.name) for file in files}
    write_duplicate_attributes(AttributeTask(key, rules, hashes, marks, outputs, tuple(outputs)))


def read_texts_only(documents: Path) -> None:
    """Do what any deduper must do first: decompress and parse every document."""
    from mixle_assets.formats.documents import read_texts

    for path in sorted(documents.iterdir()):
        for _ in read_texts(str(path)):
            pass


def write_dolma_config(documents: Path, into: Path, processes: int) -> Path:
    """Lay out a folder for dolma, which writes attributes beside documents, and return its configuration."""
    (into / "corpus").mkdir(parents=True)
    (into / "corpus" / "documents").symlink_to(documents.resolve())
    config = into / "config.json"
    config.write_text(
        json.dumps(
            {
                "documents": [str(into / "corpus" / "documents" / "*")],
                "dedupe": {"name": SET_NAME, "paragraphs": {"attribute_name": KEY}},
                "bloom_filter": {
                    "file": str(into / "bloom.bin"),
                    "read_only": False,
                    "estimated_doc_count": 3_000_000,
                    "desired_false_positive_rate": 1e-6,
                },
                "processes": processes,
            }
        )
    )
    return config


def find_differences(documents: Path, ours: Path, theirs: Path) -> Iterator[str]:
    """Yield the documents in which the two mark different paragraphs."""
    for path in sorted(documents.iterdir()):
        rows = (_rows(folder / path.name) for folder in (documents, ours, theirs))
        for line, (document, mine, other) in enumerate(zip_longest(*rows, fillvalue={}), 1):
            where = f"{path.name}:{line}"
            if not document.get("id") == mine.get("id") == other.get("id"):
                yield f"{where}: ids {document.get('id')!r}, {mine.get('id')!r}, {other.get('id')!r}"
                continue
            text = document["text"]
            lengths = [len(piece) for piece in text.split("\n")]
            marked = [
                _numbers(row["attributes"].get(KEY, []), _spans(lengths, limit))
                for row, limit in ((mine, len(text)), (other, len(text.encode())))
            ]
            if marked[0] != marked[1]:
                yield f"{where}: paragraphs {marked[0]} by us, {marked[1]} by dolma"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from map(json.loads, file)


def _spans(lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Return all spans of a text by dolma's rule: a newline goes along where the end is below ``limit`` - 1.

    With the length in characters that is our rule, with the length in bytes dolma's.
    """
    spans, start = [], 0
    for length in lengths:
        end = start + length
        end += end < limit - 1
        spans.append([start, end])
        start = end
    return spans


def _numbers(marked: Sequence[Sequence[float]], spans: Sequence[Sequence[int]]) -> list[int]:
    """Return which of all spans are marked; -1 for one that is none of them."""
    numbers, at = [], 0
    for start, end, _ in marked:
        while at < len(spans) and spans[at] != [start, end]:
            at += 1
        numbers.append(at if at < len(spans) else -1)
        at += 1
    return numbers


def measure(command: Sequence[str]) -> Run:
    """Run a command to its end and return what it cost.

    Raises:
        RuntimeError: It failed.
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            log.seek(0)
            raise RuntimeError(f"{command} failed: {log.read().decode()[-2000:]}")
    return Run(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)


def main(argv: list[str] | None = None) -> None:
    """Run, compare, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", type=Path, help="folder with documents/*.gz")
    parser.add_argument("--dolma", type=Path, required=True, help="the peer's program")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--processes", type=int, default=1, help="of dolma; with more its marks are not exact"
    )
    arguments = parser.parse_args(argv)
    documents = arguments.corpus / "documents"
    runs: dict[str, list[Run]] = {"mixle_assets": [], "dolma": [], "reading alone": []}
    for number in range(arguments.repeats):
        with tempfile.TemporaryDirectory() as name:
            ours, theirs = Path(name, "ours"), Path(name, "dolma")
            ours.mkdir()
            config = write_dolma_config(documents, theirs, arguments.processes)
            runs["mixle_assets"].append(measure([*_STEP, "mark_paragraphs", str(documents), str(ours)]))
            runs["dolma"].append(measure([str(arguments.dolma), "-c", str(config), "dedupe"]))
            runs["reading alone"].append(measure([*_STEP, "read_texts_only", str(documents)]))
            if number == 0 and arguments.processes == 1:
                attributes = theirs / "corpus" / "attributes" / SET_NAME
                differences = list(find_differences(documents, ours / SET_NAME, attributes))
                if differences:
                    raise SystemExit("\n".join(["the marks differ:", *differences[:20]]))
                print("both mark the same paragraphs in every document")
    for name, finished in runs.items():
        cpu = [run.cpu for run in finished]
        wall, peak = (
            statistics.median(values) for values in zip(*[run[1:] for run in finished], strict=True)
        )
        print(f"{name:14} CPU {statistics.median(cpu):6.2f} s ({min(cpu):.2f}-{max(cpu):.2f})", end="  ")
        print(f"wall {wall:6.2f} s  peak {peak:4.0f} MB")
    ratios = [theirs.cpu / ours.cpu for ours, theirs in zip(runs["mixle_assets"], runs["dolma"], strict=True)]
    print(f"dolma / mixle_assets {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")


if __name__ == "__main__":
    main()
