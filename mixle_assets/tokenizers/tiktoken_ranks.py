"""Tokenizers from a tiktoken ranks file, rewritten as the ``tokenizer.json`` that gives the same ids.

A ranks file holds one ``<base64 bytes> <rank>`` a line and says neither how text is split first nor which
special tokens there are. Both are known here for published files, recognised by their content. Merges, which
the other format wants, are recovered from the ranks.
"""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.manifest import new_hasher
from mixle_assets.tokenizers.byte_level import byte_level_json, byte_spelling

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class KnownRanks(NamedTuple):
    """A published ranks file: how text is split before merging, its special tokens, its normal form."""

    name: str
    pattern: str
    special: Mapping[str, int]
    normal_form: str | None = None


_KNOWN = {
    "gpt2": KnownRanks("gpt2", GPT2, {"<|endoftext|>": 50256}),
    "p50k_base": KnownRanks("p50k_base", GPT2, {"<|endoftext|>": 50256}),
    "cl100k_base": KnownRanks(
        "cl100k_base",
        CL100K,
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": KnownRanks("o200k_base", O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "qwen": KnownRanks(
        "qwen", QWEN, {"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645}, "NFC"
    ),
}
_DIGESTS = {
    "8834c38bb564a150a464b965874df39b": "gpt2",
    "3e526140eeef3242bcbb2684fa1e857f": "p50k_base",
    "6cb8a8d8c78dc427aaf8b13afc60760c": "cl100k_base",
    "335222684a0519b879ff41a5b7b5e8b4": "o200k_base",
    "773c8ce7ca0804eeedd895a31257a965": "qwen",
}
"""Digest of the ranks (``digest_of_ranks``) to the name in ``_KNOWN``; r50k_base has the ranks of gpt2."""


def parse_ranks(content: bytes, path: str) -> dict[bytes, int]:
    """Return token bytes to rank.

    Raises:
        InputError: A line is not ``<base64> <rank>``, a rank or token occurs twice, or a byte has no rank.
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            encoded, rank = line.split()
            token = base64.b64decode(encoded, validate=True)
            value = int(rank)
        except (ValueError, binascii.Error) as error:
            raise InputError(
                f"not a line of tiktoken ranks: {line[:60]!r}", path=path, line=number
            ) from error
        if token in ranks:
            raise InputError(f"the token {token!r} has two ranks", path=path, line=number)
        ranks[token] = value
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise InputError(f"no tiktoken ranks: {len(missing)} of the 256 bytes have no rank", path=path)
    if len(set(ranks.values())) != len(ranks):
        raise InputError("two tokens share a rank", path=path)
    return ranks


def digest_of_ranks(ranks: Mapping[bytes, int]) -> str:
    """Return the digest of tokens and ranks, whatever the file's spelling."""
    hasher = new_hasher()
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        hasher.update(b"%d %d " % (rank, len(token)) + token)
    return hasher.hexdigest()


def identify(ranks: Mapping[bytes, int], path: str, pattern: str | None, named: Sequence[str]) -> KnownRanks:
    """Return how text is split and which special tokens there are.

    Args:
        ranks: What the file says.
        path: Where it lies, for errors.
        pattern: From the recipe: a regular expression, or the name of a published file split alike; None
            for a published file itself.
        named: Special tokens that the recipe names; with ranks that are not published they take the ids after
            the highest rank.

    Raises:
        RecipeError: The ranks are not of a published file, and no pattern is given.
    """
    found = _KNOWN.get(_DIGESTS.get(digest_of_ranks(ranks), ""))
    if pattern is None:
        if found is None:
            raise RecipeError(
                f"{path}: {len(ranks):,} ranks of no file known here ({', '.join(_KNOWN)}); a ranks file "
                "does not say how text is split, so give pattern: one of these names, or an expression",
                key="tokenizer.tiktoken",
            )
        return found
    alike = _KNOWN.get(pattern)
    split, form = (alike.pattern, alike.normal_form) if alike else (pattern, None)
    first = max(ranks.values()) + 1
    special = found.special if found else {name: first + place for place, name in enumerate(named)}
    return KnownRanks("from the recipe", split, special, form)


def as_tokenizer_json(ranks: Mapping[bytes, int], known: KnownRanks) -> dict[str, Any]:
    """Return the parsed ``tokenizer.json`` that gives the same ids as the ranks."""
    spelling = byte_spelling()
    texts = {token: "".join(spelling[byte] for byte in token) for token in ranks}
    return byte_level_json(
        # Special tokens inside the vocabulary, so that their numbers hold although ids between are unused.
        {texts[token]: rank for token, rank in ranks.items()} | dict(known.special),
        ((texts[left], texts[right]) for left, right in merges_of(ranks)),
        known.special,
        pattern=known.pattern,
        normal_form=known.normal_form,
        whole_first=True,  # as tiktoken does
    )


def merges_of(ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return the merges in the order of the ranks of what they make.

    The merge that makes a token is the last one when its bytes are merged by all lower ranks. Mostly one
    split alone is possible; only where several are, the merging is carried out.
    """
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) == 1:
            continue
        splits = [
            (token[:cut], token[cut:])
            for cut in range(1, len(token))
            if ranks.get(token[:cut], rank) < rank and ranks.get(token[cut:], rank) < rank
        ]
        if len(splits) > 1:
            parts = _merge_below(token, rank, ranks)
            splits = [(parts[0], parts[1])] if len(parts) == 2 else []
        merges += splits  # none: only ever found whole, by ignore_merges
    return merges


def _merge_below(token: bytes, limit: int, ranks: Mapping[bytes, int]) -> Sequence[bytes]:
    """Return the parts of ``token`` after all merges whose result ranks below ``limit``."""
    parts = [token[place : place + 1] for place in range(len(token))]
    while len(parts) > 1:
        joined = [ranks.get(left + right, limit) for left, right in itertools.pairwise(parts)]
        best = min(joined)
        if best >= limit:
            break
        place = joined.index(best)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts
