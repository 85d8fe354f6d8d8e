"""Whether there is room for what will be mixed, looked at before it begins rather than at night."""

from __future__ import annotations

from collections.abc import Sequence

from mixle_assets import storage
from mixle_assets.pipeline.work import Work, find_pending
from mixle_assets.storage.local import free_bytes


def find_lack_of_space(works: Sequence[Work], sizes: Sequence[int]) -> list[str]:
    """Return a warning for every disk that may be too small for the mixed shards that are to be written.

    A mixed shard is at most about as large as the stored documents it is made of; rules make it smaller, by
    how much is not known before. So this warns and does not refuse. Object stores have no end.

    Args:
        works: Pieces of mixing.
        sizes: Stored size in bytes of the documents of each.
    """
    needed: dict[str, int] = {}
    for work, size in zip(works, sizes, strict=True):
        if find_pending(work) and not storage.is_object(work.outputs[0].path):
            folder = storage.local_path(work.outputs[0].path).parent
            while not folder.exists():
                folder = folder.parent
            needed[str(folder)] = needed.get(str(folder), 0) + size
    return [
        f"{folder}: up to {size:,} bytes will be written, {free:,} are free"
        for folder, size in sorted(needed.items())
        if (free := free_bytes(folder)) < size
    ]
