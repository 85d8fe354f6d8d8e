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

from mixle_assets.tokenizers.byte_level import byte_spelling
from mixle_assets.tokenizers.huggingface import HuggingFaceEngine
from mixle_assets.tokenizers.tiktoken_ranks import CL100K, GPT2, O200K, QWEN
from mixle_assets.tokenizers.tokenizer import Encoded

MAX_PIECES = 2**17
"""Pieces that are remembered; then all but the most used quarter are forgotten, so that memory is bounded."""
MAX_PIECE_IN_CHARACTERS = 64

_WHITE_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPELLING = dict(enumerate(byte_spelling()))
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
        self._codes: dict[str, int] = {}
        self._values: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._starts: NDArray[np.int64] = np.empty(0, np.int64)
        self._lengths: NDArray[np.int64] = np.empty(0, np.int64)
        self._uses: NDArray[np.int64] = np.empty(0, np.int64)
        self._begin()

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
        new = self._unknown(pieces)
        if len(self._codes) + len(new) > MAX_PIECES or len(self._values) > 8 * MAX_PIECES:
            self._forget_the_rare()
            new = self._unknown(pieces)
        if new:
            self._learn(new)
        places = np.fromiter(map(self._codes.__getitem__, pieces), np.int64, len(pieces))
        self._uses += np.bincount(places, minlength=len(self._uses))
        lengths = self._lengths[places]
        # Token t of piece p lies at starts[p] + t; written for all pieces at once.
        total = int(lengths.sum())
        begins = np.cumsum(lengths) - lengths
        values = self._values[np.repeat(self._starts[places] - begins, lengths) + np.arange(total)]
        for piece in new:
            if len(piece) > MAX_PIECE_IN_CHARACTERS:
                del self._codes[piece]  # hardly ever seen again; its ids go when the rare are forgotten
        return values, lengths

    def _unknown(self, pieces: list[str]) -> list[str]:
        codes = self._codes
        return [piece for piece in dict.fromkeys(pieces) if piece not in codes]

    def _learn(self, new: list[str]) -> None:
        first = len(self._lengths)
        ids = [[token.id for token in self._model.tokenize(_spell(piece))] for piece in new]
        lengths = np.array([len(tokens) for tokens in ids], np.int64)
        values = np.fromiter((token for tokens in ids for token in tokens), np.uint32, int(lengths.sum()))
        self._append(Encoded(values, lengths))
        self._codes.update(zip(new, range(first, first + len(new)), strict=True))

    def _append(self, encoded: Encoded) -> None:
        starts = len(self._values) + np.cumsum(encoded.lengths) - encoded.lengths
        self._values = np.concatenate([self._values, encoded.values])
        self._starts = np.concatenate([self._starts, starts])
        self._lengths = np.concatenate([self._lengths, encoded.lengths])
        self._uses = np.concatenate([self._uses, np.zeros(len(encoded.lengths), np.int64)])

    def _forget_the_rare(self) -> None:
        """Keep added tokens and the quarter that was used most."""
        most_used = np.argsort(-self._uses, kind="stable")[: MAX_PIECES // 4]
        keep = np.zeros(len(self._uses), np.bool_)
        keep[most_used] = True
        kept = [
            (piece, code) for piece, code in self._codes.items() if keep[code] and piece not in self._added
        ]
        values, starts, lengths = self._values, self._starts, self._lengths
        self._begin()
        codes = np.array([code for _, code in kept], np.int64)
        ids = [
            values[start : start + length]
            for start, length in zip(starts[codes], lengths[codes], strict=True)
        ]
        self._codes.update((piece, len(self._added) + place) for place, (piece, _) in enumerate(kept))
        self._append(Encoded(np.concatenate([self._values[:0], *ids]), lengths[codes]))

    def _begin(self) -> None:
        self._values = np.empty(0, np.uint32)
        self._starts = self._lengths = self._uses = np.empty(0, np.int64)
        self._codes = {text: place for place, text in enumerate(self._added)}
        added = np.array(list(self._added.values()), np.uint32)
        self._append(Encoded(added, np.ones(len(added), np.int64)))

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


def _spell(piece: str) -> str:
    """Return a piece as the model knows it, a character for each byte."""
    return piece.encode().decode("latin-1").translate(_SPELLING)


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
