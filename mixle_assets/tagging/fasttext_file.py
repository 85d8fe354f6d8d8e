r"""A fastText model file: what stands in its head, what it will take in memory, and the loaded model.

The head and the dictionary are read without loading the model, so a recipe that names a label the model does
not have, or a model too large for its workers, is refused in milliseconds. Which taggers there are stands in
``classifiers``. The format is fastText's own (version 11 and 12, little-endian)::

    int32 magic, version | int32 x 12, double: training arguments | int32 size, words, labels
    int64 tokens, pruned | size x (name "\0" int64 count, int8 kind: 0 word, 1 label) | matrices
"""

from __future__ import annotations

import functools
import importlib.util
import mmap
import struct
from typing import Any, NamedTuple

from mixle_assets import storage
from mixle_assets.errors import InputError

PREFIX = "__label__"
_MAGIC = 793712314
_SUPERVISED = 3
_HEAD = struct.Struct("<2i12id")
_COUNTS = struct.Struct("<3i2q")
_ENTRY_TAIL_IN_BYTES = 9
_IS_LABEL = 1
# A word keeps its n-grams; measured with those of 2 to 5 characters of 190,000 words: 370 bytes a word.
_WORD_IN_BYTES = 160
_WORD_WITH_NGRAMS_IN_BYTES = 400


class ModelHead(NamedTuple):
    """What is known of a model before it is loaded.

    Attributes:
        labels: The labels without ``__label__``, in the order of the file.
        memory_in_bytes: What it will take once it is loaded: file and dictionary.
    """

    labels: tuple[str, ...]
    memory_in_bytes: int


def read_head(path: str) -> ModelHead:
    """Return labels and size of a model; read again only when the file changed.

    Raises:
        InputError: There is no such file, or it is no supervised fastText model.
    """
    stat = storage.stat(path)
    if stat is None:
        raise InputError("there is no such file", path=path)
    return _read_head(path, stat)


@functools.lru_cache(maxsize=64)
def _read_head(path: str, stat: Any) -> ModelHead:
    if stat.size_in_bytes < _HEAD.size + _COUNTS.size:
        raise InputError(f"no fastText model: it has {stat.size_in_bytes} bytes", path=path)
    with (
        storage.local_path(path).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as stored,
    ):
        magic, version, *arguments = _HEAD.unpack_from(stored)
        if magic != _MAGIC or version not in (11, 12):
            raise InputError(
                f"no fastText model of version 11 or 12: it begins with {stored[:8]!r}", path=path
            )
        kind, longest_ngram = arguments[7], arguments[10]
        if kind != _SUPERVISED:
            raise InputError("a fastText model of word vectors: it has no labels to predict", path=path)
        size, num_words, num_labels, _, num_pruned = _COUNTS.unpack_from(stored, _HEAD.size)
        labels = []
        position = _HEAD.size + _COUNTS.size
        for _ in range(size):
            end = stored.find(b"\0", position)
            if end < 0 or end + _ENTRY_TAIL_IN_BYTES >= len(stored):
                raise InputError("truncated: the fastText dictionary has no end", path=path)
            if stored[end + _ENTRY_TAIL_IN_BYTES] == _IS_LABEL:
                labels.append(name_of(stored[position:end].decode()))
            position = end + _ENTRY_TAIL_IN_BYTES + 1
        expected = _end_of_matrices(stored, position + 8 * max(num_pruned, 0))
        if expected != len(stored):
            what = "truncated" if expected > len(stored) else "damaged"
            raise InputError(f"{what}: {len(stored):,} bytes, but its parts reach to {expected:,}", path=path)
    if len(labels) != num_labels:
        raise InputError(f"damaged: {len(labels)} labels where {num_labels} were promised", path=path)
    word_in_bytes = _WORD_WITH_NGRAMS_IN_BYTES if longest_ngram > 0 else _WORD_IN_BYTES
    return ModelHead(tuple(labels), stat.size_in_bytes + word_in_bytes * num_words)


def _end_of_matrices(stored: mmap.mmap, position: int) -> int:
    """Return where the file should end; fastText itself takes what is missing for zeros, and says nothing.

    Each matrix: bool quantized, then ``int64 rows, columns | float32 x rows x columns``, or quantized.
    """
    try:
        input_is_quantized = stored[position]
        position = _end_of_matrix(stored, position + 1, input_is_quantized)
        output_is_quantized = input_is_quantized and stored[position]
        return _end_of_matrix(stored, position + 1, output_is_quantized)
    except (struct.error, IndexError):
        return max(position, len(stored) + 1)


def _end_of_matrix(stored: mmap.mmap, position: int, is_quantized: int) -> int:
    if not is_quantized:
        rows, columns = struct.unpack_from("<2q", stored, position)
        return int(position + 16 + 4 * rows * columns)
    has_norms = stored[position]
    rows, _, size_of_codes = struct.unpack_from("<2qi", stored, position + 1)
    position = _end_of_centroids(stored, position + 21 + size_of_codes)
    return _end_of_centroids(stored, position + rows) if has_norms else position


def _end_of_centroids(stored: mmap.mmap, position: int) -> int:
    """Skip ``int32 dimension and three more | float32 x dimension x 256``."""
    (dimension,) = struct.unpack_from("<i", stored, position)
    return int(position + 16 + 4 * 256 * dimension)


def name_of(label: str) -> str:
    """Return a label without ``__label__``."""
    return label.replace(PREFIX, "")


def is_installed() -> bool:
    """Return whether one of the packages is there that bring fastText along."""
    return importlib.util.find_spec("fasttext_pybind") is not None


def load_model(path: str) -> Any:
    """Return the loaded model: ``predict(line, k, threshold, "strict") -> [(score, label), ...]``.

    This is the compiled class that all of fastText's packages share. The Python one around it fails with
    NumPy 2 in some of them.

    Raises:
        InputError: The file is cut or damaged.
    """
    import fasttext_pybind

    model = fasttext_pybind.fasttext()
    try:
        model.loadModel(str(storage.local_path(path)))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise InputError(f"not a fastText model that can be loaded: {error}", path=path) from error
    return model
