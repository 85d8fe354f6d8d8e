"""The documents of a file that took a set of taggers longest: where to look when tagging is slow.

Times differ from run to run, so they stand in the manifest and on the report, never in a row or a digest.
"""

from __future__ import annotations

from typing import Any

from mixle_assets.records import Document

NUM_SLOWEST = 10
LEAST_SECONDS = 0.001
"""What took less is not worth a line; most documents take a few microseconds."""
_LONGEST_ID = 200  # characters of an id that are kept


class SlowestDocuments:
    """Keeps the slowest of the documents it is told of, and nothing of the others.

    Attributes:
        floor: What a document must have taken, in seconds, to be worth noting; to be asked before ``note``.
    """

    def __init__(self) -> None:
        self.floor = LEAST_SECONDS
        self._found: list[tuple[float, int, str, int]] = []

    def note(self, seconds: float, line: int, document: Document) -> None:
        """Note how long a document took."""
        shown = document.id if isinstance(document.id, str) else repr(document.id)
        self._found.append((seconds, line, shown[:_LONGEST_ID], len(document.text)))
        self._found.sort(key=lambda one: (-one[0], one[1]))
        del self._found[NUM_SLOWEST:]
        if len(self._found) == NUM_SLOWEST:
            self.floor = self._found[-1][0]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the slowest, longest first, with line, id and length in characters."""
        return [
            {"seconds": round(seconds, 6), "line": line, "id": shown, "characters": characters}
            for seconds, line, shown, characters in self._found
        ]
