"""One contender of ``pack``, run in a process and an interpreter of its own: prints figures as JSON.

Imports numpy alone before it knows who it is, since mixle's environment holds nothing else.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

WINDOW_IN_CELLS = 2**22
BOUNDARY = 65_000


def main() -> None:
    """Pack as the arguments say: folder, contender, block, and whether rows are hashed or timed."""
    folder, contender, block, purpose = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    lengths = np.load(folder / "lengths.npy", mmap_mode="r" if contender == "plan" else None)
    if contender == "plan":
        print(json.dumps(plan(lengths, block)))
        return
    if contender.startswith("rows-"):
        print(json.dumps(random_rows(lengths, block, contender.removeprefix("rows-"))))
        return
    tokens = np.load(folder / "tokens.npy")
    hasher = hashlib.sha256() if purpose == "digest" else None
    pack = {"mixle": pack_with_mixle, "memcpy": copy_memory}.get(contender, pack_here)
    figures = pack(tokens, lengths, block, contender, hasher)
    print(json.dumps({**figures, "digest": hasher.hexdigest() if hasher else None}))


def add(hasher: Any, rows: Any) -> None:
    """Hash rows as 64-bit numbers, a window at a time."""
    if hasher:
        for at in range(0, len(rows), 4096):
            hasher.update(np.ascontiguousarray(rows[at : at + 4096], "<i8").data)


def pack_here(tokens: Any, lengths: Any, block: int, kernel: str, hasher: Any) -> dict[str, float]:
    """Pack with this package, a window of rows at a time, as the stage does."""
    from mixle_assets.packing.gather import gather_rows
    from mixle_assets.packing.order import global_document_order
    from mixle_assets.packing.plan import concatenate
    from mixle_assets.packing.token_source import source_of

    source = source_of([(tokens, np.cumsum(lengths) - lengths, lengths)], tokens.dtype)
    window = max(1, WINDOW_IN_CELLS // (block + 1))
    # Touched beforehand, as the target of memcpy is: the system's first page faults are not packing.
    out = np.ones((window, block + 1), tokens.dtype)
    # The kernel is loaded before the clock starts; what that costs shows in the whole process.
    small = concatenate(np.arange(1, dtype=np.uint32), lengths, block=block, has_boundary=True)
    gather_rows(small, source, range(1), boundary_id=BOUNDARY, pad_id=0, kernel=kernel, out=out)

    begin = time.process_time()
    order = global_document_order(len(lengths), seed=0, epoch=0).astype(np.uint32)
    plan = concatenate(order, lengths, block=block, has_boundary=True)
    ordered = time.process_time()
    for at in range(0, plan.num_rows, window):
        rows = range(at, min(at + window, plan.num_rows))
        packed = gather_rows(plan, source, rows, boundary_id=BOUNDARY, pad_id=0, kernel=kernel, out=out)
        add(hasher, packed)
    end = time.process_time()
    return {"order": ordered - begin, "pack": end - ordered, "tokens": plan.line_length}


def pack_with_mixle(tokens: Any, lengths: Any, block: int, kernel: str, hasher: Any) -> dict[str, float]:
    """Pack with mixle's own functions, documents given as views of one array."""
    # Its package imports much else; the module itself needs numpy alone.
    place = next(Path(sys.prefix).glob("lib/python*/site-packages/mixle/data/streaming_corpus.py"))
    spec = importlib.util.spec_from_file_location("streaming_corpus", place)
    mixle = importlib.util.module_from_spec(spec)
    sys.modules["streaming_corpus"] = mixle
    spec.loader.exec_module(mixle)

    ends = np.cumsum(lengths)
    documents = np.split(tokens, ends[:-1])
    begin = time.process_time()
    order = mixle.global_document_order(len(documents), seed=0, epoch=0)
    ordered = time.process_time()
    packed = mixle.pack_documents(documents, order, block, pad_id=0, boundary_id=BOUNDARY)
    end = time.process_time()
    add(hasher, packed.rows)
    return {"order": ordered - begin, "pack": end - ordered, "tokens": packed.real_tokens}


def copy_memory(tokens: Any, lengths: Any, block: int, kernel: str, hasher: Any) -> dict[str, float]:
    """Copy all tokens once, the limit of anything that packs."""
    out = np.zeros_like(tokens)
    begin = time.process_time()
    np.copyto(out, tokens)
    return {"order": 0.0, "pack": time.process_time() - begin, "tokens": len(tokens)}


def random_rows(lengths: Any, block: int, kernel: str, number: int = 5000) -> dict[str, float]:
    """Time rows one by one at random places."""
    from mixle_assets.packing.gather import gather_rows
    from mixle_assets.packing.order import global_document_order
    from mixle_assets.packing.plan import concatenate
    from mixle_assets.packing.token_source import source_of

    tokens = np.full(int(lengths.sum()), 7, np.uint16)
    source = source_of([(tokens, np.cumsum(lengths) - lengths, lengths)], tokens.dtype)
    order = global_document_order(len(lengths), seed=0, epoch=0).astype(np.uint32)
    plan = concatenate(order, lengths, block=block, has_boundary=True)
    rows = np.random.default_rng(1).integers(0, plan.num_rows, number)
    gather_rows(plan, source, rows[:1], boundary_id=BOUNDARY, pad_id=0, kernel=kernel)
    begin = time.process_time()
    for row in rows.tolist():
        gather_rows(plan, source, [row], boundary_id=BOUNDARY, pad_id=0, kernel=kernel)
    return {"microseconds": round((time.process_time() - begin) / number * 1e6, 1)}


def plan(lengths: Any, block: int) -> dict[str, float]:
    """Plan an epoch of many documents; the parent measures the memory."""
    from mixle_assets.packing.layout import EpochLayout, order_documents
    from mixle_assets.packing.settings import PackingSettings

    begin = time.process_time()
    settings = PackingSettings(block=block, boundary_id=BOUNDARY)
    layout = EpochLayout(settings, order_documents(settings, None, len(lengths), 0), lengths)
    rows = layout.deal.rows_per_rank[0]
    return {"order": round(time.process_time() - begin, 1), "pack": 0.0, "tokens": rows}


if __name__ == "__main__":
    main()
