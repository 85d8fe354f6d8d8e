"""Many questions to storage: one after the other on a disk, side by side where each takes a round trip.

A resume asks a few things of every output: its manifest, its size, the sizes of what it was made from. In an
object store each is a request of some 20 ms, in which nobody does anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mixle_assets import storage
from mixle_assets.manifest import Manifest
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import require_manifest

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Requests on their way at one time. Stores take thousands a second; more threads than this gain little
# beside the work of Python, and a store that throttles is asked again later by ``storage``.
AT_ONCE = 32


def is_remote(loaded: LoadedRecipe) -> bool:
    """Return whether a corpus, or any of its documents, lies in an object store."""
    patterns = (pattern for stream in loaded.recipe.streams for pattern in stream.documents)
    return any(storage.is_object(place) for place in (loaded.layout.root, *patterns))


def ask_all(loaded: LoadedRecipe, ask: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
    """Yield the answer for every item, in the order of the items, whichever comes first.

    An error is raised where its item's turn comes, as if they had been asked one after the other; what was
    not begun by then is not asked any more.

    Args:
        loaded: The recipe that the questions are about.
        ask: The question; it runs in threads if ``loaded`` is remote.
        items: What is asked about.
    """
    if not is_remote(loaded):
        yield from map(ask, items)
        return
    with ThreadPoolExecutor(AT_ONCE, "asking") as threads:
        answers = threads.map(ask, items)
        try:
            yield from answers
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


def require_manifests(loaded: LoadedRecipe, outputs: Mapping[str, str]) -> list[Manifest]:
    """Return the manifests of outputs that one piece of work needs all of.

    Args:
        loaded: The recipe.
        outputs: What each is called to its location.

    Raises:
        ShardError: One is not built; the first is named.
    """

    def require(output: tuple[str, str]) -> Manifest:
        what, path = output
        return require_manifest(path, what=what)

    return list(ask_all(loaded, require, outputs.items()))
