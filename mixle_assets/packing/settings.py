"""Everything that decides which token stands in which row of which rank, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeAlias

from mixle_assets.packing.arguments import non_negative, optional_token_id, positive, token_id
from mixle_assets.packing.dealing import Equalize, Residency, Strategy

Order: TypeAlias = Literal["mixle", "separated"]

_CHOICES = {
    "order": ("mixle", "separated"),
    "residency": ("documents", "rows"),
    "equalize": ("none", "drop", "pad"),
    "strategy": ("concatenate", "best_fit"),
}


@dataclass(frozen=True)
class PackingSettings:
    """Settings of a packing; the same values over the same documents give the same rows anywhere.

    Attributes:
        block: Targets in a row.
        seed: Decides the order, with the epoch.
        pad_id: Stands where no token is.
        boundary_id: Follows each document; None for none.
        order: Name of the order of documents.
        residency: Whether documents or rows are dealt to ranks.
        equalize: How ranks get equally many rows.
        strategy: How documents are laid into rows.
        world_size: Number of ranks.
    """

    block: int
    seed: int = 0
    pad_id: int = 0
    boundary_id: int | None = None
    order: Order = "mixle"
    residency: Residency = "documents"
    equalize: Equalize = "none"
    strategy: Strategy = "concatenate"
    world_size: int = 1

    @property
    def has_boundary(self) -> bool:
        """Whether a boundary follows each document."""
        return self.boundary_id is not None

    def plain(self) -> dict[str, Any]:
        """Return the settings as plain JSON."""
        return asdict(self)

    def differences(self, other: PackingSettings, *, ignoring: tuple[str, ...] = ()) -> list[str]:
        """Return ``"block is 128 here, 64 there"`` for each setting that differs."""
        return [
            f"{field.name} is {getattr(self, field.name)!r} here, {getattr(other, field.name)!r} there"
            for field in fields(self)
            if field.name not in ignoring and getattr(self, field.name) != getattr(other, field.name)
        ]


def check_settings(**values: Any) -> PackingSettings:
    """Return settings from values as a caller hands them over.

    Raises:
        TypeError: Something that should be a number is not.
        ValueError: A number out of range, or a choice that does not exist; the message begins with its name.
    """
    for name, choices in _CHOICES.items():
        if name in values and values[name] not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {values[name]!r}")
    checks: dict[str, Callable[[str, Any], Any]] = {
        "world_size": positive,
        "block": positive,
        "seed": non_negative,
        "pad_id": token_id,
        "boundary_id": optional_token_id,
    }
    checked: dict[str, Any] = {
        name: checks[name](name, value) if name in checks else value for name, value in values.items()
    }
    return PackingSettings(**checked)
