"""An encoder of our own: split with ``re``, look every piece up, let the reference encode only new ones.

Byte-level BPE never looks across the pieces a text is split into, and real text repeats its pieces: nine in
ten were seen before. Taken only for splits known by name, and only for texts of settled characters; other
texts go to the reference whole. Needs no package beyond the core's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from mixle_assets.tokenizers.huggingface import HuggingFaceEngine
from mixle_assets.tokenizers.piece_memory import PieceMemory
from mixle_assets.tokenizers.tiktoken_ranks import CL100K, GPT2, O200K, QWEN
from mixle_assets.tokenizers.tokenizer import Encoded

MAX_PIECES = 2**18
"""Pieces that are remembered; then all but the most used quarter are forgotten, so that memory is bounded."""

_WHITE_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPLITS = (GPT2, CL100K, QWEN, O200K)


class PieceEngine:
    """Encodes byte-level BPE by looking pieces up.

    Args:
        encoder_json: The tokenizer as the other engines get it.

    Raises:
        ValueError: The tokenizer is not of the kind that can be done piece by piece.
    """

    name = "pieces"

    def __init__(self, encoder_json: str) -> None:
        parsed = json.loads(encoder_json)
        self._split = _python_split(_split_of(parsed))
        self._normal_form = _normal_form_of(parsed)
        self._added = _added_tokens_of(parsed)
        contents = sorted(self._added, key=lambda text: (-len(text), text))
        self._added_pattern = re.compile(f"({'|'.join(map(re.escape, contents))})") if contents else None
        self._added_starts = sorted({text[:2] for text in contents})
        self._settled = _settled_text()
        encoder = tokenizers.Tokenizer.from_str(encoder_json)
        self._whole = HuggingFaceEngine(encoder)
        self._model = encoder.model
        self._memory = PieceMemory(self._added)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text."""
        pieces: list[str] = []
        ends: list[int] = []
        elsewhere: list[int] = []
        for row, text in enumerate(texts):
            if self._is_settled(text):
                self._append_pieces(text, pieces)
            else:
                elsewhere.append(row)
            ends.append(len(pieces))
        values, piece_lengths = self._encode_pieces(pieces)
        totals = np.concatenate([[0], np.cumsum(piece_lengths)])
        lengths = np.diff(totals[np.array([0, *ends])])
        encoded = Encoded(values, lengths)
        return self._insert(encoded, elsewhere, texts) if elsewhere else encoded

    def _is_settled(self, text: str) -> bool:
        if text.isascii():
            return True
        return self._settled.fullmatch(text) is not None and (
            self._normal_form is None or unicodedata.is_normalized(self._normal_form, text)
        )

    def _append_pieces(self, text: str, pieces: list[str]) -> None:
        if self._added_pattern is None or not any(start in text for start in self._added_starts):
            pieces += self._split.findall(text)
            return
        for number, part in enumerate(self._added_pattern.split(text)):
            if number % 2:
                pieces.append(part)
            else:
                pieces += self._split.findall(part)

    def _encode_pieces(self, pieces: list[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if len(self._memory) > MAX_PIECES or self._memory.num_values > 8 * MAX_PIECES:
            self._memory = self._memory.most_used(MAX_PIECES // 4)
        memory = self._memory
        places = np.fromiter(map(memory.__getitem__, pieces), np.int64, len(pieces))
        if memory.new:
            memory.learn(self._model)
        return memory.gather(places)

    def _insert(self, encoded: Encoded, rows: list[int], texts: Sequence[str]) -> Encoded:
        """Put the ids of the texts that were encoded whole where they belong."""
        whole = self._whole.encode([texts[row] for row in rows])
        parts = np.split(encoded.values, np.cumsum(encoded.lengths)[:-1])
        for row, part in zip(rows, np.split(whole.values, np.cumsum(whole.lengths)[:-1]), strict=True):
            parts[row] = part
        lengths = encoded.lengths.copy()
        lengths[rows] = whole.lengths
        return Encoded(np.concatenate(parts), lengths)


def _split_of(parsed: dict[str, Any]) -> str:
    """Return the regular expression that splits the text, if the file does that and nothing else."""
    model, steps = parsed["model"], parsed.get("pre_tokenizer") or {}
    if model.get("type", "BPE") != "BPE" or model.get("continuing_subword_prefix") or model.get("unk_token"):
        raise ValueError("not byte-level BPE")
    steps = steps.get("pretokenizers", [steps])
    *before, level = steps
    if level.get("type") != "ByteLevel" or level.get("add_prefix_space"):
        raise ValueError("not split into pieces by ByteLevel")
    if not before and level.get("use_regex", True):
        return GPT2
    if len(before) == 1 and before[0].get("type") == "Split" and not level.get("use_regex", True):
        pattern = before[0]["pattern"].get("Regex")
        if pattern in _SPLITS and before[0]["behavior"] == "Isolated" and not before[0].get("invert"):
            return str(pattern)
    raise ValueError("split by an expression that is not a known one")


def _normal_form_of(parsed: dict[str, Any]) -> Any:
    kind = (parsed.get("normalizer") or {}).get("type")
    if kind not in (None, "NFC", "NFKC"):
        raise ValueError(f"normalized by {kind}")
    return kind


def _added_tokens_of(parsed: dict[str, Any]) -> dict[str, int]:
    """Return the added tokens that a text can hold, if a single pass finds them as the library would."""
    # Hidden ones begin with a character beyond the settled ones.
    added = [
        token for token in parsed.get("added_tokens") or [] if _settled_text().fullmatch(token["content"])
    ]
    if len({token.get("normalized", True) for token in added}) > 1:
        raise ValueError("added tokens found both before and after normalizing")
    if any(token.get(key) for token in added for key in ("lstrip", "rstrip", "single_word")):
        raise ValueError("added tokens that take what is beside them")
    return {token["content"]: token["id"] for token in added}


def _python_split(pattern: str) -> re.Pattern[str]:
    r"""Return a split for ``re``, which knows neither ``\p{L}`` nor the white space other engines know."""
    pattern = pattern.replace(r"(?!\S)", f"(?![^{_WHITE_SPACE}])")
    parts = re.split(r"(\[[^\]]*\])", pattern)
    return re.compile(
        "".join(
            _spell_out(part) if number % 2 else _spell_out(part, "[", "]")
            for number, part in enumerate(parts)
        )
    )


def _spell_out(part: str, before: str = "", after: str = "") -> str:
    part = re.sub(r"\\p\{(\w+)\}", lambda found: f"{before}{_characters(found[1])}{after}", part)
    return part.replace(r"\s", f"{before}{_WHITE_SPACE}{after}")


@cache
def _settled_text() -> re.Pattern[str]:
    """Return what matches texts of characters whose category has not changed since Unicode 3.2, in the BMP.

    Libraries bring their own tables; on these characters all agree.
    """
    return re.compile(f"[{_ranges(code for code in range(0x10000) if _is_settled_character(chr(code)))}]*")


@cache
def _characters(category: str) -> str:
    """Return the settled characters of a category, or of all that begin with it, as ranges for ``re``."""
    return _ranges(
        code
        for code in range(0x10000)
        if unicodedata.category(chr(code)).startswith(category) and _is_settled_character(chr(code))
    )


def _is_settled_character(character: str) -> bool:
    then, now = unicodedata.ucd_3_2_0.category(character), unicodedata.category(character)
    if now in ("Cn", "Cs", "Co"):
        return False
    # That a pilcrow was a symbol and is punctuation now, no split can tell.
    return then == now or (then[0] in "PS" and now[0] in "PS")


def _ranges(codes: Iterable[int]) -> str:
    found: list[list[int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in found)
