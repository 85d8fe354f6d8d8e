"""A place in a run: which epoch, how far into it, of which corpus; plain JSON, refused where it does not fit.

No rank in it: the place is the same for all ranks, so a checkpoint that rank 0 wrote serves every rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mixle_assets.packing.arguments import non_negative
from mixle_assets.packing.settings import PackingSettings, check_settings
from mixle_assets.packing.views import RankRows

FORMAT = "mixle_assets.position/1"


class Position(NamedTuple):
    """How far reading has come.

    Attributes:
        epoch: Which epoch.
        rows: Rows consumed: of the whole epoch with residency ``rows``, of each rank otherwise.
        finished: Whether no rank has a batch left in it.
    """

    epoch: int
    rows: int
    finished: bool


class Step(NamedTuple):
    """One batch of a rank: from which to which of its rows, and the position behind it."""

    start: int
    stop: int
    position: Position


def find_steps(
    rows: RankRows, epoch: int, first: int, *, elastic: bool, world_size: int, batch_size: int
) -> Iterator[Step]:
    """Yield the steps of a rank in what is left of an epoch.

    Args:
        rows: The rank's rows; from ``first`` on where ``elastic``, of the whole epoch otherwise.
        epoch: Which epoch.
        first: Rows consumed before, counted as in ``Position``.
        elastic: Whether rows of one packing are dealt (residency ``rows``).
        world_size: Number of ranks.
        batch_size: Rows in a batch.
    """
    begin = 0 if elastic else first
    for start in range(begin, rows.num_rows, batch_size):
        behind = start + batch_size
        position = position_behind(rows, epoch, behind, first, elastic=elastic, world_size=world_size)
        yield Step(start, min(behind, rows.num_rows), position)


def position_behind(
    rows: RankRows, epoch: int, stop: int, first: int, *, elastic: bool, world_size: int
) -> Position:
    """Return the position when each rank has read its rows up to ``stop``; arguments as of ``find_steps``."""
    finished = stop >= max(rows.deal.rows_per_rank)
    if not elastic:
        return Position(epoch, stop, finished)
    return Position(
        epoch, rows.last_row if finished else min(first + stop * world_size, rows.last_row), finished
    )


def encode_position(position: Position, settings: PackingSettings, corpus: str) -> dict[str, Any]:
    """Return a position as plain JSON; ``corpus`` is the digest of the documents."""
    return {"format": FORMAT, "corpus": corpus, **position._asdict(), "settings": settings.plain()}


def decode_position(state: Mapping[str, Any], settings: PackingSettings, corpus: str) -> Position:
    """Return the position that a state holds, for a reader with these settings over this corpus.

    Raises:
        TypeError: The state holds something else than numbers.
        ValueError: It is no state, or one of another corpus or other settings; every difference is named.
    """
    if not isinstance(state, Mapping) or state.get("format") != FORMAT:
        raise ValueError(f"state is not a position that state_dict() returned: {state!r}")
    if missing := {"corpus", "epoch", "rows", "finished", "settings"} - state.keys():
        raise ValueError(f"state lacks {', '.join(sorted(missing))}")
    saved = check_settings(**state["settings"])
    elastic = saved.residency == "rows" and settings.residency == "rows"
    differences = settings.differences(saved, ignoring=("world_size",) if elastic else ())
    if state["corpus"] != corpus:
        differences.insert(0, f"the corpus is {corpus} here, {state['corpus']} there")
    if differences:
        hint = (
            ""
            if elastic or settings.world_size == saved.world_size
            else ("; only residency: rows can go on with another world size")
        )
        raise ValueError(f"state does not fit this reader: {'; '.join(differences)}{hint}")
    return Position(
        non_negative("epoch", state["epoch"]), non_negative("rows", state["rows"]), bool(state["finished"])
    )
