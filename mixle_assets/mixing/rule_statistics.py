"""What each rule of a filter did over many documents: hits, sole hits, gaps, errors, overlaps.

Counts only, to be added up over shards and written into a manifest; deciding is ``filters``'s work.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from mixle_assets.expressions.joint import Bits


@dataclass
class RuleTally:
    """One rule's counts, in documents.

    Attributes:
        expression: The rule as written.
        role: ``include`` or ``exclude``.
        hits: It matched, whether or not another rule decided first.
        sole_hits: It alone made the difference: the only include that matched, or the only exclude that
            matched on a document that was included.
        missing: An attribute key whose value it reads was absent.
        errors: It failed (also where an earlier rule had decided, and the error was only counted).
    """

    expression: str
    role: str
    hits: int = 0
    sole_hits: int = 0
    missing: int = 0
    errors: int = 0


@dataclass
class RuleStatistics:
    """All rules' counts over ``num_documents`` documents.

    Attributes:
        rules: A tally a rule, includes first, in the recipe's order.
        num_documents: Documents judged.
        overlap: Documents that two rules matched both, by the rules' positions, the smaller first.
    """

    rules: list[RuleTally]
    num_documents: int = 0
    overlap: dict[tuple[int, int], int] = field(default_factory=dict)

    def count(self, outcomes: int, number: int) -> None:
        """Count ``number`` documents that all had these outcomes (see ``expressions.joint``)."""
        self.num_documents += number
        bits = Bits(len(self.rules))
        hits = [rule for rule in range(len(self.rules)) if outcomes & bits.hit(rule)]
        for rule, tally in enumerate(self.rules):
            if outcomes & bits.missing(rule):
                tally.missing += number
            if outcomes & bits.error(rule):
                tally.errors += number
        for place, rule in enumerate(hits):
            self.rules[rule].hits += number
            for other in hits[place + 1 :]:
                self.overlap[rule, other] = self.overlap.get((rule, other), 0) + number
        for rule in self._sole(hits):
            self.rules[rule].sole_hits += number

    def _sole(self, hits: list[int]) -> list[int]:
        includes = [rule for rule in hits if self.rules[rule].role == "include"]
        excludes = [rule for rule in hits if self.rules[rule].role == "exclude"]
        included = bool(includes) or all(tally.role == "exclude" for tally in self.rules)
        sole = includes if len(includes) == 1 else []
        return sole + excludes if included and len(excludes) == 1 else sole

    def add(self, other: RuleStatistics) -> None:
        """Add the counts of the same rules on other documents.

        Raises:
            ValueError: The rules are not the same.
        """
        mine = [(tally.expression, tally.role) for tally in self.rules]
        theirs = [(tally.expression, tally.role) for tally in other.rules]
        if mine != theirs:
            raise ValueError(f"statistics of other rules cannot be added: {mine} and {theirs}")
        self.num_documents += other.num_documents
        for tally, more in zip(self.rules, other.rules, strict=True):
            tally.hits += more.hits
            tally.sole_hits += more.sole_hits
            tally.missing += more.missing
            tally.errors += more.errors
        for pair, number in other.overlap.items():
            self.overlap[pair] = self.overlap.get(pair, 0) + number

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON for a manifest; ``overlap`` as sorted ``[rule, other, documents]``."""
        return {
            "num_documents": self.num_documents,
            "rules": [asdict(tally) for tally in self.rules],
            "overlap": [[rule, other, self.overlap[rule, other]] for rule, other in sorted(self.overlap)],
        }

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> RuleStatistics:
        """Read back what ``to_json`` gave."""
        return cls(
            rules=[RuleTally(**tally) for tally in written["rules"]],
            num_documents=written["num_documents"],
            overlap={(rule, other): number for rule, other, number in written["overlap"]},
        )
