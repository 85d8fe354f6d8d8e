"""What an expression reads of a document: which fields, which attribute keys, which of those by value.

The mixer decodes only what is read, and a rule over a key that no tagger writes is found before any data
is. Both dialects say it in these words; the analysis of each lives beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce


@dataclass(frozen=True)
class Reads:
    """The parts of a document that can change what an expression gives.

    Attributes:
        fields: Top-level fields read; None if it can be any.
        attribute_keys: Keys under ``$.attributes`` read; None if it can be any.
        compared_keys: Those named keys whose *value* is read. A key that is only asked to be there
            (``@.lang``, ``has("lang")``) is not among them, and its absence is an answer, not a gap.
    """

    fields: frozenset[str] | None
    attribute_keys: frozenset[str] | None
    compared_keys: frozenset[str]


NOTHING = Reads(frozenset(), frozenset(), frozenset())


def joined(several: Iterable[Reads]) -> Reads:
    """What all of several expressions together read."""
    return reduce(_join, several, NOTHING)


def _join(one: Reads, other: Reads) -> Reads:
    return Reads(
        None if one.fields is None or other.fields is None else one.fields | other.fields,
        None
        if one.attribute_keys is None or other.attribute_keys is None
        else one.attribute_keys | other.attribute_keys,
        one.compared_keys | other.compared_keys,
    )


@dataclass
class Reading:
    """``Reads`` in the making: an analysis notes here what it comes across."""

    fields: set[str] | None = field(default_factory=set)
    attribute_keys: set[str] | None = field(default_factory=set)
    compared_keys: set[str] = field(default_factory=set)

    def any_field(self) -> None:
        """Note that every field may be read, and so every attribute."""
        self.fields = None
        self.attribute_keys = None

    def any_attribute(self) -> None:
        """Note that every attribute key may be read."""
        self.attribute_keys = None

    def field(self, name: str) -> None:
        """Note a top-level field."""
        if self.fields is not None:
            self.fields.add(name)

    def key(self, name: str, *, compared: bool) -> None:
        """Note a key under ``$.attributes``, and whether its value counts or only its presence."""
        if self.attribute_keys is not None:
            self.attribute_keys.add(name)
        if compared:
            self.compared_keys.add(name)

    def done(self) -> Reads:
        """Return what was noted."""
        return Reads(
            None if self.fields is None else frozenset(self.fields),
            None if self.attribute_keys is None else frozenset(self.attribute_keys),
            frozenset(self.compared_keys),
        )
