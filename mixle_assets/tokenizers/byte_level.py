"""The ``tokenizer.json`` of a byte-level BPE tokenizer, built from its vocabulary and merges.

Every byte has a character that stands for it, so that tokens can be written as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def byte_spelling() -> list[str]:
    """Return the character that stands for each byte.

    Printable bytes stand for themselves; the others, in order, for the characters from U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(0x100 + others.index(byte)) for byte in range(256)]


def byte_level_json(
    vocabulary: Mapping[str, int],
    merges: Iterable[tuple[str, str]],
    special: Mapping[str, int],
    *,
    pattern: str | None = None,
    normal_form: str | None = None,
    whole_first: bool = False,
) -> dict[str, Any]:
    """Return the parsed ``tokenizer.json``.

    Args:
        vocabulary: Spelled token to id, special tokens among them only if their ids leave holes.
        merges: Pairs of spelled tokens, the first merged first.
        special: Text of each special token to its id.
        pattern: How text is split before merging; None for GPT-2's, which the format knows by name.
        normal_form: ``NFC`` and the like, applied to text first.
        whole_first: Look a whole piece up before merging it.
    """
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": pattern is None,
    }
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for text, token in special.items()
        ],
        "normalizer": {"type": normal_form} if normal_form else None,
        "pre_tokenizer": level if pattern is None else {"type": "Sequence", "pretokenizers": [split, level]},
        "post_processor": None,
        "decoder": {**level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": whole_first,
            "vocab": dict(vocabulary),
            "merges": [list(pair) for pair in merges],
        },
    }
