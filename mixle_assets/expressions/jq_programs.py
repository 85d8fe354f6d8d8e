"""jq programs: compiled by libjq, run in Python where that is exact, else by libjq on what they read.

What a program gives is what libjq gives; only the truth of an output is Dolma's. Handing a document to
libjq costs far more than running a rule on it, so only what is read is handed over, and the rules of a
filter that need libjq run as one program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import jq
import orjson

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.expressions.jq_closures import compile_program
from mixle_assets.expressions.jq_parser import parse_jq
from mixle_assets.expressions.jq_reads import reads_of_jq
from mixle_assets.expressions.jq_values import JqError, Undecided
from mixle_assets.expressions.reads import Reads

Outcome: TypeAlias = list[bool] | str
"""Truths of a rule's outputs, or the message of the error it ended in."""

# Dolma's truth of an output; Python's truth of its value is the same.
_TRUTH = '(. != null and . != false and . != 0 and . != "" and . != [] and . != {})'

_PLACE = re.compile(r"at <top-level>, line (\d+), column (\d+)")


def compile_jq(expression: str) -> Any:
    """Compile with libjq.

    Raises:
        ExpressionError: libjq refuses it; ``column`` counts from 1 over the whole expression.
    """
    if not expression.strip():
        raise ExpressionError("the expression is empty", column=1, rule=expression)
    try:
        return jq.compile(expression)
    except ValueError as error:
        message = str(error).splitlines()
        first = message[0].removeprefix("jq: error: ")
        place = _PLACE.search(first)
        column = None
        if place is not None:
            earlier = expression.split("\n")[: int(place.group(1)) - 1]
            column = sum(len(line) + 1 for line in earlier) + int(place.group(2))
            first = first[: place.start()].rstrip()
        hint = " (this reads like JSONPath: set syntax: jsonpath)" if _is_jsonpath(expression) else ""
        raise ExpressionError(f"jq: {first}{hint}", column=column, rule=expression) from None


def _is_jsonpath(expression: str) -> bool:
    return expression.lstrip().startswith(("$.", "$@", "$[", "@."))


class JqProgram:
    """One jq expression: what it reads, and a way to run it, in Python where that is exact.

    Attributes:
        expression: The program as written.
        tree: Its syntax tree; None for forms only libjq knows.
        reads: What it reads of a document.
        runs_in_libjq: Whether every document goes to libjq; else only those that Python leaves undecided.
    """

    def __init__(self, expression: str, *, by_value: bool) -> None:
        """Compile the program.

        Args:
            expression: The program.
            by_value: Whether its outputs are used (a selector), or only whether they are true (a rule).

        Raises:
            ExpressionError: libjq refuses it.
        """
        self.expression = expression
        self._program = compile_jq(expression)
        self.tree = parse_jq(expression)
        self.reads = reads_of_jq(self.tree, by_value=by_value)
        self._in_python = None if self.tree is None else compile_program(self.tree)
        self.runs_in_libjq = self._in_python is None
        self._projection = _Projection(self.reads)

    def outputs(self, document: Mapping[str, Any]) -> list[Any]:
        """Run the program; every output, in order.

        Raises:
            EvaluationError: The program ended in an error.
        """
        if self._in_python is not None:
            try:
                return list(self._in_python.many(document))
            except (JqError, Undecided):
                pass  # libjq decides, and words the error
        return self.outputs_of_libjq(document)

    def compile_match(self, *, all_outputs: bool) -> Callable[[Mapping[str, Any]], bool]:
        """Build the rule that this program is.

        Args:
            all_outputs: Whether it needs at least one output and all of them true, or any true one.

        Returns:
            A function from a document to the truth; it raises ``EvaluationError``.
        """

        def matches(document: Mapping[str, Any]) -> bool:
            outputs = self.outputs(document)
            return bool(outputs) and all(outputs) if all_outputs else any(outputs)

        one = None if self._in_python is None else self._in_python.one
        if one is None:
            return matches

        def matches_at_once(document: Mapping[str, Any]) -> bool:
            try:
                return bool(one(document))
            except (JqError, Undecided):
                return matches(document)

        return matches_at_once

    def outputs_of_libjq(self, document: Mapping[str, Any]) -> list[Any]:
        """Run the program in libjq, whatever Python can do.

        Raises:
            EvaluationError: The program ended in an error.
        """
        try:
            found = self._program.input_text(self._projection.text_of(document)).all()
        except ValueError as error:
            raise EvaluationError(f"jq: {error}", rule=self.expression) from None
        return list(found)


class JoinedPrograms:
    """Several rules as one libjq program, which parses its input once and says which rule gave what."""

    def __init__(self, expressions: Sequence[str], reads: Reads) -> None:
        self._projection = _Projection(reads)
        alone = [f"[(\n{expression}\n) | {_TRUTH}]" for expression in expressions]
        self._alone = [
            _compile_wrapped(program, expression)
            for program, expression in zip(alone, expressions, strict=True)
        ]
        caught = [f'(try {program} catch (if type == "string" then . else tojson end))' for program in alone]
        self._joined = jq.compile(f"[{', '.join(caught)}]")

    def outcomes(self, document: Mapping[str, Any]) -> list[Outcome]:
        """Run every rule on one document; one outcome a rule, in the order given."""
        text = self._projection.text_of(document)
        try:
            [outcomes] = self._joined.input_text(text).all()
        except ValueError:
            # What ends a program past any catch (input, halt) must not take the other rules along.
            return [_outcome_alone(program, text) for program in self._alone]
        return list(outcomes)


def _compile_wrapped(program: str, expression: str) -> Any:
    compile_jq(expression)
    try:
        return jq.compile(program)
    except ValueError:
        raise ExpressionError(
            "jq: the program cannot stand in parentheses (no import or include in a rule)", rule=expression
        ) from None


def _outcome_alone(program: Any, text: str) -> Outcome:
    try:
        outputs = program.input_text(text).all()
    except ValueError as error:
        return str(error)
    return [truth for truths in outputs for truth in truths]


class _Projection:
    """The parts of a document that are read, as the text that libjq parses."""

    def __init__(self, reads: Reads) -> None:
        # sorted, so that libjq sees one order whatever the hash seed
        self._fields = None if reads.fields is None else sorted(reads.fields)
        self._keys = None if reads.attribute_keys is None else sorted(reads.attribute_keys)

    def text_of(self, document: Mapping[str, Any]) -> str:
        projected = self.of(document)
        try:
            return orjson.dumps(projected).decode()
        except TypeError:  # an integer beyond 64 bits
            return json.dumps(projected, ensure_ascii=False)

    def of(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._fields is None:
            return document
        kept = {name: document[name] for name in self._fields if name in document}
        attributes = kept.get("attributes")
        if self._keys is not None and type(attributes) is dict:
            kept["attributes"] = {name: attributes[name] for name in self._keys if name in attributes}
        return kept
