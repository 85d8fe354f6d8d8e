"""Tokenizing beside ``dolma tokens`` or datatrove: the runs, and the proof that all give the same ids.

    python -m benchmarks tokenize CORPUS --tokenizer tokenizer.json [--engines tokenizers,pieces,fastokens]
                                        [--against dolma,datatrove] [--files 8] [--repeats 3] [--peers FOLDER]

Each run is a process of its own over the same files, one thread each; runs alternate. Dolma is told to keep
special strings as text; it strips texts, so documents that begin or end with white space are left out of the
comparison, and counted. Datatrove has no such setting: documents that hold the boundary are left out, too.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import Contender, interleave, ratio, table
from benchmarks.peers import peer_program

_STEP = (
    sys.executable,
    "-c",
    "import sys, benchmarks.tokenize as t; getattr(t, sys.argv[1])(*sys.argv[2:])",
)
"""Runs one function of this module in a process of its own: name, then arguments."""


def tokenize_files(tokenizer: str, boundary: str, engine: str, into: str, *paths: str) -> None:
    """Tokenize files one after another, as one worker does."""
    import gc

    from mixle_assets.recipe import Tokenizer
    from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard

    gc.freeze()  # as in the engine's workers
    gc.disable()
    spec = Tokenizer(file=tokenizer, boundary=boundary, engine=engine)
    for path in paths:
        name = Path(path).name.split(".")[0]
        written = tokenize_shard(TokenizeTask(name, path, spec, str(Path(into, f"{name}.arrow"))))
        print(name, written.counts, written.details["engine"], written.details["bytes_per_token"])


def read_texts_only(*paths: str) -> None:
    """Do what any tokenizer must do first: decompress and parse every document."""
    from mixle_assets.formats.documents import read_texts

    for path in paths:
        for _ in read_texts(path):
            pass


def write_dolma_config(paths: Sequence[Path], tokenizer: Path, eos_id: int, dtype: str, into: Path) -> Path:
    """Return a configuration that gives one order of documents and one part: one process, one ring."""
    config = into / "dolma.json"
    config.write_text(
        json.dumps(
            {
                "documents": [str(path) for path in paths],
                "destination": str(into / "dolma"),
                "tokenizer": {
                    "name_or_path": str(tokenizer),
                    "eos_token_id": eos_id,
                    "pad_token_id": eos_id,
                    "encode_special_tokens": True,
                },
                "processes": 1,
                "dtype": dtype,
                "fields": {"id_field_type": "str"},
            }
        )
    )
    return config


DATATROVE = """
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer

paths, folder, tokenizer, boundary, into = sys.argv[1:]
tokens = DocumentTokenizer(into, tokenizer, eos_token=boundary, shuffle_documents=False, save_filename="all")
reader = JsonlReader(folder, paths_file=paths)
LocalPipelineExecutor([reader, tokens], logging_dir=into + "/logs").run()
"""
"""What datatrove's own environment runs: one task over all files, in order."""


def datatrove_tokens(paths: Sequence[Path], into: Path, dtype: str) -> dict[tuple[str, int], np.ndarray]:
    """Return (file, line) to the ids that datatrove gave, without the boundary."""
    from mixle_assets.formats.documents import read_texts

    [stored] = into.glob("*.ds")
    tokens = np.fromfile(stored, dtype)
    ends = iter(np.fromfile(f"{stored}.index", np.uint64).tolist())
    found, start = {}, 0
    for path in paths:
        for line, document in read_texts(str(path)):
            if document.text:  # it drops documents without text
                end = next(ends)
                found[path.name, line] = tokens[start : end - 1]
                start = end
    if next(ends, None) is not None:
        raise SystemExit("datatrove has more documents than there are")
    return found


def dolma_tokens(into: Path, dtype: str) -> dict[tuple[str, int], np.ndarray]:
    """Return (file, line) to the ids that dolma gave, without the boundary."""
    found: dict[tuple[str, int], np.ndarray] = {}
    for listed in sorted(into.glob("*.csv.gz")):
        tokens = np.fromfile(str(listed).replace(".csv.gz", ".npy"), dtype)
        rows = csv.reader(io.StringIO(gzip.decompress(listed.read_bytes()).decode()))
        for start, end, _, source, line in rows:
            found[Path(source).name, int(line)] = tokens[int(start) : int(end) - 1]
    return found


def find_differences(
    paths: Sequence[Path], ours: Path, theirs: dict[tuple[str, int], np.ndarray], boundary: str
) -> tuple[list[str], int, int]:
    """Return documents with other ids, how many were compared, and how many cannot be."""
    from mixle_assets.formats.doc_arrays import DocArrays
    from mixle_assets.formats.documents import read_texts

    differences, compared, stripped = [], 0, 0
    for path in paths:
        arrays = iter(DocArrays.open(str(ours / f"{path.name.split('.')[0]}.arrow")))
        for line, document in read_texts(str(path)):
            if not document.text.strip():
                continue
            mine = next(arrays)
            if document.text != document.text.strip() or boundary in document.text:
                stripped += 1
                continue
            compared += 1
            if not np.array_equal(mine, theirs.get((path.name, line), np.empty(0))):
                differences.append(f"{path.name}:{line}")
    return differences, compared, stripped


def main(arguments: list[str]) -> None:
    """Run, compare, then print."""
    parser = argparse.ArgumentParser(prog="benchmarks tokenize", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path, help="folder with documents/*.gz")
    parser.add_argument("--tokenizer", type=Path, required=True, help="a Hugging Face tokenizer.json")
    parser.add_argument("--boundary", default="<|endoftext|>")
    parser.add_argument("--engines", default="tokenizers,pieces,fastokens")
    parser.add_argument("--against", default="dolma", help="dolma, datatrove, or both with a comma")
    parser.add_argument("--files", type=int, default=8, help="how many files of the corpus")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", type=Path, default=Path(".benchmarks"), help="where peers are installed")
    options = parser.parse_args(arguments)

    from mixle_assets.recipe import Tokenizer
    from mixle_assets.tokenizers import load_tokenizer

    paths = sorted((options.corpus / "documents").glob("*.gz"))[: options.files]
    loaded = load_tokenizer(
        Tokenizer(file=str(options.tokenizer), boundary=options.boundary, engine="tokenizers")
    )
    dtype, boundary_id = loaded.dtype_for(None), loaded.boundary_id
    if boundary_id is None:
        raise SystemExit("dolma needs a boundary")
    with tempfile.TemporaryDirectory() as name:
        into = Path(name)
        contenders: dict[str, Contender] = {}
        for peer in options.against.split(","):
            folder = into / peer
            if peer == "dolma":
                config = write_dolma_config(paths, options.tokenizer, boundary_id, dtype, into)
                command = [peer_program("dolma", options.peers), "-c", str(config), "tokens"]
            else:
                (into / "paths.txt").write_text("".join(f"{path.name}\n" for path in paths))
                python = peer_program("datatrove", options.peers, "python")
                words = [str(into / "paths.txt"), str(paths[0].parent), str(options.tokenizer)]
                command = [python, "-c", DATATROVE, *words, options.boundary, str(folder)]
            contenders[peer] = Contender(command, partial(shutil.rmtree, folder, ignore_errors=True))
        for engine in options.engines.split(","):
            target = into / engine
            target.mkdir()
            words = ("tokenize_files", str(options.tokenizer), options.boundary, engine, str(target))
            contenders[engine] = Contender([*_STEP, *words, *map(str, paths)])
        contenders["reading alone"] = Contender([*_STEP, "read_texts_only", *map(str, paths)])
        usages = interleave(contenders, options.repeats, into / "log")
        for engine in options.engines.split(","):
            for peer in options.against.split(","):
                read = (
                    dolma_tokens(into / peer, dtype)
                    if peer == "dolma"
                    else datatrove_tokens(paths, into / peer, dtype)
                )
                differences, compared, left = find_differences(paths, into / engine, read, options.boundary)
                if differences:
                    raise SystemExit(
                        f"{engine}: other ids than {peer} in {len(differences)}: {differences[:20]}"
                    )
                print(f"{engine}: the ids of {peer} in all {compared:,} documents; {left:,} not compared")
    print(table(usages))
    for peer in options.against.split(","):
        for engine in options.engines.split(","):
            print(f"{peer} / {engine}: {ratio(usages[peer], usages[engine])}")


if __name__ == "__main__":
    main(sys.argv[1:])
