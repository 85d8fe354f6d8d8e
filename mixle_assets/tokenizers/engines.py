"""Faster encoders for a ``tokenizer.json``, taken only where they give the ids of the reference.

Each is an optional package. One is accepted per tokenizer file, after it has reproduced the reference on
every probe text; while it works, single documents are encoded again by the reference (``tokenizing``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mixle_assets.errors import RecipeError
from mixle_assets.tokenizers.pieces import PieceEngine
from mixle_assets.tokenizers.probes import probe_texts
from mixle_assets.tokenizers.tokenizer import Choice, Encoded, EncodingError, Engine, run_guarded

RENEW_EVERY = 2**30
"""Characters after which an encoder is made anew: both packages remember words without bound, if slowly (six
million new ones took 64 MB). Making one costs half a second, a fiftieth of what the characters cost."""


class _Renewed:
    """An encoder that is made anew from time to time."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._encoder = make()
        self._num_characters = 0

    def ready_for(self, texts: Sequence[str]) -> Any:
        if self._num_characters >= RENEW_EVERY:
            self._encoder = self._make()
            self._num_characters = 0
        self._num_characters += sum(map(len, texts))
        return self._encoder


class FastokensEngine:
    """The ``fastokens`` package."""

    name = "fastokens"

    def __init__(self, encoder_json: str) -> None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")
        import fastokens

        self._encoder = _Renewed(partial(fastokens.Tokenizer.from_json_str, encoder_json))

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text."""
        values, offsets = self._encoder.ready_for(texts).encode_batch_flat(list(texts))
        return Encoded(
            np.frombuffer(values, np.uint32), np.diff(np.frombuffer(offsets, np.uint64)).astype(np.int64)
        )


class GigatokenEngine:
    """The ``gigatoken`` package."""

    name = "gigatoken"

    def __init__(self, encoder_json: str) -> None:
        import gigatoken

        self._encoder = _Renewed(partial(gigatoken.Tokenizer.from_json, encoder_json))

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text."""
        ids: Any = self._encoder.ready_for(texts).encode_batch(list(texts), parallel=False)
        layout = ids.layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets)
        return Encoded(
            np.asarray(layout.content.data)[: offsets[-1]].astype(np.uint32, copy=False), np.diff(offsets)
        )


FAST_ENGINES: dict[str, Callable[[str], Engine]] = {
    "fastokens": FastokensEngine,
    "gigatoken": GigatokenEngine,
    "pieces": PieceEngine,
}
"""In the order ``auto`` tries them."""


def choose_engine(
    wanted: str,
    encoder_json: str | None,
    reference: Engine,
    names: Sequence[str],
    engines: Mapping[str, Callable[[str], Engine]] = FAST_ENGINES,
) -> Choice:
    """Return the engine to encode with.

    Args:
        wanted: ``auto``, the name of the reference, or of a fast engine.
        encoder_json: The tokenizer as a ``tokenizer.json``; None if it has no such form.
        reference: The engine whose ids are right.
        names: Spellings of special and added tokens to probe with.
        engines: The fast engines there are, in the order ``auto`` tries them.

    Raises:
        RecipeError: The engine that is asked for is unknown, not installed, cannot load the file, or gives
            other ids.
    """
    if wanted == reference.name:
        return Choice(reference, "asked for")
    if wanted == "auto":
        return _first_that_agrees(encoder_json, reference, names, engines)
    if wanted not in engines:
        known = ", ".join(["auto", reference.name, *engines])
        raise RecipeError(
            f"no engine {wanted!r} for this tokenizer; there are {known}", key="tokenizer.engine"
        )
    if encoder_json is None:
        raise RecipeError(f"{wanted} reads no such tokenizer, use auto", key="tokenizer.engine")
    try:
        engine = engines[wanted](encoder_json)
    except ImportError as error:
        raise RecipeError(
            f"{wanted} is not installed: pip install 'mixle_assets[speed]'", key="tokenizer.engine"
        ) from error
    except (ValueError, RuntimeError) as error:
        raise RecipeError(f"{wanted} cannot load this tokenizer: {error}", key="tokenizer.engine") from error
    difference = find_difference(engine, reference, names)
    if difference is not None:
        raise RecipeError(
            f"{wanted} gives other ids than {reference.name}: {difference}", key="tokenizer.engine"
        )
    return Choice(engine, "asked for, and equal on the probes")


def _first_that_agrees(
    encoder_json: str | None,
    reference: Engine,
    names: Sequence[str],
    engines: Mapping[str, Callable[[str], Engine]],
) -> Choice:
    if encoder_json is None:
        return Choice(reference, "the only one for this kind of tokenizer")
    reasons = []
    for name, make in engines.items():
        try:
            engine = make(encoder_json)
        except ImportError:
            reasons.append(f"{name} is not installed")
            continue
        except (ValueError, RuntimeError) as error:
            reasons.append(f"{name} cannot load it ({str(error).splitlines()[0]})")
            continue
        difference = find_difference(engine, reference, names)
        if difference is None:
            return Choice(engine, f"equal to {reference.name} on the probes")
        reasons.append(f"{name} differs: {difference}")
    return Choice(reference, "; ".join(reasons))


def find_difference(engine: Engine, reference: Engine, names: Sequence[str]) -> str | None:
    """Return where ``engine`` gives other ids than ``reference`` on the probe texts, or None."""
    texts = probe_texts(names)
    expected = reference.encode(texts)
    try:
        found = run_guarded(engine, texts)
    except EncodingError as error:
        return error.message
    starts = np.cumsum(expected.lengths) - expected.lengths
    found_starts = np.cumsum(found.lengths) - found.lengths
    for row, text in enumerate(texts):
        left = found.values[found_starts[row] : found_starts[row] + found.lengths[row]]
        right = expected.values[starts[row] : starts[row] + expected.lengths[row]]
        if not np.array_equal(left, right):
            return describe_difference(text, left.tolist(), right.tolist())
    return None


def describe_difference(text: str, found: Sequence[int], expected: Sequence[int]) -> str:
    """Return one line on two different encodings of a text."""
    place = next(
        (place for place, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b),
        min(len(found), len(expected)),
    )
    shown = repr(text if len(text) <= 60 else text[:60] + "…")
    return (
        f"on {shown} token {place} is {list(found[place : place + 3])}, "
        f"not {list(expected[place : place + 3])} ({len(found)} and {len(expected)} tokens)"
    )
