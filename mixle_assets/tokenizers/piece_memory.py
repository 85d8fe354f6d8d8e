"""The ids of pieces that were encoded before: looked up by text, gathered for a whole batch at once.

How a text is cut into pieces, and when pieces are forgotten, is decided in ``pieces``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.tokenizers.byte_level import byte_spelling

MAX_PIECE_IN_CHARACTERS = 64

_SPELLING = np.array([ord(character) for character in byte_spelling()], "<u2")
# Between pieces while they are spelled: what it begins with is a byte that no character of the BMP has.
_BETWEEN = "\U0010ffff"


class PieceMemory(dict[str, int]):
    """Piece to its number, in order of first use; a piece that is asked for and not there is noted as new.

    Between looking up and ``gather`` must come ``learn``, where ``new`` is not empty.

    Args:
        added: Added tokens with their ids, which no model knows; known from the start and never forgotten.

    Attributes:
        new: Pieces that have a number, but no ids yet.
        num_values: Ids that are held.
    """

    def __init__(self, added: Mapping[str, int]) -> None:
        super().__init__({text: number for number, text in enumerate(added)})
        self.new: list[str] = []
        self._added = added
        self._num_pieces = self.num_values = len(added)
        self._values = np.array(list(added.values()), np.uint32)
        self._starts = np.arange(len(added), dtype=np.int64)
        self._lengths = np.ones(len(added), np.int64)
        self._uses = np.zeros(len(added), np.int64)

    def __missing__(self, piece: str) -> int:
        number = self[piece] = self._num_pieces + len(self.new)
        self.new.append(piece)
        return number

    def learn(self, model: Any) -> None:
        """Encode the new pieces by the model of the ``tokenizers`` library."""
        tokenize = model.tokenize
        try:
            ids = [[token.id for token in tokenize(spelled)] for spelled in spell(self.new)]
        except BaseException:  # a panic of the library, too: pieces without ids must not stay
            self.forget_new()
            raise
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        values = np.fromiter((token for tokens in ids for token in tokens), np.uint32, int(lengths.sum()))
        self._append(values, lengths)
        for piece in self.new:
            if len(piece) > MAX_PIECE_IN_CHARACTERS:
                del self[piece]  # hardly ever seen again; its ids go when the rare are forgotten
        self.new = []

    def forget_new(self) -> None:
        """Take the new pieces back."""
        for piece in self.new:
            del self[piece]
        self.new = []

    def gather(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of pieces one after another, and how many each has; the uses are counted."""
        self._uses[: self._num_pieces] += np.bincount(numbers, minlength=self._num_pieces)
        lengths = self._lengths[numbers]
        # Token t of piece p lies at starts[p] + t; written for all pieces at once.
        total = int(lengths.sum())
        begins = np.cumsum(lengths) - lengths
        return self._values[np.repeat(self._starts[numbers] - begins, lengths) + np.arange(total)], lengths

    def most_used(self, num_pieces: int) -> PieceMemory:
        """Return a memory of the pieces that were used most, and of the added tokens."""
        keep = np.zeros(self._num_pieces, np.bool_)
        keep[np.argsort(-self._uses[: self._num_pieces], kind="stable")[:num_pieces]] = True
        kept = [
            (piece, number) for piece, number in self.items() if keep[number] and piece not in self._added
        ]
        memory = PieceMemory(self._added)
        memory.update((piece, len(self._added) + place) for place, (piece, _) in enumerate(kept))
        numbers = np.array([number for _, number in kept], np.int64)
        values, lengths = self.gather(numbers)
        memory._append(values, lengths)
        return memory

    def _append(self, values: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
        first, stop = self._num_pieces, self._num_pieces + len(lengths)
        self._values = _with_room(self._values, self.num_values + len(values))
        self._starts = _with_room(self._starts, stop)
        self._lengths = _with_room(self._lengths, stop)
        self._uses = _with_room(self._uses, stop)
        self._values[self.num_values : self.num_values + len(values)] = values
        self._starts[first:stop] = self.num_values + np.cumsum(lengths) - lengths
        self._lengths[first:stop] = lengths
        self._uses[first:stop] = 0
        self._num_pieces = stop
        self.num_values += len(values)


def spell(pieces: Sequence[str]) -> list[str]:
    """Return pieces of characters of the BMP as the model knows them, a character for each byte."""
    content = np.frombuffer(_BETWEEN.join(pieces).encode(), np.uint8)
    return _SPELLING[content].tobytes().decode("utf-16-le").split(_SPELLED_BETWEEN)


_SPELLED_BETWEEN = _SPELLING[np.frombuffer(_BETWEEN.encode(), np.uint8)].tobytes().decode("utf-16-le")


def _with_room(held: NDArray[Any], wanted: int) -> NDArray[Any]:
    """Return an array that has room for ``wanted`` items and begins like ``held``; twice as long if not."""
    if wanted <= len(held):
        return held
    longer = np.empty(max(wanted, 2 * len(held)), held.dtype)
    longer[: len(held)] = held
    return longer
