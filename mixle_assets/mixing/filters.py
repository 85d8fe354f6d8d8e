"""A stream's include and exclude rules: the verdict on a document, and what each rule did over all of them.

A document is kept if any include rule matches (or there is none) and no exclude rule does. Rules are
compiled from their expressions in ``mixle_assets.expressions``; reading documents and rewriting their texts
happen elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from mixle_assets.errors import EvaluationError, RecipeError
from mixle_assets.expressions.joint import Bits, MissingValue, compile_outcomes, missing_keys
from mixle_assets.expressions.predicates import Predicate, compile_predicate
from mixle_assets.expressions.reads import joined
from mixle_assets.mixing.rule_statistics import RuleStatistics, RuleTally
from mixle_assets.records import Verdict

KEEP = Verdict(True)
NO_INCLUDE = Verdict(False, "include")

_MAX_PATTERNS = 4096
"""Distinct outcomes counted before they are folded: memory stays bounded however many documents come."""


def compile_rules(
    include: Sequence[str],
    exclude: Sequence[str],
    *,
    syntax: str = "jsonpath",
    missing_value: MissingValue = "natural",
) -> Rules:
    """Compile a filter, before any data is read.

    Args:
        include: Rules of which one must match; none means that every document is included.
        exclude: Rules of which none may match.
        syntax: ``jsonpath`` (Dolma's dialect) or ``jq``, for all of them.
        missing_value: What a rule gives on a document without an attribute key whose value it reads:
            ``natural`` is what the dialect says (nothing matches in JSONPath, ``null < 50`` in jq), ``keep``
            and ``drop`` what keeps or drops the document, ``error`` an error.

    Returns:
        The rules, with statistics that start at zero.

    Raises:
        ExpressionError: A rule does not compile.
        RecipeError: ``missing_value`` is none of the four.
    """
    if missing_value not in get_args(MissingValue):
        raise RecipeError(
            f"missing_value must be natural, keep, drop or error, got {missing_value!r}", key="missing_value"
        )
    return Rules(
        [compile_predicate(expression, syntax, role="include") for expression in include],
        [compile_predicate(expression, syntax, role="exclude") for expression in exclude],
        missing_value,
    )


class Rules:
    """The compiled rules of one stream.

    Every document handed to ``judge`` is counted, so an object serves one shard: ``statistics`` says what
    the rules did on it.

    Attributes:
        include: The include rules, in order.
        exclude: The exclude rules, in order.
        missing_value: What a rule gives on a document without an attribute key whose value it reads.
        attribute_keys: Keys under ``$.attributes`` the rules read; None if it can be any.
        fields: Top-level fields the rules read; None if it can be any.
    """

    def __init__(
        self,
        include: Sequence[Predicate],
        exclude: Sequence[Predicate],
        missing_value: MissingValue = "natural",
    ) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self.missing_value: MissingValue = missing_value
        self._predicates = self.include + self.exclude
        reads = joined(predicate.reads for predicate in self._predicates)
        self.attribute_keys = reads.attribute_keys
        self.fields = reads.fields
        self._outcomes = compile_outcomes(self._predicates, missing_value)
        self._counted = self._no_statistics()
        self._patterns = _Patterns(self)

    def judge(self, document: Mapping[str, Any]) -> Verdict:
        """Decide on one document.

        The first rule that decides gives the verdict, in Dolma's order: includes until one matches, then
        excludes until one does. The others are asked for the statistics only, their errors are counted.

        Args:
            document: The document, its attributes merged in; it may lack fields that ``fields`` does not
                name and attributes that ``attribute_keys`` does not.

        Returns:
            The verdict; its rule is ``include`` if no include rule matched, else the first matching exclude.

        Raises:
            EvaluationError: A rule failed before another decided; it is named, the place is the caller's
                to add.
        """
        pattern = self._patterns[self._outcomes(document)]
        pattern.num_documents += 1
        verdict = pattern.verdict
        if verdict is None:
            raise self._error(pattern.failed_rule, document)
        return verdict

    def statistics(self) -> RuleStatistics:
        """Return what the rules did on every document judged so far."""
        self._fold()
        statistics = self._no_statistics()
        statistics.add(self._counted)
        return statistics

    def _no_statistics(self) -> RuleStatistics:
        return RuleStatistics(
            rules=[RuleTally(predicate.expression, predicate.role) for predicate in self._predicates]
        )

    def _fold(self) -> None:
        for outcomes, pattern in self._patterns.items():
            self._counted.count(outcomes, pattern.num_documents)
        self._patterns.clear()

    def _decide(self, outcomes: int) -> _Pattern:
        """Follow the rules in Dolma's order, as far as it goes."""
        bits = Bits(len(self._predicates))
        included = not self.include
        for rule, predicate in enumerate(self._predicates):
            if predicate.role == "exclude":
                if not included:
                    break
            elif included:
                continue
            if outcomes & bits.error(rule):
                return _Pattern(None, rule)
            if outcomes & bits.hit(rule):
                if predicate.role == "exclude":
                    return _Pattern(Verdict(False, predicate.expression))
                included = True
        return _Pattern(KEEP if included else NO_INCLUDE)

    def _error(self, rule: int, document: Mapping[str, Any]) -> EvaluationError:
        predicate = self._predicates[rule]
        missing = missing_keys(predicate, document)
        if missing and self.missing_value == "error":
            return EvaluationError(
                f"attribute {', '.join(missing)} is missing, and missing_value is error",
                rule=predicate.expression,
            )
        try:
            predicate.matches(document)
        except EvaluationError as error:
            return error
        return EvaluationError("the rule failed once, but not when asked again", rule=predicate.expression)


class _Pattern:
    """Documents on which every rule had the same outcome: their verdict, and how many there are."""

    __slots__ = ("failed_rule", "num_documents", "verdict")

    def __init__(self, verdict: Verdict | None, failed_rule: int = -1) -> None:
        self.verdict = verdict
        self.failed_rule = failed_rule
        self.num_documents = 0


class _Patterns(dict[int, _Pattern]):
    """The patterns seen, worked out once each and folded into the statistics when they get many."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, outcomes: int) -> _Pattern:
        if len(self) >= _MAX_PATTERNS:
            self._rules._fold()
        self[outcomes] = pattern = self._rules._decide(outcomes)
        return pattern
