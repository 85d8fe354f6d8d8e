"""What an asset check is, and what it found; a check's name is the guarantee it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from mixle_assets.manifest import hash_bytes
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.work import Work
from mixle_assets.records import Violation

SHOWN_VIOLATIONS = 20


@dataclass(frozen=True)
class Check:
    """One guarantee.

    Attributes:
        name: The guarantee.
        stage: The asset it is given for.
        description: What it means, for a reader who sees it fail.
        find: From a partition's work to what breaks the guarantee; called with the recipe and the work.
        severity: ``warn`` for what is suspicious, but may be meant.
        scope: ``partition`` looks at one at a time, ``whole`` at all that are built together.
        one_in: Of how many partitions one is looked at, chosen by its key; the first of all always is.
        applies: Whether a recipe that has the stage gives the guarantee at all.
        version: Raised when the check looks at more.
    """

    name: str
    stage: str
    description: str
    find: Callable[[LoadedRecipe, Sequence[Work]], Iterable[Violation]]
    severity: Literal["error", "warn"] = "error"
    scope: Literal["partition", "whole"] = "partition"
    one_in: int = 1
    applies: Callable[[LoadedRecipe], bool] = lambda loaded: True
    version: str = "1"

    def samples(self, key: str) -> bool:
        """Return whether a partition is among those that are looked at, whichever is the first."""
        return int(hash_bytes(key.encode())[:8], 16) % self.one_in == 0


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found.

    Attributes:
        name: The check.
        stage: The asset.
        severity: ``error`` or ``warn``.
        keys: Partitions that were looked at.
        num_verified: Partitions that had passed before in the same content and were not looked at again.
        num_violations: All that was found.
        violations: The first of them.
    """

    name: str
    stage: str
    severity: str
    keys: tuple[str, ...] = ()
    num_verified: int = 0
    num_violations: int = 0
    violations: tuple[Violation, ...] = field(default=())

    @property
    def failed(self) -> bool:
        """Whether the guarantee is broken."""
        return self.num_violations > 0 and self.severity == "error"

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain JSON."""
        return {
            "name": self.name,
            "stage": self.stage,
            "severity": self.severity,
            "num_keys": len(self.keys) + self.num_verified,
            "num_verified_before": self.num_verified,
            "num_violations": self.num_violations,
            "violations": [msgspec.to_builtins(violation) for violation in self.violations],
        }
