"""Many rules asked at once: one function from a document to an integer that holds every rule's outcome.

With rules 0 and 1 of two, the integer's bits from the right are::

    hit 0, hit 1, missing 0, missing 1, error 0, error 1

so the common document, which no rule fires on and which lacks nothing, gives 0. What the outcomes mean for
the document is ``mixing.filters``'s matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mixle_assets.errors import EvaluationError
from mixle_assets.expressions.conditions import Reduction
from mixle_assets.expressions.generated import Outcomes, Rule, generate
from mixle_assets.expressions.jq_programs import JoinedPrograms
from mixle_assets.expressions.predicates import Predicate, combine_outputs
from mixle_assets.expressions.reads import joined

MissingValue: TypeAlias = Literal["natural", "keep", "drop", "error"]


class Bits:
    """Where in the integer each outcome of a rule stands."""

    def __init__(self, num_rules: int) -> None:
        self.num_rules = num_rules
        self.hits = (1 << num_rules) - 1

    def hit(self, rule: int) -> int:
        """The bit that says rule number ``rule`` matched."""
        return 1 << rule

    def missing(self, rule: int) -> int:
        """The bit that says an attribute key whose value the rule reads was absent."""
        return 1 << (self.num_rules + rule)

    def error(self, rule: int) -> int:
        """The bit that says the rule failed, or that what is missing is declared an error."""
        return 1 << (2 * self.num_rules + rule)


def missing_keys(predicate: Predicate, document: Mapping[str, Any]) -> list[str]:
    """Attribute keys whose value the rule reads and the document lacks, sorted."""
    attributes = document.get("attributes")
    present = attributes if type(attributes) is dict else {}
    return sorted(key for key in predicate.reads.compared_keys if key not in present)


def compile_outcomes(predicates: Sequence[Predicate], missing_value: MissingValue = "natural") -> Outcomes:
    """Build the function that asks every rule.

    Args:
        predicates: The rules; their order gives the bits.
        missing_value: What a rule gives on a document without an attribute key whose value it reads:
            ``natural`` is what the dialect says, ``keep`` and ``drop`` what keeps or drops the document,
            ``error`` sets the rule's error bit.

    Returns:
        A function from a document to the integer; it raises nothing.
    """
    bits = Bits(len(predicates))
    rules = [
        Rule(
            bits.hit(number),
            compile_outcome(predicate, number, bits, missing_value),
            _reduction(predicate),
        )
        for number, predicate in enumerate(predicates)
        if not predicate.runs_in_libjq
    ]
    in_libjq = [number for number, predicate in enumerate(predicates) if predicate.runs_in_libjq]
    if in_libjq:
        rules.append(Rule(0, _compile_joined(predicates, in_libjq, bits, missing_value), None))
    return generate(rules)


def _reduction(predicate: Predicate) -> Reduction | None:
    """A rule's reduction, if it says all that the rule reads and every key whose absence counts is needed."""
    reduction, reads = predicate.reduction, predicate.reads
    if (
        reduction is None
        or reads.fields != frozenset({"attributes"})
        or reads.attribute_keys != reduction.keys
    ):
        return None
    return reduction if reads.compared_keys <= {place.key for place in reduction.places} else None


def compile_outcome(predicate: Predicate, number: int, bits: Bits, missing_value: MissingValue) -> Outcomes:
    """Build the function that asks one rule, and gives its bits only."""
    hit, missing, error = bits.hit(number), bits.missing(number), bits.error(number)
    instead = _instead(predicate, number, bits, missing_value)
    keys = tuple(predicate.reads.compared_keys)
    matches = predicate.matches

    def outcome(document: Mapping[str, Any]) -> int:
        found = 0
        if keys and _lacks(document, keys):
            if instead is not None:
                return instead
            found = missing
        try:
            return found | hit if matches(document) else found
        except EvaluationError:
            return found | error

    return outcome


def _compile_joined(
    predicates: Sequence[Predicate], numbers: Sequence[int], bits: Bits, missing_value: MissingValue
) -> Outcomes:
    rules = [predicates[number] for number in numbers]
    program = JoinedPrograms([rule.expression for rule in rules], joined(rule.reads for rule in rules))
    facts = [
        (
            combine_outputs(rule.role),
            tuple(rule.reads.compared_keys),
            _instead(rule, number, bits, missing_value),
            (bits.hit(number), bits.missing(number), bits.error(number)),
        )
        for number, rule in zip(numbers, rules, strict=True)
    ]

    def outcomes(document: Mapping[str, Any]) -> int:
        found = 0
        for truths, (combine, keys, instead, (hit, missing, error)) in zip(
            program.outcomes(document), facts, strict=True
        ):
            if keys and _lacks(document, keys):
                if instead is not None:
                    found |= instead
                    continue
                found |= missing
            if isinstance(truths, str):
                found |= error
            elif combine(truths):
                found |= hit
        return found

    return outcomes


def _instead(predicate: Predicate, number: int, bits: Bits, missing_value: MissingValue) -> int | None:
    """A rule's bits on a document that lacks what the rule reads; None to ask the rule all the same."""
    if missing_value == "natural":
        return None
    if missing_value == "error":
        return bits.missing(number) | bits.error(number)
    matches = (missing_value == "keep") is (predicate.role == "include")
    return bits.missing(number) | (bits.hit(number) if matches else 0)


def _lacks(document: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    attributes = document.get("attributes")
    if type(attributes) is not dict:
        return True
    return any(key not in attributes for key in keys)
