"""Files into shards: greedy, in order, by stored size, so that every machine makes the same shards.

Pure arithmetic on names and sizes; nothing is read or written here. A plan only grows: a later plan of more
files keeps every shard of the earlier one, with its key and its files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from mixle_assets.errors import InputError

DOCUMENTS_FOLDER = "documents"


class InputFile(msgspec.Struct, frozen=True):
    """A document file as the listing found it: location, stored size, modification time or etag."""

    path: str
    size_in_bytes: int
    modified: int | str


class PlannedFile(msgspec.Struct, frozen=True):
    """A document file in a shard.

    Attributes:
        path: Location.
        name: What provenance calls it: the path below the last ``/documents/``, unique in the recipe.
        attribute_name: The path of its attribute files below ``attributes/<set>/<stream>/``, unique there.
        size_in_bytes: Stored size when it was planned.
        modified: Modification time in nanoseconds, or the store's etag, when it was planned.
    """

    path: str
    name: str
    attribute_name: str
    size_in_bytes: int
    modified: int | str


class Shard(msgspec.Struct, frozen=True):
    """One unit of work from tagging to doc arrays; ``key`` is its partition, such as ``prose/0000``."""

    key: str
    stream: str
    files: tuple[PlannedFile, ...]

    @property
    def file_stem(self) -> str:
        """The key as a file name: ``prose-0000``."""
        return "-".join(self.key.rsplit("/", 1))  # a Dolma stream may have slashes in its name: folders


class ShardPlan(msgspec.Struct, frozen=True):
    """All shards of a recipe in append order: those of a later extension come after all earlier ones."""

    shards: tuple[Shard, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all shards, in append order."""
        return tuple(shard.key for shard in self.shards)

    def shard(self, key: str) -> Shard:
        """Return the shard of that key.

        Raises:
            KeyError: The plan has no such shard.
        """
        for shard in self.shards:
            if shard.key == key:
                return shard
        raise KeyError(key)

    def of_stream(self, stream: str) -> tuple[Shard, ...]:
        """Return the shards of a stream, in order."""
        return tuple(shard for shard in self.shards if shard.stream == stream)


def plan_shards(
    inputs: Mapping[str, Sequence[InputFile]],
    *,
    max_size_in_bytes: Mapping[str, int],
    one_per_file: bool = False,
) -> ShardPlan:
    """Return the plan of the first build.

    A shard takes files in order until the next one would bring it above the limit; equal fits, a file above
    the limit is a shard of its own. Sizes are those of the stored input: mixed shards come out smaller, by
    what the rules drop.

    Args:
        inputs: Stream name to its files, in order.
        max_size_in_bytes: Stream name to the limit, in bytes of stored document files.
        one_per_file: One shard for every file, whatever its size.
    """
    return extend_plan(ShardPlan(), inputs, max_size_in_bytes=max_size_in_bytes, one_per_file=one_per_file)


def extend_plan(
    plan: ShardPlan,
    inputs: Mapping[str, Sequence[InputFile]],
    *,
    max_size_in_bytes: Mapping[str, int],
    one_per_file: bool = False,
) -> ShardPlan:
    """Return ``plan`` with shards of the files it does not have yet, after all its own.

    Planned shards are closed: their keys, files and names stay.

    Raises:
        InputError: A planned file is gone from the inputs; only a new plan can leave it out.
    """
    planned = {(shard.stream, file.path) for shard in plan.shards for file in shard.files}
    listed = {(stream, file.path) for stream, files in inputs.items() for file in files}
    for stream, path in sorted(planned - listed):
        raise InputError(
            f"was planned for stream {stream!r} but is gone; bring it back, or plan anew with --replan",
            path=path,
        )
    new = {
        stream: [file for file in files if (stream, file.path) not in planned]
        for stream, files in inputs.items()
    }
    names = _name_files(plan, [file.path for files in new.values() for file in files])
    shards = list(plan.shards)
    for stream, files in new.items():
        taken = {file.attribute_name for shard in plan.of_stream(stream) for file in shard.files}
        limit = 0 if one_per_file else max_size_in_bytes[stream]
        first_number = len(plan.of_stream(stream))
        for number, group in enumerate(_group_by_size(files, limit), start=first_number):
            members = tuple(
                PlannedFile(
                    path=file.path,
                    name=names[file.path],
                    attribute_name=_attribute_name(names[file.path], stream, taken),
                    size_in_bytes=file.size_in_bytes,
                    modified=file.modified,
                )
                for file in group
            )
            shards.append(Shard(key=f"{stream}/{number:04d}", stream=stream, files=members))
    return ShardPlan(tuple(shards))


def _group_by_size(files: Sequence[InputFile], limit: int) -> list[list[InputFile]]:
    groups: list[list[InputFile]] = []
    total = 0
    for file in files:
        total += file.size_in_bytes
        if not groups or total > limit or limit == 0:
            groups.append([])
            total = file.size_in_bytes
        groups[-1].append(file)
    return groups


def _name_files(plan: ShardPlan, paths: Sequence[str]) -> dict[str, str]:
    """Return a provenance name for every path: the shortest that no other file has."""
    known = {file.path: file.name for shard in plan.shards for file in shard.files}
    unnamed = sorted(set(paths) - set(known))
    depths = {path: _depth_below_documents(path) for path in unnamed}
    while True:
        names = {path: _last_parts(path, depths[path]) for path in unnamed}
        owners: dict[str, list[str]] = {name: [path] for path, name in known.items()}
        for path, name in names.items():
            owners.setdefault(name, []).append(path)
        clashing = [path for name, all_paths in owners.items() if len(all_paths) > 1 for path in all_paths]
        deepened = False
        for path in clashing:
            if path in depths and depths[path] < len(PurePosixPath(path).parts):
                depths[path] += 1
                deepened = True
        if not deepened:
            return known | names


def _depth_below_documents(path: str) -> int:
    parts = PurePosixPath(path).parts
    folders = parts[:-1]
    if DOCUMENTS_FOLDER in folders:
        return len(parts) - 1 - (len(folders) - 1 - folders[::-1].index(DOCUMENTS_FOLDER))
    return 1


def _last_parts(path: str, number: int) -> str:
    return "/".join(PurePosixPath(path).parts[-number:]).removeprefix("//").removeprefix("/")


def _attribute_name(name: str, stream: str, taken: set[str]) -> str:
    # documents/prose/0000.jsonl.gz gets attributes/<set>/prose/0000.jsonl.gz, as in Dolma's layout.
    short = name.removeprefix(f"{stream}/")
    chosen = name if short in taken else short
    taken.add(chosen)
    return chosen
