"""Documents in memory packed into rows, as mixle 0.8.2 packs them; the yardstick of everything else here.

Plain and direct on purpose: ``plan`` and ``gather`` do the same without holding tokens, and are compared
with this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.arguments import positive, token_id, whole_number


class Documents(Protocol):
    """Whatever gives the token ids of a document when subscripted: a list, a dict, doc arrays."""

    def __getitem__(self, index: Any, /) -> Any: ...


class PackedCorpus:
    """Rows of packed tokens, and which targets in them are real.

    Attributes:
        rows: Shape (num_rows, block + 1), int64.
        loss_mask: Shape (num_rows, block), bool, one entry per target ``row[1:]``; False exactly where the
            target is padding.
        real_tokens: Tokens that are not padding, boundaries included.
        total_tokens: Cells of ``rows``.
        packing_efficiency: ``real_tokens / total_tokens``, 1.0 without rows.
    """

    __slots__ = ("loss_mask", "packing_efficiency", "real_tokens", "rows", "total_tokens")

    def __init__(
        self, rows: NDArray[Any], *, real_tokens: int, total_tokens: int, loss_mask: NDArray[Any]
    ) -> None:
        self.rows = rows
        self.loss_mask = loss_mask
        self.real_tokens = int(real_tokens)
        self.total_tokens = int(total_tokens)
        self.packing_efficiency = self.real_tokens / self.total_tokens if self.total_tokens else 1.0

    def __len__(self) -> int:
        return len(self.rows)


def pack_documents(
    documents: Documents,
    indices: Iterable[Any],
    block: int,
    *,
    pad_id: int = 0,
    boundary_id: int | None = None,
) -> PackedCorpus:
    """Pack documents into rows of ``block + 1`` tokens, padding only the last.

    With ``block=3, boundary_id=2``, documents ``[5 6 7] [8 9]`` become::

        rows       [5 6 7 2] [8 9 2 0]
        loss_mask   [1 1 1]   [1 1 0]      # one entry per target, row[1:]

    Nothing is dropped: one token left over makes a row of its own, whose targets are all padding.

    Args:
        documents: The token ids of each document, 1-D; only those that ``indices`` names are looked at.
        indices: Which documents to pack, in the order they are laid down.
        block: Targets per row, in tokens.
        pad_id: Fills the tail of the last row and nothing else.
        boundary_id: Written after each document, the last one and empty ones too; trained on like any token.

    Returns:
        The rows, which share no memory with the documents, and their mask. Callers apply the mask before
        they average a loss.

    Raises:
        TypeError: An argument or a token is not a number.
        ValueError: ``block`` is not positive; a token is not whole, or does not fit 64 bits; a document has
            more than one dimension.

    Source: the GPT-3 paper packs the same way, arXiv:2005.14165, appendix B.
    """
    block = positive("block", block)
    pad_id = token_id("pad_id", pad_id)
    if boundary_id is not None:
        boundary_id = whole_number("boundary_id", boundary_id)

    pieces: list[NDArray[np.int64]] = []
    for index in indices:
        tokens = document_tokens(documents, index)
        if tokens.size:
            pieces.append(tokens)
        if boundary_id is not None:
            # Its range is checked here, not above: mixle takes any boundary where there is no document.
            pieces.append(np.array([token_id("boundary_id", boundary_id)], np.int64))

    width = block + 1
    real_tokens = sum(map(len, pieces))
    num_rows = -(-real_tokens // width)
    rows = np.full((num_rows, width), pad_id, np.int64)
    if pieces:
        np.concatenate(pieces, out=rows.reshape(-1)[:real_tokens])
    # From positions, never from `== pad_id`: a document may hold that id.
    loss_mask = np.arange(num_rows * width).reshape(num_rows, width)[:, 1:] < real_tokens
    return PackedCorpus(
        rows, real_tokens=real_tokens, total_tokens=rows.size, loss_mask=np.ascontiguousarray(loss_mask)
    )


def document_tokens(documents: Documents, index: Any) -> NDArray[np.int64]:
    """Return the tokens of one document as int64, checked.

    Raises:
        TypeError: Flags, text, objects: anything that is not numbers.
        ValueError: Tokens with a fraction, infinite, or beyond 64 bits; more than one dimension.
    """
    tokens = np.asarray(documents[index])
    if tokens.ndim > 1:
        raise ValueError(f"documents[{index}] must be 1-D, got shape {tokens.shape}")
    tokens = np.atleast_1d(tokens)
    if tokens.size == 0:
        return np.empty(0, np.int64)
    kind = tokens.dtype.kind
    if kind not in "iuf":
        raise TypeError(f"documents[{index}] must hold token ids, got dtype {tokens.dtype}")
    if kind == "u" and tokens.dtype.itemsize == 8 and int(tokens.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"documents[{index}] holds {int(tokens.max())}, which does not fit in 64 bits")
    if kind == "f":
        wrong = ~np.isfinite(tokens) | (np.floor(tokens) != tokens)
        wide = tokens.astype(np.longdouble)  # 2**63 is beyond a float16
        wrong |= ~((wide >= -(2.0**63)) & (wide < 2.0**63))
        if wrong.any():
            raise ValueError(
                f"documents[{index}] holds {tokens[wrong][0]}, which is no whole number of 64 bits"
            )
    return tokens.astype(np.int64, copy=False)
