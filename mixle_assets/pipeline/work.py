"""One piece of work: what it writes, from what, and whether that is still true of what lies there.

Resume rests on this module alone: an output whose manifest matches what would be built now is left as it
is, anything else is built again. Which work there is stands in ``stages``; running it in ``run``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from mixle_assets import storage
from mixle_assets.errors import InputError, MixleError, ShardError
from mixle_assets.formats.attribute_files import columns_path_of
from mixle_assets.formats.codecs import read_chunks
from mixle_assets.manifest import Manifest, content_digest, decode_manifest, encode_manifest
from mixle_assets.planning.layout import manifest_path
from mixle_assets.records import Counts, FileStamp, Written

NO_COLUMNS = "its columns are not written"
"""Why an attribute file is looked at again that lacks nothing else; its rows are not made anew."""

SKIPPED = ("malformed_row", "not_encodable")
"""Reasons to drop a record that would be errors if the recipe did not tolerate them."""


@dataclass(frozen=True)
class Output:
    """One file (or folder) that a piece of work writes.

    Attributes:
        name: What the stage's function calls it; ``""`` where there is only one.
        key: What its manifest calls it; part of the content digest, so free of places.
        path: Location; the manifest stands beside it.
        fingerprint: Digest of the part of the recipe that decides the content.
        inputs: Name to content digest of each output of ours that is read.
        files: Name to location of each external file that is read.
        columns: Of an attribute file: whether its rows also stand beside it as columns; None for any other.
        max_skipped_share: Share of its records that may be skipped as malformed; a part of no content.
    """

    name: str
    key: str
    path: str
    fingerprint: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    columns: bool | None = None
    max_skipped_share: float = 1.0


@dataclass(frozen=True)
class Work:
    """One call of a stage's function, for one partition.

    Attributes:
        stage: The asset, such as ``mixed_shards``.
        key: The partition, such as ``prose/0000``; ``""`` for an asset without partitions.
        code_version: Version of the stage's code; a new one builds anew.
        function: The stage's function; stands in a module, so that it pickles by name.
        task: Its argument.
        outputs: What it writes.
        chooses: Whether the function takes the names of the outputs that are wanted.
        together: Whether one output that must be built takes all others along.
        kept_in_bytes: What a worker keeps in memory once it has done this work: name to bytes.
    """

    stage: str
    key: str
    code_version: str
    function: Callable[..., Any]
    task: Any
    outputs: tuple[Output, ...]
    chooses: bool = False
    together: bool = False
    kept_in_bytes: Mapping[str, int] = field(default_factory=dict)

    def limited_to(self, share: float) -> Work:
        """Return this work with outputs of which that share of records may be skipped."""
        return replace(
            self, outputs=tuple(replace(output, max_skipped_share=share) for output in self.outputs)
        )


def read_manifest(output_path: str) -> Manifest | None:
    """Return the manifest beside an output, or None if there is none or it is damaged."""
    try:
        content = storage.read_bytes(manifest_path(output_path))
        return decode_manifest(content)
    except (InputError, msgspec.DecodeError):
        return None


def require_manifest(output_path: str, *, what: str) -> Manifest:
    """Return the manifest beside an output that is needed further down.

    Raises:
        ShardError: ``what`` is not built.
    """
    manifest = read_manifest(output_path)
    if manifest is None:
        raise ShardError(
            f"{what} is not built yet, or its build was cut short; build it first", path=output_path
        )
    return manifest


def write_manifest(output_path: str, manifest: Manifest) -> None:
    """Write the commit mark of an output, whole."""
    with storage.write_whole(manifest_path(output_path)) as file:
        file.write(encode_manifest(manifest))


def find_reason_to_build(output: Output, code_version: str) -> str | None:
    """Return why an output must be built, or None if what lies there is what would be built.

    External files are compared by size and modification time and, where these differ, by hash.
    """
    return examine(output, code_version)[0]


def examine(output: Output, code_version: str) -> tuple[str | None, Manifest | None]:
    """Return why an output must be built, and its manifest if it has one."""
    manifest = read_manifest(output.path)
    if manifest is None:
        return "not built", None
    reason = _find_change(output, code_version, manifest) or find_damage(output.path, manifest)
    return reason or _find_lack_of_columns(output, manifest), manifest


def _find_lack_of_columns(output: Output, manifest: Manifest) -> str | None:
    if not output.columns:
        return None
    status = storage.stat(columns_path_of(output.path)) if "columns" in manifest.details else None
    if status is not None and status.size_in_bytes == manifest.details["columns"]["size_in_bytes"]:
        return None
    return NO_COLUMNS


def _find_change(output: Output, code_version: str, manifest: Manifest) -> str | None:
    """Return in what an output would be another one now than its manifest says."""
    if manifest.fingerprint != output.fingerprint:
        return "the recipe changed"
    if manifest.code_version != code_version:
        return f"the code changed: version {manifest.code_version} to {code_version}"
    if (excess := _find_excess(output, manifest.counts)) is not None:
        return excess
    expected = {*output.inputs, *output.files}
    if expected != set(manifest.inputs):
        changed = sorted(expected ^ set(manifest.inputs))
        return f"other inputs: {', '.join(changed[:3])}{', …' if len(changed) > 3 else ''}"
    for name, digest in output.inputs.items():
        if manifest.inputs[name].digest != digest:
            return f"{name} changed"
    for name, path in output.files.items():
        if not is_unchanged(path, manifest.inputs[name]):
            return f"{name} changed"
    return None


def find_current(work: Work) -> dict[str, Manifest]:
    """Return the outputs of a piece of work that are left as they are: location to manifest."""
    current = {}
    for output in work.outputs:
        reason, manifest = examine(output, work.code_version)
        if reason is None and manifest is not None:
            current[output.path] = manifest
    return {} if work.together and len(current) < len(work.outputs) else current


def find_pending(work: Work) -> tuple[Output, ...]:
    """Return the outputs of a piece of work that must be built."""
    current = find_current(work)
    return tuple(output for output in work.outputs if output.path not in current)


def _find_excess(output: Output, counts: Counts) -> str | None:
    """Return that more records were skipped than may be, or None."""
    skipped = {reason: counts.dropped[reason] for reason in SKIPPED if reason in counts.dropped}
    number = sum(skipped.values())
    if number <= output.max_skipped_share * counts.num_in:
        return None
    reasons = ", ".join(f"{by:,} {reason}" for reason, by in skipped.items())
    return (
        f"{number:,} of {counts.num_in:,} records were skipped ({reasons}); "
        f"tolerate.max_skipped_share is {output.max_skipped_share:g}"
    )


def find_damage(path: str, manifest: Manifest) -> str | None:
    """Return what is wrong with the stored files of an output at first sight, by size; None if nothing is."""
    for name, size in stored_sizes(path, manifest).items():
        status = storage.stat(name)
        if status is None:
            return f"{name} is gone"
        if status.size_in_bytes != size:
            return f"{name} has {status.size_in_bytes:,} bytes instead of {size:,}"
    return None


def stored_sizes(path: str, manifest: Manifest) -> dict[str, int]:
    """Return location to stored size of each file of an output; several for one that is a folder."""
    files = manifest.details.get("stored_files")
    if files is None:
        return {path: manifest.size_in_bytes}
    return {storage.join(path, name): size for name, size in files.items()}


def is_unchanged(path: str, stamp: FileStamp) -> bool:
    """Return whether an external file still is what was read; hashed only if size or time differ."""
    status = storage.stat(path)
    if status is None:
        return False
    if (status.size_in_bytes, status.modified) == (stamp.size_in_bytes, stamp.modified):
        return True
    return status.size_in_bytes == stamp.size_in_bytes and stamp_of(path).digest == stamp.digest


def stamp_of(path: str) -> FileStamp:
    """Return the stamp of a file's stored bytes by reading them."""
    chunks = read_chunks(path, codec="")
    for _ in chunks:
        pass
    return chunks.stamp


def do_work(work: Work) -> list[Manifest]:
    """Run one piece of work and commit its outputs: the old manifest goes first, the new one comes last.

    Raises:
        MixleError: The stage's function failed; finished outputs of the same call stay uncommitted.
    """
    complete = {output.path: _complete(work, output) for output in work.outputs}
    outputs = tuple(output for output in work.outputs if complete[output.path] is None)
    built = _build(work, outputs) if outputs else {}
    return [complete[output.path] or built[output.path] for output in work.outputs]


def _complete(work: Work, output: Output) -> Manifest | None:
    """Write only the columns of an attribute file that lacks nothing else, and return its new manifest."""
    if not output.columns:
        return None
    reason, manifest = examine(output, work.code_version)
    if manifest is None or reason != NO_COLUMNS:
        return None
    details = manifest.details | _write_columns(output)
    manifest = msgspec.structs.replace(manifest, details=details)
    write_manifest(output.path, manifest)
    return manifest


def _write_columns(output: Output) -> dict[str, Any]:
    """Write an attribute file's columns beside it, or see that there are none; return what to say of them."""
    if output.columns:
        from mixle_assets.formats.attribute_columns import write_attribute_columns

        stored = write_attribute_columns(output.path)
        return {"columns": {"hash": stored.file_hash, "size_in_bytes": stored.size_in_bytes}}
    if output.columns is False:
        storage.remove(columns_path_of(output.path))  # those of other rows, from before
    return {}


def _build(work: Work, outputs: tuple[Output, ...]) -> dict[str, Manifest]:
    """Build some outputs of a piece of work anew; return location to manifest."""
    for output in outputs:
        storage.remove(manifest_path(output.path))
    try:
        if work.chooses:
            written: dict[str, Written] = work.function(work.task, tuple(output.name for output in outputs))
        else:
            written = {"": work.function(work.task)}
    except MixleError as error:
        error.add_note(f"while building {work.stage} {work.key}".rstrip())
        raise
    manifests = {}
    for output in outputs:
        manifest = _manifest_of(work, output, written[output.name])
        write_manifest(output.path, manifest)
        manifests[output.path] = manifest
    return manifests


def _manifest_of(work: Work, output: Output, written: Written) -> Manifest:
    counts = written.counts
    if counts.num_missing:
        raise ShardError(
            f"{work.stage} {output.key}: {counts.num_in} records in, {counts.num_out} out, "
            f"{sum(counts.dropped.values())} dropped: {counts.num_missing} are unaccounted for",
            path=output.path,
        )
    if (excess := _find_excess(output, counts)) is not None:
        raise ShardError(f"{work.stage} {output.key}: {excess}", path=output.path)
    inputs = {name: FileStamp(digest) for name, digest in output.inputs.items()}
    for name, path in output.files.items():
        inputs[name] = written.read.get(path) or stamp_of(path)
    return Manifest(
        stage=work.stage,
        key=output.key,
        content_digest=content_digest(output.key, written.rows_digest, counts),
        fingerprint=output.fingerprint,
        code_version=work.code_version,
        inputs=inputs,
        counts=counts,
        file_hash=written.file_hash,
        size_in_bytes=written.size_in_bytes,
        details=written.details | _write_columns(output),
    )
