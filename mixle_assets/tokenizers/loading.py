"""From the recipe's ``tokenizer`` section to one that is ready: file read, names looked up, engine chosen.

All that can be wrong with a tokenizer is found here, before any document is read.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import NamedTuple

from mixle_assets import storage
from mixle_assets.errors import RecipeError
from mixle_assets.manifest import hash_bytes
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import byte_tokens, sentencepiece_model, tiktoken_ranks
from mixle_assets.tokenizers.engines import choose_engine
from mixle_assets.tokenizers.huggingface import HuggingFaceEngine, HuggingFaceFile
from mixle_assets.tokenizers.tokenizer import EncodingError, Engine, TextTokenizer, Vocabulary


def tokenizer_path(spec: Tokenizer, base_folder: str = "") -> str | None:
    """Return the location of the tokenizer file, relative ones below ``base_folder``; None if it has none."""
    path = spec.file or spec.tiktoken or spec.sentencepiece
    if path is None or not base_folder or "://" in path or PurePosixPath(path).is_absolute():
        return path
    return storage.join(base_folder, path)


def load_tokenizer(spec: Tokenizer, base_folder: str = "", *, trained: str | None = None) -> TextTokenizer:
    """Load the tokenizer of a recipe; the last ones are kept, so that a shard after the first costs nothing.

    Args:
        spec: The recipe's ``tokenizer`` section.
        base_folder: Where a relative path starts, the recipe's folder.
        trained: Location of the ``tokenizer.json`` trained here, for ``train``.

    Raises:
        RecipeError: A name is not in the vocabulary, an engine is missing or differs, ``train`` without the
            trained file.
        InputError: The file is missing or broken.
    """
    if spec.bytes:
        return _load("bytes", "bytes", b"", byte_tokens.FILE_HASH, spec)
    path = trained if spec.train is not None else tokenizer_path(spec, base_folder)
    if path is None:
        raise RecipeError("the tokenizer has not been trained yet", key="tokenizer.train")
    content = storage.read_bytes(path)
    kind = "tiktoken" if spec.tiktoken else "sentencepiece" if spec.sentencepiece else "file"
    return _load(kind, path, content, hash_bytes(content), spec)


class _Parts(NamedTuple):
    vocabulary: Vocabulary
    reference: Engine
    decode: Callable[[Sequence[int]], str]
    encoder_json: str | None


@lru_cache(maxsize=2)
def _load(kind: str, path: str, content: bytes, file_hash: str, spec: Tokenizer) -> TextTokenizer:
    parts = _KINDS[kind](path, content, spec)
    vocabulary = parts.vocabulary
    boundary_id = _id_of(spec.boundary, "tokenizer.boundary", vocabulary)
    bos_id = _id_of(spec.bos, "tokenizer.bos", vocabulary)
    probe_names = list(vocabulary.special)[:64]
    choose = partial(choose_engine, spec.engine, parts.encoder_json, parts.reference, probe_names)
    tokenizer = TextTokenizer(
        vocabulary=vocabulary,
        reference=parts.reference,
        choose_engine=choose,
        decode=parts.decode,
        boundary_id=boundary_id,
        bos_id=bos_id,
        file_hash=file_hash,
        special_strings=spec.special_strings,
    )
    _refuse_reachable(tokenizer)
    if spec.engine != "auto":
        _ = tokenizer.engine  # one that is asked for and cannot be had is an error now, not later
    return tokenizer


def _named(spec: Tokenizer) -> list[str]:
    return [name for name in (spec.boundary, spec.bos) if name is not None]


def _load_huggingface(path: str, content: bytes, spec: Tokenizer) -> _Parts:
    file = HuggingFaceFile(content, path, _named(spec), spec.special_strings)
    return _Parts(file.vocabulary, HuggingFaceEngine(file.encoder), file.decode, file.encoder_json)


def _load_tiktoken(path: str, content: bytes, spec: Tokenizer) -> _Parts:
    ranks = tiktoken_ranks.parse_ranks(content, path)
    known = tiktoken_ranks.identify(ranks, path, spec.pattern, list(dict.fromkeys(_named(spec))))
    parsed = tiktoken_ranks.as_tokenizer_json(ranks, known)
    file = HuggingFaceFile(parsed, path, _named(spec), spec.special_strings)
    return _Parts(file.vocabulary, HuggingFaceEngine(file.encoder), file.decode, file.encoder_json)


def _load_sentencepiece(path: str, content: bytes, spec: Tokenizer) -> _Parts:
    if spec.special_strings == "as_ids":
        raise RecipeError(
            "as_ids cannot be had: SentencePiece never reads a control token from text",
            key="tokenizer.special_strings",
        )
    processor = sentencepiece_model.load_sentencepiece(content, path)
    return _Parts(
        sentencepiece_model.sentencepiece_vocabulary(processor),
        sentencepiece_model.SentencePieceEngine(processor),
        lambda ids: str(processor.DecodeIds(list(ids))),
        None,
    )


def _load_bytes(path: str, content: bytes, spec: Tokenizer) -> _Parts:
    vocabulary = byte_tokens.byte_vocabulary(spec.boundary, spec.bos)
    special = dict(vocabulary.special)
    return _Parts(
        vocabulary, byte_tokens.ByteEngine(), lambda ids: byte_tokens.decode_bytes(ids, special), None
    )


_KINDS: dict[str, Callable[[str, bytes, Tokenizer], _Parts]] = {
    "file": _load_huggingface,
    "tiktoken": _load_tiktoken,
    "sentencepiece": _load_sentencepiece,
    "bytes": _load_bytes,
}


def _id_of(name: str | None, key: str, vocabulary: Vocabulary) -> int | None:
    if name is None:
        return None
    found = vocabulary.special.get(name)
    if found is None:
        found = vocabulary.ordinary(name)
    if found is not None:
        return found
    # Special tokens first: a name that is mistyped is nearly always one of them.
    nearest = difflib.get_close_matches(name, list(vocabulary.special), n=1, cutoff=0.0) or (
        difflib.get_close_matches(name, vocabulary.names[:20_000], n=1, cutoff=0.0)
    )
    hint = f"; the nearest is {nearest[0]!r}" if nearest else ""
    raise RecipeError(f"the vocabulary has no token {name!r}{hint} (null = none)", key=key)


def _refuse_reachable(tokenizer: TextTokenizer) -> None:
    """Refuse a special token that ordinary text gives, such as a newline: it would mark no place for sure."""
    if tokenizer.special_strings != "as_text":
        return
    names = list(tokenizer.special)
    try:
        tokenizer.encode_flat(names, engine=tokenizer.reference)
    except EncodingError as error:
        raise RecipeError(
            f"the token {names[error.row]!r} cannot be told from the same text: {error.message}; "
            "name another one, or set special_strings: as_ids",
            key="tokenizer.boundary",
        ) from error
