"""One Python function for many rules: each attribute is looked up once, each number compared in place.

For two rules on ``k[0][2]`` the source is, in essence::

    v0 = get('k')
    if v0:
        try:
            x0 = v0[0][2]
            if x0 > 0.5: found |= 1 if x0 is not True and x0 is not False else ask0(document)
            if x0 < 0.1: found |= 2 if x0 is not True and x0 is not False else ask0(document)
        except (KeyError, IndexError, TypeError):
            found |= ask0(document)            # not where taggers write: the rules themselves decide
    elif v0 is None: found |= 0 if 'k' not in attributes else ask0(document)
    elif v0 != []: found |= ask0(document)

A guard costs nothing: ``conditions`` has dropped it. What a rule means is decided elsewhere, by the functions
handed in; this module may only be faster than they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mixle_assets.expressions.conditions import COMPARE, Number, Place, Reduction, source_of

Outcomes: TypeAlias = Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True)
class Rule:
    """What the generated function has to know of a rule.

    Attributes:
        hit: The bit that says it matched.
        outcome: The rule's bits on any document; it decides.
        reduction: What it comes down to where its places hold numbers; None if it is not of that kind.
    """

    hit: int
    outcome: Outcomes
    reduction: Reduction | None


def generate(rules: Sequence[Rule]) -> Outcomes:
    """Make one function that joins the bits of all rules."""
    alone: dict[Place, list[Rule]] = {}
    several: dict[Place, None] = {}
    source = _Source()
    for rule in rules:
        if rule.reduction is None:
            source.ask(rule)
        elif rule.reduction.is_about_one_place:
            alone.setdefault(rule.reduction.places[0], []).append(rule)
        else:
            several |= dict.fromkeys(rule.reduction.places)
    for place in alone | several:
        source.place(place, alone.get(place, []), keep=place in several)
    for rule in rules:
        if rule.reduction is not None and not rule.reduction.is_about_one_place:
            source.condition(rule, rule.reduction)
    return source.compile([rule.outcome for rule in rules])


def _joined(outcomes: Sequence[Outcomes]) -> Outcomes:
    def ask_all(document: Mapping[str, Any]) -> int:
        found = 0
        for outcome in outcomes:
            found |= outcome(document)
        return found

    return outcomes[0] if len(outcomes) == 1 else ask_all


def _fails_on_other_types(rule: Rule) -> bool:
    """Whether Python's comparison alone tells that a value is no number, where that makes a difference.

    An ordered comparison raises for every other type but for True and False, which count as 1 and 0. Where
    one holds for them the generated function looks again; where it does not, the rule must not match them.
    """
    if rule.reduction is None or not isinstance(rule.reduction.condition, Number):
        return False
    number = rule.reduction.condition
    if number.operator in ("==", "!="):
        return False
    [place] = rule.reduction.places
    return all(
        COMPARE[number.operator](boolean, number.constant) or not rule.outcome(_document_with(boolean, place))
        for boolean in (True, False)
    )


def _document_with(value: Any, place: Place) -> dict[str, Any]:
    """A document with one value, at a place."""
    for step in reversed(place.path):
        if isinstance(step, str):
            value = {step: value}
        else:
            value = [None] * step + [value] if step >= 0 else [value] + [None] * (-step - 1)
    return {"attributes": {place.key: value}}


class _Source:
    """The generated function's lines, and the names its global values go by."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.values: dict[str, Any] = {}
        self.variables: dict[Place, str] = {}

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def name(self, value: Any) -> str:
        name = f"ask{len(self.values)}"
        self.values[name] = value
        return name

    def place(self, place: Place, rules: Sequence[Rule], *, keep: bool) -> None:
        """Load the number at a place and compare it for the rules that need no other.

        Args:
            place: The place.
            rules: Those rules.
            keep: Whether other rules need the number too, or None where there is none.
        """
        number = len(self.variables)
        variable = self.variables[place] = f"x{number}"
        value = f"v{number}"
        load = f"{variable} = {value}{''.join(f'[{step!r}]' for step in place.path)}"
        ask = f"found |= {self.name(_joined([rule.outcome for rule in rules]))}(document)"
        self.add(1, f"{value} = get({place.key!r})")
        if place.path and not keep and all(_fails_on_other_types(rule) for rule in rules):
            self.compare_unchecked(variable, value, load, rules, ask)
            self.otherwise(1, "elif", place, rules, value, ask)
        else:
            self.compare_checked(place, variable, value, load, rules)
            self.add(2, f"{variable} = None")
            self.otherwise(2, "if", place, rules, value, ask)

    def compare_unchecked(
        self, variable: str, value: str, load: str, rules: Sequence[Rule], ask: str
    ) -> None:
        """Compare at once: other types raise, and a Boolean is looked for only where a comparison held."""
        self.add(1, f"if {value}:")
        self.add(2, "try:")
        self.add(3, load)
        for rule in rules:
            self.add(3, f"if {self.truth(rule.reduction)}:")
            self.add(4, f"if {variable} is not True and {variable} is not False: found |= {rule.hit}")
            self.add(4, f"else: {ask}")
        self.add(2, f"except (KeyError, IndexError, TypeError): {ask}")

    def compare_checked(
        self, place: Place, variable: str, value: str, load: str, rules: Sequence[Rule]
    ) -> None:
        """Compare only what is a number."""
        if place.path:
            self.add(1, f"{variable} = None")
            self.add(1, f"if {value}:")
            self.add(2, f"try: {load}")
            self.add(2, "except (KeyError, IndexError, TypeError): pass")
        else:
            self.add(1, load)
        self.add(1, f"kind = type({variable})")
        self.add(1, "if kind is float or kind is int:")
        for rule in rules:
            self.add(2, f"if {self.truth(rule.reduction)}: found |= {rule.hit}")
        if not rules:
            self.add(2, "pass")
        self.add(1, "else:")

    def otherwise(
        self, depth: int, first: str, place: Place, rules: Sequence[Rule], value: str, ask: str
    ) -> None:
        """Say what the rules give where there is no number: no key, an empty array, or something else."""
        if not rules:
            return
        absent = empty = 0
        for rule in rules:
            absent |= rule.outcome({"attributes": {}})
            empty |= rule.outcome({"attributes": {place.key: []}})
        self.add(depth, f"{first} {value} is None:")
        self.add(depth + 1, f"if {place.key!r} not in attributes: found |= {absent}")
        self.add(depth + 1, f"else: {ask}")
        if empty:
            self.add(depth, f"elif {value} == []: found |= {empty}")
            self.add(depth, f"else: {ask}")
        else:
            self.add(depth, f"elif {value} != []: {ask}")

    def ask(self, rule: Rule) -> None:
        """Ask a rule itself, on every document."""
        self.add(1, f"found |= {self.name(rule.outcome)}(document)")

    def condition(self, rule: Rule, reduction: Reduction) -> None:
        """Ask a rule on several places, or on presence only."""
        needed = [f"{self.variables[place]} is not None" for place in reduction.places]
        depth = 1
        if needed:
            self.add(1, f"if {' and '.join(needed)}:")
            depth = 2
        self.add(depth, f"if {self.truth(reduction)}: found |= {rule.hit}")
        if needed:
            self.add(1, f"else: found |= {self.name(rule.outcome)}(document)")

    def truth(self, reduction: Reduction | None) -> str:
        if reduction is None:
            raise TypeError("a rule that is compared in place has a reduction")
        return source_of(reduction.condition, self.variables, "attributes")

    def compile(self, outcomes: Sequence[Outcomes]) -> Outcomes:
        """Compile the lines into a function; documents whose attributes are no object ask every rule."""
        head = [
            "def outcomes(document):",
            "    attributes = document.get('attributes')",
            "    if type(attributes) is not dict: return ask_all(document)",
            "    get = attributes.get",
            "    found = 0",
        ]
        source = "\n".join([*head, *self.lines, "    return found", ""])
        # every name in the source is made here; keys and constants enter by repr() only
        names: dict[str, Any] = {**self.values, "ask_all": _joined([*outcomes, lambda document: 0])}
        exec(compile(source, "<rules>", "exec"), names)  # noqa: S102
        function: Outcomes = names["outcomes"]
        return function
