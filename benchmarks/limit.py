"""What mixing cannot be faster than: unpack every input, pack the bytes that are kept, and nothing else."""

from __future__ import annotations

from pathlib import Path

from mixle_assets.formats.codecs import read_chunks, write_shard


def main(arguments: list[str]) -> None:
    """Unpack and pack: FOLDER (with the kept bytes as ``*.plain``) CODEC INPUT_FOLDER..."""
    folder, codec, *inputs = arguments
    for source in inputs:
        for path in sorted(Path(source).glob("*.gz")):
            for _ in read_chunks(str(path)):
                pass
    for path in sorted(Path(folder).glob("*.plain")):
        with write_shard(str(path.with_suffix(".packed")), codec) as writer, path.open("rb") as rows:
            while piece := rows.read(1024 * 1024):
                writer.write(piece)
