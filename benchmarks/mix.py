"""``mix`` against ``dolma mix``, and the limit: to unpack all inputs and pack the kept bytes again."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from benchmarks.attributes import SETS, make_attributes
from benchmarks.measure import Contender, interleave, ratio, table
from benchmarks.peers import PINS, peer_program
from benchmarks.recipes import FORMS, write_config
from mixle_assets.formats.codecs import read_chunks

_ROOT = Path(__file__).parent.parent


def compare_mix(
    corpus: Path, work: Path, cache: Path, *, forms: list[str], peers: list[str], repetitions: int, codec: str
) -> None:
    """Time all forms; print a table and ratios for each, after the outputs were found equal.

    Raises:
        SystemExit: The outputs differ: then no ratio means anything.
    """
    make_attributes(corpus, cache)
    work.mkdir(parents=True, exist_ok=True)
    for form in forms:
        folders = {name: work / f"{form}-{name}" for name in ("ours", *peers)}
        contenders = {
            name: _contender(name, form, corpus, folder, cache, codec if name == "ours" else "gz")
            for name, folder in folders.items()
        }
        log = work / f"{form}.log"
        log.unlink(missing_ok=True)
        first = interleave(contenders, 1, log)  # warms the inputs, and gives the outputs to compare
        for peer in peers:
            number, differing = _compare(folders["ours"], folders[peer])
            print(
                f"{form}: {number:,} documents of ours and {peer} have equal ids, texts and fields, but for"
            )
            print(f"{differing:,} texts with overlapping spans")
        ours = _stored(folders["ours"])
        contenders["limit"] = _limit(corpus, folders["ours"], work / f"{form}-limit", codec)
        usages = interleave(contenders, repetitions, log)
        print(f"\n### {form}, {time.strftime('%Y-%m-%d')}\n\n{table(usages)}\n")
        for peer in peers:
            theirs = _stored(folders[peer])
            print(f"- {peer} / ours, CPU: {ratio(usages[peer], usages['ours'])}")
            print(f"- stored size, ours / {peer}: {ours / theirs:.4f} ({ours:,} and {theirs:,} bytes)")
        print(f"- limit / ours, CPU: {ratio(usages['limit'], usages['ours'])}")
        print(f"- peak memory of the first run: {first['ours'][0].peak / 1e6:.0f} MB")
    print(f"\n{_versions(peers)}")


def _contender(name: str, form: str, corpus: Path, folder: Path, cache: Path, codec: str) -> Contender:
    config = folder.with_suffix(".json")
    write_config(form, corpus, folder, config, codec=codec)
    command = (
        [sys.executable, "-m", "mixle_assets", "mix", str(config), "--workers", "1"]
        if name == "ours"
        else [peer_program(name, cache), "-c", str(config), "mix"]
    )
    return Contender(command, partial(_remove, folder, folder.with_suffix(".work")), _ROOT)


def _limit(corpus: Path, ours: Path, folder: Path, codec: str) -> Contender:
    """Lay the kept bytes out uncompressed, off the clock, for ``benchmarks.limit`` to pack."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in _shards(ours):
        (folder / path.name).with_suffix(".plain").write_bytes(_rows(path))
    inputs = [corpus / "documents", *(corpus / "attributes" / name for name in SETS)]
    return Contender(
        [sys.executable, "-m", "benchmarks", "limit", str(folder), codec, *map(str, inputs)],
        folder=_ROOT,
    )


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _rows(shard: Path) -> bytes:
    return b"".join(read_chunks(str(shard)))


def _shards(folder: Path) -> list[Path]:
    """The shards in order; Dolma calls the last one .json.gz."""
    paths = [path for path in folder.glob("c4-*") if path.suffix in (".gz", ".zst")]
    return sorted(paths, key=lambda path: path.name.split(".")[0])


def _stored(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("c4-*") if "manifest" not in path.name)


def _compare(ours: Path, theirs: Path) -> tuple[int, int]:
    """Return how many documents there are, and how many texts differ because spans overlapped in them.

    There Dolma leaves the tail of the second span; our manifests say how many spans were clipped or
    swallowed, and no more texts than that may differ.
    """
    number = differing = 0
    for mine, other in zip(_shards(ours), _shards(theirs), strict=True):
        rows = zip(
            _rows(mine).split(b"\n"),
            _rows(other).split(b"\n"),
            strict=True,
        )
        may_differ = _num_overlapping(mine)
        for line, (my_row, other_row) in enumerate(rows, 1):
            if not my_row and not other_row:
                continue
            number += 1
            my_document, other_document = _comparable(my_row), _comparable(other_row)
            if my_document != other_document:
                may_differ -= 1
                differing += 1
                if may_differ < 0 or my_document["id"] != other_document["id"]:
                    raise SystemExit(f"{mine}:{line} and {other}:{line} differ; no ratio is printed")
    return number, differing


def _num_overlapping(shard: Path) -> int:
    [manifest] = shard.parent.glob(f"{shard.name.partition('.')[0]}*.manifest.json")
    spans = orjson.loads(manifest.read_bytes())["details"]["spans"]
    return int(spans["num_clipped"]) + int(spans["num_swallowed"])


def _comparable(line: bytes) -> Any:
    row = orjson.loads(line)
    row["metadata"] = {**row["metadata"], "provenance": row["metadata"]["provenance"].rpartition("/")[2]}
    return row


def _versions(peers: list[str]) -> str:
    ours = ("mixle_assets", "orjson", "msgspec", "isal", "deflate", "zstandard", "jq")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ours]
    return ", ".join(
        [f"Python {platform.python_version()}", *versions, *(pin for peer in peers for pin in PINS[peer])]
    )


def main(arguments: list[str]) -> None:
    """Compare from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mix", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="made by: python -m benchmarks corpus")
    parser.add_argument("--work", type=Path, required=True, help="folder for outputs")
    parser.add_argument("--cache", type=Path, required=True, help="where the peers' environments are kept")
    parser.add_argument("--peer", action="append", choices=sorted(PINS), default=[])
    parser.add_argument("--form", action="append", choices=FORMS, default=[])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--codec", choices=("gz", "zst"), default="gz", help="of our output; peers write gz")
    given = parser.parse_args(arguments)
    compare_mix(
        given.corpus,
        given.work,
        given.cache,
        forms=given.form or list(FORMS),
        peers=given.peer,
        repetitions=given.repetitions,
        codec=given.codec,
    )
