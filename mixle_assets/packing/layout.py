"""An epoch laid out: the order of its documents, the plan of each rank, and the deal of rows to ranks.

This is where order, plan and deal meet; tokens and files are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixle_assets.packing.curricula import PoolFacts
from mixle_assets.packing.dealing import Deal, deal_documents, deal_rows
from mixle_assets.packing.fit import fit_documents
from mixle_assets.packing.order import ORDERS, SequenceSelector
from mixle_assets.packing.plan import CHUNK, RowPlan, concatenate
from mixle_assets.packing.pool import number_dtype
from mixle_assets.packing.selectors import RecipeSelector
from mixle_assets.packing.settings import PackingSettings


class EpochLayout:
    """Which token stands where in an epoch, on all ranks; parts are worked out when they are asked for.

    Attributes:
        settings: What decides it, with the documents.
        documents: Document numbers in the order of the epoch, all ranks, shape (n,).
        lengths: Tokens of every document there is, by document number.
    """

    def __init__(
        self, settings: PackingSettings, documents: NDArray[Any], lengths: NDArray[np.int64]
    ) -> None:
        self.settings = settings
        self.documents = documents
        self.lengths = lengths
        self._plans: dict[int, RowPlan] = {}

    @property
    def num_plans(self) -> int:
        """Packings there are: one for each rank, or one in all with residency ``rows``."""
        return self.settings.world_size if self.settings.residency == "documents" else 1

    def plan_of(self, rank: int) -> RowPlan:
        """Return the plan that the rank's row numbers count in."""
        number = rank if self.num_plans > 1 else 0
        if number not in self._plans:
            self._plans[number] = self._make_plan(number)
        return self._plans[number]

    def documents_of(self, rank: int) -> NDArray[Any]:
        """Return the documents that a packing is made of, in order."""
        return np.ascontiguousarray(self.documents[rank :: self.num_plans])

    def _make_plan(self, number: int) -> RowPlan:
        make = concatenate if self.settings.strategy == "concatenate" else fit_documents
        return make(
            self.documents_of(number),
            self.lengths,
            block=self.settings.block,
            has_boundary=self.settings.has_boundary,
        )

    @cached_property
    def deal(self) -> Deal:
        """The deal of the whole epoch."""
        return self.deal_from(0)

    def deal_from(self, first_row: int) -> Deal:
        """Return the deal from a row on; other than from 0 only with residency ``rows``."""
        if self.settings.residency == "rows":
            plan = self.plan_of(0)
            return deal_rows(plan.num_rows, self.settings.world_size, self.settings.equalize, first_row)
        return deal_documents(
            [self._num_rows(rank) for rank in range(self.num_plans)], self.settings.equalize
        )

    def _num_rows(self, rank: int) -> int:
        if rank in self._plans or self.settings.strategy != "concatenate":
            return self.plan_of(rank).num_rows
        return -(-self.line_length(rank) // (self.settings.block + 1))

    def line_length(self, rank: int) -> int:
        """Return the tokens of a packing, boundaries included, without making its plan."""
        own = self.documents[rank :: self.num_plans]
        tokens = sum(int(self.lengths[own[at : at + CHUNK]].sum()) for at in range(0, len(own), CHUNK))
        return tokens + len(own) * self.settings.has_boundary


def order_documents(
    settings: PackingSettings,
    pool: NDArray[Any] | None,
    num_documents: int,
    epoch: int,
    selector: RecipeSelector | SequenceSelector | None = None,
    facts: Callable[[NDArray[Any] | None], PoolFacts] | None = None,
) -> NDArray[Any]:
    """Return the document numbers of an epoch in order.

    Args:
        settings: Names the order and the seed.
        pool: Document numbers before they are put in order; None where that is each document once.
        num_documents: Documents there are.
        epoch: Which pass.
        selector: Works on positions in the pool; its result must be a list of such positions.
        facts: What a curriculum of ours looks at, for a pool.

    Returns:
        Shape (n,), in the dtype of the pool, or 4 bytes a document where that suffices.
    """
    if isinstance(selector, RecipeSelector):
        if facts is None:
            raise ValueError(f"the selector {selector.name} needs the facts of a pool")
        selector = selector.bind(facts(pool))
    size = num_documents if pool is None else len(pool)
    make: Callable[..., NDArray[Any]] = ORDERS[settings.order]
    order = make(size, seed=settings.seed, epoch=epoch, sequence_selector=selector)
    order = order.astype(number_dtype(max(size, num_documents)), copy=False)
    return order if pool is None else pool[order]
