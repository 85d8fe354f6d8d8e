"""Where the documents lie that others repeat: file, line, and the id of those in a reference set.

Looked up once for all of them, in one pass over the members, and kept in a file that is mapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mixle_assets.deduping.buckets import map_array
from mixle_assets.deduping.hash_files import HashFile, Kind
from mixle_assets.deduping.members import Extents, HashedReference, Member

_PLACE = np.dtype([("position", "<i8"), ("file", "<i8"), ("line", "<i8"), ("reference", "<i8")])


class Repeats(Protocol):
    """Positions that repeat others."""

    def matched_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the positions in ``start <= position < stop`` that others repeat: unique, rising."""


class Place(NamedTuple):
    """File name and physical line of a document; its id as JSON if it is in a reference set, else ""."""

    file: str
    line: int
    reference: str


class Places:
    """The places of some positions of one kind.

    Args:
        members: All members.
        extents: As ``lay_out`` gives them.
        kind: Which positions: those of documents, or of the hashes of paragraphs or probes.
        found: What was found to repeat others; the others are looked up.
        path: A file for them; the caller removes it.
    """

    def __init__(
        self, members: Sequence[Member], extents: Extents, kind: Kind, found: Sequence[Repeats], path: Path
    ) -> None:
        self._names = extents.names
        self._references: list[str] = []
        starts = extents.starts(kind)
        with path.open("wb") as sink:
            for number, member in enumerate(members):
                start, stop = int(starts[number]), int(starts[number + 1])
                parts = [repeats.matched_between(start, stop) for repeats in found]
                wanted = np.unique(np.concatenate([np.zeros(0, np.int64), *parts])) - start
                if not len(wanted):
                    continue
                before = 0
                for batch in HashFile(member.hashes):
                    _, holders = batch.compared(kind)
                    here = slice(*np.searchsorted(wanted, [before, before + len(holders)]))
                    inside = holders[wanted[here] - before]
                    places = np.empty(len(inside), _PLACE)
                    places["position"] = wanted[here] + start
                    places["file"] = batch.files[inside] + extents.files[number]
                    places["line"] = batch.lines[inside]
                    places["reference"] = -1
                    if isinstance(member, HashedReference):
                        places["reference"] = np.arange(len(inside)) + len(self._references)
                        self._references.extend(batch.ids[row].as_py().decode() for row in inside.tolist())
                    sink.write(places.tobytes())
                    before += len(holders)
        self._places: NDArray[np.void] = map_array(path, _PLACE)

    def of(self, positions: NDArray[np.int64]) -> list[Place]:
        """Return the places of positions that were looked up."""
        found = self._places[np.searchsorted(self._places["position"], positions)]
        return [
            Place(self._names[file], line, "" if reference < 0 else self._references[reference])
            for _, file, line, reference in found.tolist()
        ]
