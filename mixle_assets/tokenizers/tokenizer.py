"""What a tokenizer is to the stages: ids of texts, texts of ids, and the names of the special ids.

Kinds of tokenizer files live in the modules beside this one; which engine encodes is settled in ``engines``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mixle_assets.errors import InputError, RecipeError


class Encoded(NamedTuple):
    """The ids of some texts one after another, and how many belong to each.

    Texts ``"ab"``, ``""``, ``"c"`` as bytes: values ``[97 98 99]``, lengths ``[2 0 1]``.
    """

    values: NDArray[np.uint32]
    lengths: NDArray[np.int64]


class Engine(Protocol):
    """An implementation that encodes; two engines for one file must give the same ids."""

    @property
    def name(self) -> str:
        """Package that does the work, as ``tokenizer.engine`` names it."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text, without boundary, BOS or template."""


class Choice(NamedTuple):
    """The engine that was taken, and why."""

    engine: Engine
    note: str


class Vocabulary(NamedTuple):
    """What a tokenizer file says besides how to encode.

    Attributes:
        size: Highest id + 1, added tokens included; ids between may be unused.
        special: Text of each special token to its id.
        ordinary: Id of any other token by its text, or None; asked only for names in a recipe.
        names: Some texts to suggest where a name is wrong.
        unknown_id: The id for what cannot be encoded, or None: the one special id that texts may give.
        lossless: Whether every text comes back from its ids unchanged.
    """

    size: int
    special: Mapping[str, int]
    ordinary: Callable[[str], int | None]
    names: Sequence[str]
    unknown_id: int | None
    lossless: bool


def smallest_dtype(num_ids: int) -> str:
    """Return ``uint16`` if the ids below ``num_ids`` fit, that is up to 65,536 of them, else ``uint32``."""
    return "uint16" if num_ids <= 2**16 else "uint32"


class TextTokenizer:
    """A tokenizer with its boundary and BOS looked up, ready to encode.

    Attributes:
        vocabulary_size: Highest id + 1, added tokens included.
        boundary_id: The token that packing writes after each document, or None.
        bos_id: The token before each document, or None; ``encode`` does not add it.
        file_hash: Hash of the tokenizer file's bytes.
        special: Text of each special token to its id, boundary and BOS among them.
        special_strings: ``as_text`` or ``as_ids``: what their spelling inside a text becomes.
        unknown_id: The id for what cannot be encoded, or None.
        lossless: Whether every text comes back from its ids unchanged.
        reference: The engine whose ids are right by definition.
    """

    def __init__(
        self,
        *,
        vocabulary: Vocabulary,
        reference: Engine,
        choose_engine: Callable[[], Choice],
        decode: Callable[[Sequence[int]], str],
        boundary_id: int | None,
        bos_id: int | None,
        file_hash: str,
        special_strings: str,
    ) -> None:
        self.vocabulary_size = vocabulary.size
        self.special = dict(vocabulary.special)
        self.unknown_id = vocabulary.unknown_id
        self.lossless = vocabulary.lossless
        self.boundary_id = boundary_id
        self.bos_id = bos_id
        self.file_hash = file_hash
        self.special_strings = special_strings
        self.reference = reference
        self._choose_engine = choose_engine
        self._decode = decode
        named = {token_id for token_id in (boundary_id, bos_id) if token_id is not None}
        self._special_ids = sorted((set(self.special.values()) | named) - {vocabulary.unknown_id})
        # One more entry than there are ids, where all that is no id at all may point.
        self._is_special_id = np.zeros(vocabulary.size + 1, np.bool_)
        self._is_special_id[self._special_ids] = True
        self._special_pattern = _any_of(self.special)

    @property
    def engine(self) -> Engine:
        """The engine that encodes; the reference itself where no other was taken."""
        return self._choice.engine

    @property
    def engine_note(self) -> str:
        """Why this engine, for the manifest."""
        return self._choice.note

    @cached_property
    def _choice(self) -> Choice:
        # Put off until something is encoded: trying engines takes longer than reading a recipe.
        return self._choose_engine()

    def encode_flat(self, texts: Sequence[str], *, engine: Engine | None = None) -> Encoded:
        """Return the ids of every text as one array, dtype uint32, and the number that belongs to each.

        Args:
            texts: What to encode.
            engine: Another engine than the chosen one, for instance ``reference``.

        Raises:
            InputError: The engine failed, or gave a special id although special strings are text.
        """
        encoded = run_guarded(engine or self.engine, texts)
        if self.special_strings == "as_text":
            self._refuse_special_ids(encoded)
        return encoded

    def encode_batch(self, texts: Sequence[str]) -> list[NDArray[np.uint32]]:
        """Return the ids of every text, one 1-D array of dtype uint32 each.

        Raises:
            InputError: As for ``encode_flat``.
        """
        values, lengths = self.encode_flat(texts)
        return np.split(values, np.cumsum(lengths)[:-1]) if len(texts) else []

    def encode(self, text: str) -> list[int]:
        """Return the ids of one text."""
        return [int(token) for token in self.encode_flat([text]).values]

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """Return the text of some ids; special ids become their spelling."""
        return self._decode([int(token) for token in ids])

    def special_strings_in(self, text: str) -> list[str]:
        """Return the spellings of special tokens that stand in a text, each as often as it does."""
        if self._special_pattern is None:
            return []
        prefixes, pattern = self._special_pattern
        return pattern.findall(text) if any(prefix in text for prefix in prefixes) else []

    def dtype_for(self, pad_id: int | None) -> str:
        """Return the dtype that holds every id and the padding: ``uint16`` or ``uint32``.

        Raises:
            RecipeError: ``pad_id`` is negative or beyond 32 bits.
        """
        if pad_id is not None and not 0 <= pad_id < 2**32:
            raise RecipeError(f"must be from 0 to 4294967295, got {pad_id}", key="packing.pad_id")
        return smallest_dtype(max(self.vocabulary_size, 0 if pad_id is None else pad_id + 1))

    def _refuse_special_ids(self, encoded: Encoded) -> None:
        if not self._special_ids or not len(encoded.values):
            return
        # Special ids mostly stand at an end of the vocabulary: two comparisons tell that there is none.
        if encoded.values.max() < self._special_ids[0] or encoded.values.min() > self._special_ids[-1]:
            return
        is_special = self._is_special_id.take(encoded.values, mode="clip")
        if is_special.any():
            hits = np.flatnonzero(is_special)
            found = int(encoded.values[hits[0]])
            row = int(np.searchsorted(np.cumsum(encoded.lengths), hits[0], side="right"))
            name = next((text for text, token in self.special.items() if token == found), str(found))
            raise EncodingError(f"its text became the special token {name!r}, id {found}", row)


class EncodingError(InputError):
    """One of several texts could not be encoded; ``row`` is its place among them."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def run_guarded(engine: Engine, texts: Sequence[str]) -> Encoded:
    """Encode, and turn the failure of a native library into an error that says which text it was.

    Raises:
        EncodingError: The engine failed on a text.
    """
    try:
        return engine.encode(texts)
    except BaseException as error:
        if not _is_native_failure(error):
            raise
        for row, text in enumerate(texts):
            try:
                engine.encode([text])
            except BaseException as single:
                if not _is_native_failure(single):
                    raise
                shown = text[:40] + ("…" if len(text) > 40 else "")
                message = (
                    f"{engine.name} failed on its text of {len(text):,} characters ({shown!r}): {single}"
                )
                raise EncodingError(message, row) from single
        raise


def _is_native_failure(error: BaseException) -> bool:
    # A panic in a Rust library arrives as a BaseException of a class that cannot be imported.
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _any_of(special: Mapping[str, int]) -> tuple[list[str], re.Pattern[str]] | None:
    """Return short strings of which one stands in any text with a special string, and the exact pattern."""
    texts = sorted((text for text in special if text), key=lambda text: (-len(text), text))
    if not texts:
        return None
    prefixes = sorted({text[:2] for text in texts})
    return prefixes, re.compile("|".join(map(re.escape, texts)))
