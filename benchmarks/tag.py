"""Tagging beside ``dolma tag``, one process each: the runs, after every value was found equal.

    python -m benchmarks tag --corpus CORPUS --work WORK --cache CACHE [--tagger gopher_v1] [--repetitions 3]

The *limit* starts, reads and parses the same documents with our readers, and measures and writes nothing.
``CORPUS/documents`` holds JSON Lines files, as ``python -m benchmarks corpus`` makes them. Dolma's
``repetitions_v1`` takes minutes for a megabyte, so that one runs on the first documents alone.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import importlib.metadata
import itertools
import platform
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import orjson

from benchmarks.measure import Contender, interleave, ratio, table
from benchmarks.peers import PINS, peer_program

EXPERIMENT = "bench"
TAGGERS = ("gopher_v1", "pii_regex_with_counts_fast_v2", "repetitions_v1")
SLOW = {"repetitions_v1": 2_000_000}
"""Text to run on, in bytes, where the peer is too slow for the corpus."""


def tag(documents: Path, into: Path, tagger: str) -> None:
    """Run one of our taggers over all files of a folder in this process."""
    from mixle_assets.recipe import TaggerUse
    from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file

    gc.freeze()  # as in the engine's workers
    gc.disable()
    for path in sorted(documents.iterdir()):
        sets = (TaggerSet(EXPERIMENT, (TaggerUse(tagger=tagger),), str(into / path.name)),)
        tag_file(TagTask(str(path), path.name, "bench", sets))


def read_only(documents: Path) -> None:
    """Read and parse all files of a folder, with what a worker imports: no tagger of ours can be below."""
    from mixle_assets.formats.documents import read_texts
    from mixle_assets.tagging import tagger

    del tagger  # imported for its cost
    gc.freeze()
    gc.disable()
    for path in sorted(documents.iterdir()):
        for _ in read_texts(str(path)):
            pass


def compare_tagging(corpus: Path, work: Path, cache: Path, taggers: list[str], repetitions: int) -> None:
    """Time ours and Dolma's; print a table and the ratio for each tagger.

    Raises:
        SystemExit: A value differs: then no ratio means anything.
    """
    dolma = peer_program("dolma", cache)
    for tagger in taggers:
        documents = corpus / "documents"
        if tagger in SLOW:
            documents = _first_documents(documents, work / f"{tagger}-input" / "documents", SLOW[tagger])
        ours, theirs = work / f"{tagger}-ours", work / f"{tagger}-dolma"
        options = [
            "--experiment",
            EXPERIMENT,
            "--destination",
            str(theirs),
            "--processes",
            "1",
            "--ignore_existing",
        ]
        contenders = {
            "ours": Contender(
                [sys.executable, "-m", "benchmarks", "tag", "--run", tagger, str(documents), str(ours)],
                partial(shutil.rmtree, ours, ignore_errors=True),
                Path(__file__).parent.parent,
            ),
            "dolma": Contender(
                [dolma, "tag", "--documents", f"{documents}/*", "--taggers", tagger, *options],
                partial(shutil.rmtree, theirs, ignore_errors=True),
            ),
        }
        contenders["limit"] = Contender(
            [sys.executable, "-m", "benchmarks", "tag", "--read-only", str(documents)],
            folder=Path(__file__).parent.parent,
        )
        log = work / f"{tagger}.log"
        interleave(contenders, 1, log)  # warms inputs and compiled kernels, and gives what is compared
        print(f"{tagger}: {_compare(ours, theirs):,} rows of ours and Dolma's are equal")
        usages = interleave(contenders, repetitions, log)
        print(f"\n### {tagger}, {time.strftime('%Y-%m-%d')}\n\n{table(usages)}\n")
        print(f"- dolma / ours, CPU: {ratio(usages['dolma'], usages['ours'])}")
        print(f"- dolma / limit, CPU: {ratio(usages['dolma'], usages['limit'])}\n")
    ours_versions = ("mixle_assets", "numpy", "numba", "google-re2", "msgspec", "orjson", "isal", "deflate")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ours_versions]
    print(", ".join([f"Python {platform.python_version()}", *versions, PINS["dolma"]]))


def _first_documents(documents: Path, into: Path, size_in_bytes: int) -> Path:
    """Write the first documents of a corpus, up to some bytes of rows, as a corpus of their own."""
    into.mkdir(parents=True, exist_ok=True)
    rows: list[bytes] = []
    with gzip.open(min(documents.iterdir())) as file:
        for row in file:
            size_in_bytes -= len(row)
            if size_in_bytes < 0:
                break
            rows.append(row)
    (into / "000.jsonl.gz").write_bytes(gzip.compress(b"".join(rows), mtime=0))
    return into


def _compare(ours: Path, theirs: Path) -> int:
    """Return how many rows there are, once every one was found equal: id, source, keys and values."""
    number = 0
    for path in sorted(ours.iterdir()):
        with gzip.open(path) as mine, gzip.open(theirs / path.name) as other:
            for line, (my_row, other_row) in enumerate(
                itertools.zip_longest(mine, other, fillvalue=b"null"), 1
            ):
                if my_row != other_row and orjson.loads(my_row) != orjson.loads(other_row):
                    raise SystemExit(f"{path}:{line} differs from Dolma's; no ratio is printed")
                number += 1
    return number


def main(arguments: list[str]) -> None:
    """Compare from the command line."""
    if arguments[:1] == ["--run"]:
        tag(Path(arguments[2]), Path(arguments[3]), arguments[1])
        return
    if arguments[:1] == ["--read-only"]:
        read_only(Path(arguments[1]))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks tag", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="made by: python -m benchmarks corpus")
    parser.add_argument("--work", type=Path, required=True, help="folder for outputs")
    parser.add_argument("--cache", type=Path, required=True, help="where the peers' environments are kept")
    parser.add_argument("--tagger", action="append", choices=TAGGERS, default=[])
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args(arguments)
    given.work.mkdir(parents=True, exist_ok=True)
    compare_tagging(given.corpus, given.work, given.cache, given.tagger or list(TAGGERS), given.repetitions)
