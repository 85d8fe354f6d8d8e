"""Digests, and the manifest that stands beside every output and is written last.

Two kinds of hash: a *content digest* says what an output holds (shard key, rows or tokens, counts) and is
equal on any machine; a *file hash* says which bytes are stored. Both are XXH3 with 128 bits: they find
accidents, at memory speed; they are no defence against somebody who forges a file.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
import xxhash

from mixle_assets.records import Counts, FileStamp

MANIFEST_SUFFIX = ".manifest.json"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The commit mark of one output.

    Attributes:
        stage: Name of the asset, such as ``mixed_shards``.
        key: What was built, such as ``prose/0000``.
        content_digest: Digest of key, rows and counts; the asset's data version.
        fingerprint: Digest of the part of the recipe that decides this output's content.
        code_version: Version of the stage's code.
        inputs: Name to stamp of all that was read.
        counts: What went in, out, and why the rest did not.
        file_hash: Hash of the stored bytes.
        size_in_bytes: Stored size.
        details: Statistics of the stage, plain JSON.
    """

    stage: str
    key: str
    content_digest: str
    fingerprint: str
    code_version: str
    inputs: dict[str, FileStamp]
    counts: Counts
    file_hash: str
    size_in_bytes: int
    details: dict[str, Any] = msgspec.field(default_factory=dict)


def hash_bytes(content: bytes) -> str:
    """Return the 32 hex digits of the XXH3-128 hash of ``content``."""
    return xxhash.xxh3_128_hexdigest(content)


def new_hasher() -> xxhash.xxh3_128:
    """Return a running XXH3-128 hasher: ``update(bytes)``, ``hexdigest()``."""
    return xxhash.xxh3_128()


def digest_of(value: Any) -> str:
    """Return the digest of a JSON value in canonical form: keys sorted, no spaces, UTF-8.

    Raises:
        TypeError: The value is not plain JSON.
    """
    return hash_bytes(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def content_digest(key: str, rows_digest: str, counts: Counts) -> str:
    """Return the digest of what an output holds: its key, its rows, how many came in and how many out.

    Reasons and notes are left out: the same rule in other words, or a blank line more, changes no row.
    """
    return digest_of([key, rows_digest, counts.num_in, counts.num_out])


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as indented JSON with sorted keys and a last newline."""
    return orjson.dumps(
        msgspec.to_builtins(manifest),
        option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    )


def decode_manifest(content: bytes) -> Manifest:
    """Return the manifest that ``content`` holds.

    Raises:
        msgspec.ValidationError: The content is not a manifest, for instance cut short.
        msgspec.DecodeError: The content is not JSON.
    """
    return msgspec.json.decode(content, type=Manifest)
