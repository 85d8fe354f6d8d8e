"""Reading packed rows back, beside mosaicml-streaming's own parser: ``python -m benchmarks pack_readers``.

The same rows are stored as an epoch of ours and, by ``export_rows``, as MDS shards. All batches are compared
first, then read in turns. The parser is theirs, from the wheel on PyPI; its parent packages are empty
stand-ins, since they want torch and torchvision, of which parsing uses nothing. Its index, shuffle and
threads are left out, so it is timed at its best; batches are int64 on both sides, as a trainer wants them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PEER = "mosaicml-streaming==0.13.0"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mixle_assets_bench" / "readers"
BOUNDARY = 65_000


def main(argv: list[str] | None = None) -> int:
    """Run the comparison and print it."""
    print(json.dumps(compare(argument_parser().parse_args(argv)), indent=1))
    return 0


def argument_parser() -> argparse.ArgumentParser:
    """Return what can be set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pack_readers", description=__doc__)
    parser.add_argument("--tokens", type=int, default=10_000_000, help="tokens of all documents")
    parser.add_argument("--block", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    return parser


def defaults(**values: Any) -> argparse.Namespace:
    """Return the arguments of a run from elsewhere."""
    return argument_parser().parse_args([], argparse.Namespace(**values))


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    """Store the rows twice, compare all batches, and time both readers in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reader = store_rows(folder, arguments)
        shards = open_mds(folder / "mds")
        order = np.random.default_rng(0).permutation(reader.num_rows(0)).tolist()

        def ours() -> Iterator[Any]:
            return reader.epoch_batches(0)

        def theirs() -> Iterator[Any]:
            return mds_batches(shards, range(len(order)), arguments.batch_size)

        num_batches = 0
        for one, other in zip(ours(), theirs(), strict=True):
            if not all(np.array_equal(left, right) for left, right in zip(one, other, strict=True)):
                raise SystemExit(f"batch {num_batches} differs")
            num_batches += 1
        steps = [step % num_batches for step in order[:num_batches]]

        def ours_at_random() -> Iterator[Any]:
            return (reader.batch(0, step) for step in steps)

        def theirs_at_random() -> Iterator[Any]:
            size = arguments.batch_size
            for step in steps:
                rows = range(step * size, min((step + 1) * size, len(order)))
                yield from mds_batches(shards, rows, size)

        readers = {
            "ours": ours,
            "mds": theirs,
            "ours, random batches": ours_at_random,
            "mds, random batches": theirs_at_random,
        }
        seconds: dict[str, list[float]] = {one: [] for one in readers}
        for _ in range(arguments.repeats):
            for one, batches in readers.items():
                seconds[one].append(cpu_of(batches))
    median = {one: statistics.median(times) for one, times in seconds.items()}
    cells = len(order) * (arguments.block + 1)
    return {
        "peer": PEER,
        "batches compared": num_batches,
        "Mtok/s": {one: round(cells / taken / 1e6, 1) for one, taken in median.items()},
        "times mds": round(median["mds"] / median["ours"], 1),
        "times mds, random batches": round(median["mds, random batches"] / median["ours, random batches"], 1),
        "load": round(os.getloadavg()[0], 1),
    }


def cpu_of(batches: Callable[[], Iterator[Any]]) -> float:
    """Return the CPU seconds of reading all batches."""
    begin = time.process_time()
    for _ in batches():
        pass
    return time.process_time() - begin


def store_rows(folder: Path, arguments: argparse.Namespace) -> Any:
    """Pack an epoch, export its rows to MDS, and return our reader of it."""
    from mixle_assets.exporting import export_rows
    from mixle_assets.formats.doc_arrays import write_doc_arrays
    from mixle_assets.formats.doc_batches import DocBatch
    from mixle_assets.packing.corpus import load_corpus
    from mixle_assets.packing.epoch import PackStream, PackTask, pack_epoch
    from mixle_assets.packing.streaming import StreamingCorpus
    from mixle_assets.recipe.models import Packing

    generator = np.random.default_rng(0)
    lengths = generator.lognormal(np.log(400) - 0.32, 0.8, arguments.tokens // 400).astype(np.int64)
    documents = DocBatch(
        ids=[str(number) for number in range(len(lengths))],
        provenances=[f"prose/0000.jsonl.gz:{number + 1}" for number in range(len(lengths))],
        values=generator.integers(0, 60_000, int(lengths.sum())),
        lengths=lengths,
    )
    path = str(folder / "doc_arrays" / "prose.arrow")
    metadata = {
        "tokenizer_hash": "",
        "boundary_id": BOUNDARY,
        "bos_id": None,
        "vocabulary_size": BOUNDARY + 1,
    }
    write_doc_arrays(path, [documents], dtype="uint16", metadata=metadata)
    packing = Packing(block=arguments.block, batch_size=arguments.batch_size)
    output = str(folder / "packed_epoch" / "0000")
    pack_epoch(PackTask(0, packing, BOUNDARY, 0, "uint16", (PackStream("prose", (path,)),), output))
    reader = StreamingCorpus(load_corpus(output), rank=0)
    stored = np.load(Path(output) / "rank-00000-of-00001.npy", mmap_mode="r")
    masks = np.concatenate([batch.loss_mask for batch in reader.epoch_batches(0)])
    export_rows([(stored, masks)], str(folder / "mds"), "mds")
    return reader


def open_mds(path: Path) -> list[Any]:
    """Open the shards with the peer's ``MDSReader``."""
    if not (CACHE / "streaming").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--quiet",
            "--dest",
            str(CACHE),
            PEER,
        ]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(CACHE.glob("mosaicml_streaming-*.whl"))) as wheel:
            wheel.extractall(CACHE, [name for name in wheel.namelist() if name.startswith("streaming/")])
    parents = ["streaming", "streaming.base", "streaming.base.format"]
    for name in [*parents, "streaming.base.format.mds", "streaming.base.format.base"]:
        parent = types.ModuleType(name)
        parent.__path__ = [str(CACHE / Path(*name.split(".")))]
        sys.modules[name] = parent
    surroundings: Any = types.ModuleType("streaming.base.util")
    surroundings.bytes_to_int = int
    sys.modules["streaming.base.util"] = surroundings
    reader = importlib.import_module("streaming.base.format.mds.reader").MDSReader
    shards = json.loads((path / "index.json").read_text())["shards"]
    return [reader.from_json(str(path), "", shard) for shard in shards]


def mds_batches(shards: list[Any], rows: range, batch_size: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield batches of the peer's samples, stacked and widened as a collate function does."""
    starts = np.cumsum([0, *(shard.samples for shard in shards)])
    for at in range(rows.start, rows.stop, batch_size):
        samples = []
        for row in range(at, min(at + batch_size, rows.stop)):
            shard = int(np.searchsorted(starts, row, side="right")) - 1
            samples.append(shards[shard].get_item(row - int(starts[shard])))
        tokens = np.stack([sample["input_ids"] for sample in samples]).astype(np.int64)
        masks = np.stack([sample["loss_mask"] for sample in samples]).astype(np.bool_)
        yield tokens[:, :-1], tokens[:, 1:], masks


if __name__ == "__main__":
    raise SystemExit(main())
