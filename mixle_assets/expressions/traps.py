"""Rules that compile but hardly mean what they say: findings for ``lint``, with a reason each.

A finding is advice, never an error; what cannot be right at all is refused when a rule is compiled. What
both dialects have in common stands here, found by trying the compiled rule on small documents; what shows
in the text alone is ``jsonpath_traps``' and ``jq_traps``' to find.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from mixle_assets.errors import EvaluationError
from mixle_assets.expressions.conditions import Number, Present, Reduction, atoms, truth_of
from mixle_assets.expressions.jq_programs import JqProgram
from mixle_assets.expressions.jq_traps import find_jq_traps
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.jsonpath_traps import find_jsonpath_traps
from mixle_assets.expressions.predicates import Predicate, Role, compile_predicate
from mixle_assets.expressions.trap import Trap

_MAX_PRESENT = 6


def find_traps(expression: str, syntax: str = "jsonpath", *, role: Role = "exclude") -> list[Trap]:
    """Look for reasons why a rule may not do what it was written for.

    Args:
        expression: The rule.
        syntax: ``jsonpath`` or ``jq``.
        role: Whether it stands under ``include`` or ``exclude``.

    Returns:
        The findings, in the order of their columns, those about the whole rule first.

    Raises:
        ExpressionError: The rule does not compile.
    """
    predicate = compile_predicate(expression, syntax, role=role)
    if syntax == "jsonpath":
        found = list(find_jsonpath_traps(parse_jsonpath(expression), expression))
    else:
        found = list(find_jq_traps(JqProgram(expression, by_value=False)))
    found.extend(Trap(*trap) for trap in _constant(predicate, {trap.kind for trap in found}))
    if not {trap.kind for trap in found} & {"always", "never", "assignment"}:
        found.extend(Trap(*trap) for trap in _without_values(predicate))
    return sorted(found, key=lambda trap: (trap.column or 0, trap.kind))


def find_filter_traps(
    include: Sequence[str], exclude: Sequence[str], syntax: str = "jsonpath"
) -> list[tuple[str, Trap]]:
    """Look for traps in all rules of a filter, and in how they stand together.

    Returns:
        Pairs of a rule's expression and a finding.

    Raises:
        ExpressionError: A rule does not compile.
    """
    found = [(rule, trap) for rule in include for trap in find_traps(rule, syntax, role="include")]
    found += [(rule, trap) for rule in exclude for trap in find_traps(rule, syntax, role="exclude")]
    for name, rules in (("include", include), ("exclude", exclude)):
        for number, rule in enumerate(rules):
            if rule in rules[:number]:
                found.append((rule, Trap("twice", f"the rule stands twice under {name}")))
    found += [
        (rule, Trap("include_and_exclude", "what this rule includes it also excludes"))
        for rule in include
        if rule in exclude
    ]
    return found


def _constant(predicate: Predicate, known: set[str]) -> Iterator[tuple[str, str]]:
    """Rules that say the same of every document, as far as that can be worked out."""
    reduction, reads = predicate.reduction, predicate.reads
    if known & {"always", "never", "assignment", "unstable"}:
        return
    if reads.fields == frozenset():
        try:
            matches = predicate.matches({})
        except EvaluationError as error:
            yield "fails", f"the rule fails on every document: {error.message}"
            return
        yield _always_or_never(matches, "it reads nothing of the document")
    elif reduction is not None and any(isinstance(atom, Number) for atom in atoms(reduction.condition)):
        truths = set(_truths(reduction))
        if len(truths) == 1:
            yield _always_or_never(truths.pop(), "whatever the numbers are")


def _always_or_never(matches: bool, reason: str) -> tuple[str, str]:
    if matches:
        return "always", f"the rule matches every document: {reason}"
    return "never", f"the rule can never match: {reason}"


def _truths(reduction: Reduction) -> Iterator[bool]:
    """The truths a reduction takes on: each comparison can only change at its constant."""
    found = list(atoms(reduction.condition))
    present = sorted({atom.key for atom in found if isinstance(atom, Present)})
    choices = []
    for place in reduction.places:
        constants = sorted(
            {atom.constant for atom in found if isinstance(atom, Number) and atom.place == place}
        )
        between = [(one + other) / 2 for one, other in itertools.pairwise(constants)]
        ends = [constants[0] - 1, constants[-1] + 1] if constants else [0]
        choices.append([*constants, *between, *ends])
    if len(choices) > 1 or len(present) > _MAX_PRESENT:
        yield from (True, False)  # more than is worth trying out
        return
    for numbers in itertools.product(*choices):
        for there in itertools.product((True, False), repeat=len(present)):
            keys = {key for key, is_there in zip(present, there, strict=True) if is_there}
            yield truth_of(
                reduction.condition, dict(zip(reduction.places, numbers, strict=True)), frozenset(keys)
            )


def _without_values(predicate: Predicate) -> Iterator[tuple[str, str]]:
    """What the rule does to documents that lack what it compares, or where a tagger found nothing."""
    keys = sorted(predicate.reads.compared_keys)
    if not keys:
        return
    named = ", ".join(keys)
    because = (
        "null orders below every number"
        if predicate.syntax == "jq"
        else "a missing value is unequal to everything, and of any size"
    )
    cases: list[tuple[str, dict[str, Any], str]] = [("missing", {}, f"have no {named}")]
    if predicate.reduction is None or any(place.path for place in predicate.reduction.places):
        cases.append(("empty", {key: [] for key in keys}, f"have [] under {named}"))
    for kind, attributes, what in cases:
        try:
            matches = predicate.matches({"id": "", "text": "", "attributes": attributes})
        except EvaluationError as error:
            yield f"{kind}_fails", f"the rule fails on documents that {what}: {error.message}"
            return
        if matches:
            yield (
                f"{kind}_matches",
                f"the rule matches documents that {what} ({because}); guard it, or set missing_value",
            )
            return
