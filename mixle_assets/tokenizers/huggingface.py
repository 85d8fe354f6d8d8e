"""Tokenizers from a Hugging Face ``tokenizer.json``, and the rewriting that makes special strings plain text.

The file's own template, padding and truncation are never applied: which special tokens surround a document is
said by the recipe alone, so that none is doubled or missing. Fast engines are given the same rewritten file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import tokenizers

from mixle_assets.errors import InputError
from mixle_assets.tokenizers.tokenizer import Encoded, Vocabulary

HIDDEN = "\U0010ffff\ufdd0hidden:"
"""Put before the spelling of a special token so that no text matches it: noncharacters occur in no text."""


class HuggingFaceFile:
    """A parsed ``tokenizer.json``.

    Args:
        content: The file's bytes, or what they parse to.
        path: Where they came from, for errors.
        named: Texts of tokens that the recipe names (boundary, BOS): special even where the file does not
            say so, since a text must not give them.
        special_strings: ``as_text`` hides special tokens from the encoder, ``as_ids`` leaves them.

    Raises:
        InputError: Not such a file, or one whose ids contradict each other.
    """

    def __init__(
        self, content: bytes | dict[str, Any], path: str, named: Sequence[str], special_strings: str
    ) -> None:
        self._path = path
        try:
            self._parsed: dict[str, Any] = content if isinstance(content, dict) else json.loads(content)
            self._added: list[dict[str, Any]] = self._parsed.get("added_tokens") or []
            self._model: dict[str, Any] = self._parsed["model"]
            self._ids = _ids_of(self._model)
            self.special = {
                token["content"]: token["id"]
                for token in self._added
                if token.get("special") or token["content"] in named
            }
            self.special |= {name: self._ids[name] for name in named if name in self._ids}
            self.encoder_json = self._encoder_json(special_strings)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"not a tokenizer.json: {error!r}", path=path) from error
        self.encoder = self._load(self.encoder_json)
        self._check_added_ids()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Size, special tokens and names; the size counts added tokens and holes between ids."""
        added = {token["content"]: token["id"] for token in self._added}
        ids = self._ids | added
        unknown = self._model.get("unk_token")
        unknown_id = self._model.get("unk_id") if unknown is None else ids.get(unknown)
        return Vocabulary(
            size=max(ids.values(), default=-1) + 1,
            special=self.special,
            ordinary=ids.get,
            names=list(dict.fromkeys([*self.special, *added, *ids])),
            unknown_id=unknown_id,
            lossless=_is_lossless(self._parsed) and self._gives_added_tokens_back(),
        )

    def _gives_added_tokens_back(self) -> bool:
        # A decoder of bytes takes an added token such as "é" for a spelled byte.
        return all(self.decode([token["id"]]) == token["content"] for token in self._added)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of some ids; special ids become their spelling."""
        return str(self._decoder.decode(list(ids), skip_special_tokens=False))

    @cached_property
    def _decoder(self) -> tokenizers.Tokenizer:
        return self._load(json.dumps(self._parsed))

    def _load(self, text: str) -> tokenizers.Tokenizer:
        try:
            return tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises the bare class
            raise InputError(f"not a tokenizer.json: {error}", path=self._path) from error

    def _check_added_ids(self) -> None:
        # The library numbers added tokens itself and only warns where the file says otherwise.
        for token in self._added:
            text = token["content"]
            found = (self._decoder if text in self.special else self.encoder).token_to_id(text)
            if found != token["id"]:
                raise InputError(
                    f"the added token {text!r} has the id {token['id']} in the file, but {found} once loaded",
                    path=self._path,
                )

    def _encoder_json(self, special_strings: str) -> str:
        """Return the file as the encoder gets it: without template, padding, truncation and dropout."""
        parsed = {**self._parsed, "post_processor": None, "padding": None, "truncation": None}
        parsed["model"] = model = {**self._model}
        if "dropout" in model:
            model["dropout"] = None  # it would give other ids each time
        _fill_holes(model, self._ids)
        if special_strings == "as_text":
            # What the recipe names beyond the added tokens stays: hiding an ordinary token would change the
            # ids of ordinary text, and loading refuses one that text can give. So with single characters.
            listed = {token["content"] for token in self._added}
            hidden = [text for text in self.special if text in listed and len(text) > 1]
            _hide(model, hidden, self._ids)
            # A token the model knows itself can leave the list; the others must stay, since their ids
            # follow from their place in it.
            parsed["added_tokens"] = [
                {**token, "content": HIDDEN + token["content"], "normalized": False}
                if token["content"] in hidden
                else token
                for token in self._added
                if token["content"] not in hidden or token["content"] not in self._ids
            ]
        return json.dumps(parsed, ensure_ascii=False)


class HuggingFaceEngine:
    """The ``tokenizers`` library: the reference for every ``tokenizer.json``."""

    name = "tokenizers"

    def __init__(self, encoder: tokenizers.Tokenizer) -> None:
        # One thread here: the engine above runs a process for every shard.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of every text."""
        encodings = self._encoder.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [encoding.ids for encoding in encodings]
        lengths = np.array([len(tokens) for tokens in ids], np.int64)
        values = np.empty(int(lengths.sum()), np.uint32)
        stop = np.cumsum(lengths).tolist()
        for tokens, end in zip(ids, stop, strict=True):
            values[end - len(tokens) : end] = tokens
        return Encoded(values, lengths)


def _ids_of(model: dict[str, Any]) -> dict[str, int]:
    """Return token to id for any kind of model; a Unigram's ids are places in its list."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, dict):
        return vocabulary
    return {piece: number for number, (piece, _) in enumerate(vocabulary)}


def _fill_holes(model: dict[str, Any], ids: dict[str, int]) -> None:
    """Name unused ids between used ones, since some engines number what is left without gaps."""
    if not isinstance(model["vocab"], dict):
        return
    used = set(ids.values())
    unused = [token for token in range(max(used, default=-1)) if token not in used]
    if unused:
        model["vocab"] = {**model["vocab"], **{f"{HIDDEN}unused {token}": token for token in unused}}


def _hide(model: dict[str, Any], special: Sequence[str], ids: dict[str, int]) -> None:
    """Make the special tokens that the model itself knows unreachable from text, their ids kept.

    A model can build ``</s>`` from ``</`` and ``s>``, or match it whole: then the spelling in a text would
    become the id.
    """
    inside = {text for text in special if text in ids}
    if not inside:
        return
    if "merges" in model:
        model["merges"] = [
            merge
            for merge, (left, right) in zip(model["merges"], map(_pair, model["merges"]), strict=True)
            if left not in inside and right not in inside and left + right not in inside
        ]
    hidden = inside - {model.get("unk_token")}
    if isinstance(model["vocab"], dict):
        model["vocab"] = {
            HIDDEN + text if text in hidden else text: token for text, token in model["vocab"].items()
        }
    else:
        model["vocab"] = [
            [HIDDEN + piece if piece in inside else piece, score] for piece, score in model["vocab"]
        ]


def _pair(merge: str | list[str]) -> list[str]:
    return merge.split(" ") if isinstance(merge, str) else merge


def _is_lossless(parsed: dict[str, Any]) -> bool:
    """Return whether this is byte-level BPE over all 256 bytes with nothing that changes the text first."""
    model = parsed["model"]
    steps = _steps(parsed.get("pre_tokenizer"), "pretokenizers")
    byte_level = [step for step in steps if step["type"] == "ByteLevel"]
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    return (
        model.get("type", "BPE") == "BPE"
        and not _steps(parsed.get("normalizer"), "normalizers")
        and len(byte_level) == 1
        and not byte_level[0].get("add_prefix_space")
        and all(step["type"] in ("ByteLevel", "Digits", "Split") for step in steps)
        and all(step.get("behavior") != "Removed" for step in steps)
        and [step["type"] for step in _steps(parsed.get("decoder"), "decoders")] == ["ByteLevel"]
        and not model.get("continuing_subword_prefix")
        and not model.get("end_of_word_suffix")
        and all(character in model["vocab"] for character in alphabet)
        and not any(token.get("lstrip") or token.get("rstrip") for token in parsed.get("added_tokens") or [])
    )


def _steps(part: dict[str, Any] | None, inside: str) -> list[dict[str, Any]]:
    if part is None:
        return []
    if part["type"] == "Sequence":
        return [step for item in part[inside] for step in _steps(item, inside)]
    return [part]
