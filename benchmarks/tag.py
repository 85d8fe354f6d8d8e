"""Tagging beside ``dolma tag``, one process each: the runs, after every value was found equal.

    python -m benchmarks tag --corpus CORPUS --work WORK --cache CACHE [--tagger gopher_v1]
        [--tokenizer FILE] [--repetitions 3]

The *limit* starts, reads and parses the same documents with our readers, and measures and writes nothing. The
*floor* also writes a row for each, of the shape of a document in which the tagger of PII finds nothing.
``CORPUS/documents`` holds JSON Lines files, as ``python -m benchmarks corpus`` makes them. Where Dolma takes
minutes for some megabytes, the first documents alone are run on. ``tokenizer_repetitions_v2r2`` needs
``--tokenizer FILE``, a ``tokenizer.json``, which both then use.
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
WITH_TOKENIZER = "tokenizer_repetitions_v2r2"
TAGGERS = ("gopher_v1", "pii_regex_with_counts_fast_v2", "repetitions_v1", WITH_TOKENIZER)
SLOW = {"repetitions_v1": 2_000_000, WITH_TOKENIZER: 30_000_000}
"""Rows to run on, in bytes, where the peer is too slow for the corpus."""


def tag(documents: Path, into: Path, tagger: str, tokenizer: str) -> None:
    """Run one of our taggers over all files of a folder in this process."""
    from mixle_assets.recipe import TaggerUse
    from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file

    gc.freeze()  # as in the engine's workers
    gc.disable()
    for path in sorted(documents.iterdir()):
        use = TaggerUse.model_validate({"tagger": tagger, **({"tokenizer": tokenizer} if tokenizer else {})})
        sets = (TaggerSet(EXPERIMENT, (use,), str(into / path.name)),)
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


def read_and_write(documents: Path, into: Path) -> None:
    """Read as ``read_only`` does, and write a row for each document without looking at it."""
    from mixle_assets.formats.codecs import write_shard
    from mixle_assets.formats.documents import read_texts
    from mixle_assets.tagging import tagger

    del tagger
    gc.freeze()
    gc.disable()
    key = f"{EXPERIMENT}__pii_regex_with_counts_fast_v2__doc_"
    spans = f'"{key}count":[[0,%d,0.0]],"{key}frac":[[0,%d,1.0]]'
    row = f'{{"id":"%s","attributes":{{{spans}}},"source":"%s"}}\n'
    for path in sorted(documents.iterdir()):
        with write_shard(str(into / path.name), "gz") as writer:
            for _, block in read_texts(str(path)).blocks():
                rows = [
                    row % (document.id, len(document.text), len(document.text), document.source)
                    for _, document in block
                ]
                writer.write("".join(rows).encode())


def compare_tagging(
    corpus: Path, work: Path, cache: Path, taggers: list[str], repetitions: int, tokenizer: Path | None
) -> None:
    """Time ours and Dolma's; print a table and the ratio for each tagger.

    Every process runs with one thread, as the engine starts its workers.

    Raises:
        SystemExit: A value differs: then no ratio means anything.
    """
    from mixle_assets.engine.processes import ONE_THREAD_EACH

    dolma = peer_program("dolma", cache)
    for tagger in taggers:
        documents = corpus / "documents"
        if tagger in SLOW:
            documents = _first_documents(documents, work / f"{tagger}-input" / "documents", SLOW[tagger])
        ours, theirs, floor = (work / f"{tagger}-{name}" for name in ("ours", "dolma", "floor"))
        given = str(tokenizer) if tagger == WITH_TOKENIZER else ""
        options = [
            "--experiment",
            EXPERIMENT,
            "--destination",
            str(theirs),
            "--processes",
            "1",
            "--ignore_existing",
        ]
        if given:
            # By itself: Dolma imports from its folder, where a module is named as one of Python's own.
            module = work / "modules" / "dolma_tokenizer.py"
            module.parent.mkdir(exist_ok=True)
            shutil.copyfile(Path(__file__).with_name(module.name), module)
            options += ["--tagger_modules", str(module)]
        ours_run = [sys.executable, "-m", "benchmarks", "tag"]
        folder = Path(__file__).parent.parent
        contenders = {
            "ours": Contender(
                [*ours_run, "--run", tagger, str(documents), str(ours), given],
                partial(shutil.rmtree, ours, ignore_errors=True),
                folder,
                ONE_THREAD_EACH,
            ),
            "dolma": Contender(
                [dolma, "tag", "--documents", f"{documents}/*", "--taggers", tagger, *options],
                partial(shutil.rmtree, theirs, ignore_errors=True),
                environment=ONE_THREAD_EACH | {"DOLMA_TOKENIZER": given},
            ),
            "limit": Contender(
                [*ours_run, "--read-only", str(documents)], folder=folder, environment=ONE_THREAD_EACH
            ),
            "floor": Contender(
                [*ours_run, "--read-write", str(documents), str(floor)],
                partial(shutil.rmtree, floor, ignore_errors=True),
                folder,
                ONE_THREAD_EACH,
            ),
        }
        log = work / f"{tagger}.log"
        interleave(contenders, 1, log)  # warms inputs and compiled kernels, and gives what is compared
        print(f"{tagger}: {_compare(ours, theirs):,} rows of ours and Dolma's are equal")
        usages = interleave(contenders, repetitions, log)
        print(f"\n### {tagger}, {time.strftime('%Y-%m-%d')}\n\n{table(usages)}\n")
        print(f"- dolma / ours, CPU: {ratio(usages['dolma'], usages['ours'])}")
        print(f"- dolma / limit, CPU: {ratio(usages['dolma'], usages['limit'])}")
        print(f"- dolma / floor, CPU: {ratio(usages['dolma'], usages['floor'])}\n")
    ours_versions = ("mixle_assets", "numpy", "numba", "google-re2", "msgspec", "orjson", "isal", "deflate")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ours_versions]
    print(", ".join([f"Python {platform.python_version()}", *versions, *PINS["dolma"]]))


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
        tag(Path(arguments[2]), Path(arguments[3]), arguments[1], arguments[4])
        return
    if arguments[:1] == ["--read-only"]:
        read_only(Path(arguments[1]))
        return
    if arguments[:1] == ["--read-write"]:
        read_and_write(Path(arguments[1]), Path(arguments[2]))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks tag", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="made by: python -m benchmarks corpus")
    parser.add_argument("--work", type=Path, required=True, help="folder for outputs")
    parser.add_argument("--cache", type=Path, required=True, help="where the peers' environments are kept")
    parser.add_argument("--tagger", action="append", choices=TAGGERS, default=[])
    parser.add_argument("--tokenizer", type=Path, help=f"tokenizer.json for {WITH_TOKENIZER}")
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args(arguments)
    given.work.mkdir(parents=True, exist_ok=True)
    taggers = given.tagger or [name for name in TAGGERS if given.tokenizer or name != WITH_TOKENIZER]
    if WITH_TOKENIZER in taggers and given.tokenizer is None:
        parser.error(f"{WITH_TOKENIZER} needs --tokenizer")
    compare_tagging(given.corpus, given.work, given.cache, taggers, given.repetitions, given.tokenizer)
