"""Taggers that count words as tokenizers of several kinds cut them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from mixle_assets.tagging.registry import tagger
from mixle_assets.tagging.views import DocumentView, Measures

_RUN = re.compile("w+|o+")
_ASCII_RUN = re.compile(r"[A-Za-z0-9_]+|[^A-Za-z0-9_ \t-\r]+")
_WORD_CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc")
# Alphabetic by property though symbols by category, and the two joiners.
_OTHER_WORD_CHARACTERS = (
    range(0x24B6, 0x24EA),
    range(0x1F130, 0x1F14A),
    range(0x1F150, 0x1F16A),
    range(0x1F170, 0x1F18A),
    range(0x200C, 0x200E),
)


@tagger("whitespace_tokenizer_v1", measures=["length"])
def count_runs(document: DocumentView) -> Measures:
    """Runs of word characters and runs of marks, plus one: the pieces a split at them leaves, as in Dolma."""
    return {"length": num_pieces(document.text)}


@tagger("whitespace_tokenizer_with_paragraphs_v1", measures=["paragraph", "document"])
def count_runs_of_paragraphs(document: DocumentView) -> Measures:
    """As ``whitespace_tokenizer_v1`` for each filled paragraph, one too many each; and their sum."""
    return measure_paragraphs(document, num_pieces)


@tagger("olmo_pretokenizer_v1", measures=["length"])
def count_pretokens(document: DocumentView) -> Measures:
    """Pieces into which OLMo's pre-tokenizer cuts: marks and digits alone, the rest as GPT-2."""
    return {"length": _num_pretokens(document.text)}


@tagger("olmo_pretokenizer_with_paragraphs_v1", measures=["paragraph", "document"])
def count_pretokens_of_paragraphs(document: DocumentView) -> Measures:
    """As ``olmo_pretokenizer_v1`` for each filled paragraph, and their sum."""
    return measure_paragraphs(document, _num_pretokens)


def measure_paragraphs(document: DocumentView, count: Callable[[str], int]) -> Measures:
    """Return a count of each filled paragraph, absent if there is none, and the sum of them."""
    spans = [[start, end, count(text)] for start, end, text in document.filled_paragraphs]
    total = sum(score for _, _, score in spans)
    return {**({"paragraph": spans} if spans else {}), "document": total}


def num_pieces(text: str) -> int:
    """Return how many pieces a split at every run of word characters or marks leaves: the runs plus one."""
    if text.isascii():
        return len(_ASCII_RUN.findall(text)) + 1
    return len(_RUN.findall(text.translate(_KINDS))) + 1


class _Kinds(dict[int, str]):
    r"""Code point to ``w`` word character, ``s`` white space, ``o`` other, by Unicode's properties.

    Python's own ``\w`` and ``\s`` differ: they leave marks and joiners out, and take U+001C to U+001F in.
    """

    def __missing__(self, point: int) -> str:
        character = chr(point)
        if character.isspace() and not 0x1C <= point <= 0x1F:
            kind = "s"
        elif unicodedata.category(character) in _WORD_CATEGORIES or any(
            point in block for block in _OTHER_WORD_CHARACTERS
        ):
            kind = "w"
        else:
            kind = "o"
        self[point] = kind
        return kind


_KINDS = _Kinds()


def _num_pretokens(text: str) -> int:
    return len(_pretokenizer().pre_tokenize_str(text))


@functools.cache
def _pretokenizer() -> Any:
    from tokenizers import Regex, pre_tokenizers

    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?\p{P}"), "isolated"),
            pre_tokenizers.Split(Regex(r" ?\d"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
