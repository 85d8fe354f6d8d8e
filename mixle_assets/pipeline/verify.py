"""Everything at rest, hashed again: a flipped bit is found, and the file it is in is named."""

from __future__ import annotations

from collections.abc import Iterator

from mixle_assets import storage
from mixle_assets.formats.attribute_files import columns_path_of
from mixle_assets.formats.doc_arrays import lengths_path_of
from mixle_assets.manifest import Manifest
from mixle_assets.pipeline.build import stages_of
from mixle_assets.pipeline.check import find_built
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import read_manifest, stamp_of
from mixle_assets.records import Violation


def find_stored_hashes(path: str, manifest: Manifest) -> dict[str, str]:
    """Return location to hash of every stored file of an output, as its manifest has them."""
    details = manifest.details
    if "hashes" in details:  # documents made here: a folder
        return {storage.join(path, name): digest for name, digest in details["hashes"].items()}
    if "stored_files" in details:  # a packed epoch: a folder
        return {storage.join(path, name): stored["hash"] for name, stored in details["files"].items()}
    if "lengths_hash" in details:  # doc arrays: the lengths lie beside them
        return {path: manifest.file_hash, lengths_path_of(path): details["lengths_hash"]}
    return {path: manifest.file_hash}


def find_damaged_files(loaded: LoadedRecipe) -> Iterator[tuple[str, Violation | None]]:
    """Hash every stored file of a corpus; yield its location, and a violation if it is not as written."""
    for stage in stages_of(loaded):
        for all_work in find_built(loaded, stage.name).values():
            for output in (output for work in all_work for output in work.outputs):
                manifest = read_manifest(output.path)
                if manifest is None:
                    continue  # removed since it was listed, by a build that began in between
                hashes = find_stored_hashes(output.path, manifest)
                if output.columns and "columns" in manifest.details:
                    hashes[columns_path_of(output.path)] = manifest.details["columns"]["hash"]
                for location, expected in hashes.items():
                    yield location, _compare(location, expected)


def _compare(location: str, expected: str) -> Violation | None:
    if not storage.exists(location):
        return Violation(location, f"a file with hash {expected}", "no file")
    found = stamp_of(location).digest
    return None if found == expected else Violation(location, f"hash {expected}", f"hash {found}")
