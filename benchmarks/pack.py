"""Packing against mixle and against memcpy: ``python -m benchmarks pack``.

Documents of lognormal length, token ids of 16 bits, all in memory on both sides. First the rows are compared,
by digest; then each contender runs in a process of its own, in turns, so that a busy machine is busy for all.
What is timed is CPU, user and system, from the ordered documents to the last row; loading and the order are
shown apart. Last, stored rows are read beside mosaicml-streaming (``pack_readers``). mixle 0.8.2 lives in a
virtual environment of its own below a cache folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

CHILD = Path(__file__).with_name("pack_child.py")
PEER = "mixle==0.8.2"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mixle_assets_bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--tokens", type=int, default=200_000_000, help="tokens of all documents")
    parser.add_argument("--means", type=int, nargs="+", default=[100, 800], help="tokens a document")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--block", type=int, default=1024)
    parser.add_argument("--peer", choices=["mixle", "none"], default="mixle")
    parser.add_argument("--documents", type=int, default=10_000_000, help="for random rows")
    parser.add_argument("--plan-documents", type=int, default=100_000_000, help="for the memory of a plan")
    parser.add_argument("--json", type=Path, help="write the figures here")


def main(argv: list[str] | None = None) -> int:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pack", description=__doc__)
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    peer = peer_python() if arguments.peer == "mixle" else None
    figures: dict[str, Any] = {"versions": versions(peer)}
    print(json.dumps(figures["versions"], indent=1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for mean in arguments.means:
            make_documents(folder, arguments.tokens, mean)
            figures[f"{mean} tokens a document"] = compare(folder, arguments, peer)
        figures["random row"] = random_rows(folder, arguments)
        figures["plan"] = plan_memory(folder, arguments)
    if peer:
        figures["reading"] = read_beside_mds(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def peer_python() -> Path:
    """Return the interpreter of mixle's environment, made on first use."""
    folder = CACHE / PEER.replace("==", "-")
    python = folder / "bin" / "python"
    if not python.exists():
        uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
        # Its streaming module needs numpy alone; the package's other dependencies are left out.
        packages = ["--no-deps", PEER, f"numpy=={np.__version__}"]
        subprocess.run([uv, "pip", "install", "-q", "--python", str(python), *packages], check=True)
    return python


def versions(peer: Path | None) -> dict[str, str]:
    """Return what is compared on what."""
    import numba
    import pyarrow

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pyarrow.__version__,
        "numba": numba.__version__,
        "peer": PEER if peer else "none",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
    }


def make_documents(folder: Path, num_tokens: int, mean: int) -> None:
    """Write documents of lognormal length with about so many tokens in all."""
    generator = np.random.default_rng(0)
    lengths = generator.lognormal(np.log(mean) - 0.32, 0.8, num_tokens // mean).astype(np.int64)
    np.save(folder / "lengths.npy", lengths)
    np.save(folder / "tokens.npy", generator.integers(0, 60_000, int(lengths.sum()), dtype=np.uint16))


def compare(folder: Path, arguments: argparse.Namespace, peer: Path | None) -> dict[str, Any]:
    """Compare the rows, then time all contenders in turns."""
    own = Path(sys.executable)
    contenders = {"numba": own, "arrow": own, "memcpy": own} | ({"mixle": peer} if peer else {})
    digests = {
        name: run(python, folder, name, arguments.block, digest=True)["digest"]
        for name, python in contenders.items()
        if name != "memcpy"
    }
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the rows differ: {digests}")
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
    for _ in range(arguments.repeats):
        for name, python in contenders.items():
            runs[name].append(run(python, folder, name, arguments.block))
    figures = {
        name: {
            "Mtok/s": summary([one["tokens"] / one["pack"] / 1e6 for one in several]),
            "order and plan, s": summary([one["order"] for one in several]),
            "whole process CPU, s": summary([one["cpu"] for one in several]),
            "peak memory, MB": summary([one["peak"] / 1e6 for one in several]),
        }
        for name, several in runs.items()
    }
    speed = {name: values["Mtok/s"]["median"] for name, values in figures.items()}
    for name in ("numba", "arrow"):
        figures[name]["of memcpy"] = round(speed[name] / speed["memcpy"], 3)
        if peer:
            figures[name]["times mixle"] = round(speed[name] / speed["mixle"], 1)
    print(json.dumps(figures, indent=1))
    return figures


def random_rows(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Time single rows at random places of a large plan."""
    generator = np.random.default_rng(0)
    lengths = generator.lognormal(np.log(100) - 0.32, 0.8, arguments.documents).astype(np.int64)
    np.save(folder / "lengths.npy", lengths)
    found = {
        kernel: run(Path(sys.executable), folder, f"rows-{kernel}", arguments.block)["microseconds"]
        for kernel in ("numba", "numpy")
    }
    print(json.dumps({"documents": arguments.documents, "microseconds a random row": found}))
    return found


def plan_memory(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the peak memory of planning an epoch."""
    generator = np.random.default_rng(0)
    np.save(folder / "lengths.npy", generator.integers(20, 400, arguments.plan_documents))
    one = run(Path(sys.executable), folder, "plan", arguments.block)
    found = {
        "documents": arguments.plan_documents,
        "peak, GiB": round(one["peak"] / 2**30, 2),
        "seconds": one["order"],
    }
    print(json.dumps(found))
    return found


def read_beside_mds(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read stored rows beside mosaicml-streaming's parser, see ``pack_readers``."""
    from benchmarks import pack_readers

    found = pack_readers.compare(pack_readers.defaults(block=arguments.block, repeats=arguments.repeats))
    print(json.dumps(found, indent=1))
    return found


def run(python: Path, folder: Path, contender: str, block: int, *, digest: bool = False) -> dict[str, Any]:
    """Run one contender in a process of its own; CPU and peak memory come from the system."""
    # -P: modules beside the child, such as tokenize, must not hide those of the standard library.
    command = [
        str(python),
        "-P",
        str(CHILD),
        str(folder),
        contender,
        str(block),
        "digest" if digest else "time",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process.stdout as output:  # type: ignore[union-attr]
        text = output.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return {
        **json.loads(text),
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }


def summary(values: list[float]) -> dict[str, float]:
    """Return median and range."""
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


if __name__ == "__main__":
    raise SystemExit(main())
