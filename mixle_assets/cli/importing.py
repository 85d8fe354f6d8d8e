"""``mixle-assets import``: token files of other tools as doc arrays."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from mixle_assets import storage
from mixle_assets.cli.options import json_option, print_json
from mixle_assets.exporting import import_megatron, import_olmo

_IMPORTS = {".bin": import_megatron, ".idx": import_megatron, ".npy": import_olmo}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option(
    "--vocabulary-size",
    type=click.IntRange(min=1, max=2**32),
    metavar="N",
    required=True,
    help="Highest id + 1 of their tokenizer; up to 65,536 an .npy file has 16 bits, else 32.",
)
@click.option(
    "--boundary-id",
    type=click.IntRange(min=0),
    metavar="N",
    help="The token that ends each document: taken off, since packing puts it there; default: there is none.",
)
@json_option
def command(
    files: tuple[str, ...], folder: str, vocabulary_size: int, boundary_id: int | None, as_json: bool
) -> None:
    """Write the documents of token FILEs into FOLDER as doc arrays, a file each.

    Megatron's are named by their .bin or .idx, OLMo's and Dolma's by their .npy, which has its .csv.gz beside
    it; a FILE may be a glob. X.bin becomes FOLDER/X.arrow with X.lengths.npy, whole or not at all.
    """
    if boundary_id is not None and boundary_id >= vocabulary_size:
        raise click.UsageError(
            f"the boundary {boundary_id} is not below the vocabulary size {vocabulary_size}"
        )
    results = {}
    for output, path in _plan(files, folder).items():
        read = _IMPORTS[Path(path).suffix]
        written = read(_pair(path), output, boundary_id=boundary_id, vocabulary_size=vocabulary_size)
        results[output] = written
        if not as_json:
            click.echo(
                f"{output}: {written.num_documents:,} documents, {written.num_tokens:,} tokens, "
                f"digest {written.rows_digest}"
            )
    if as_json:
        print_json(msgspec.to_builtins(results))


def _plan(patterns: tuple[str, ...], folder: str) -> dict[str, str]:
    """Return output to input, in order; refuse what cannot be imported before anything is written."""
    plan: dict[str, str] = {}
    for pattern in patterns:
        found = storage.find_files(pattern)
        if not found:
            raise click.UsageError(f"no file matches {pattern}")
        for path in found:
            stem, suffix = Path(path).stem, Path(path).suffix
            if suffix not in _IMPORTS:
                raise click.UsageError(f"{path}: token files end in {', '.join(_IMPORTS)}")
            output = storage.join(folder, f"{stem}.arrow")
            earlier = plan.setdefault(output, path)
            # The two files of one Megatron pair are one input.
            if _pair(earlier) != _pair(path):
                raise click.UsageError(f"{earlier} and {path} would both become {output}")
    return plan


def _pair(path: str) -> str:
    return path if path.endswith(".npy") else path[: -len(".bin")]
