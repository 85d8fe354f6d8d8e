"""A stream's span replacements, compiled: which characters of a text go, and what stands there instead.

The algebra of spans is in ``spans``; here recipes meet it, and the counts are kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mixle_assets.errors import EvaluationError
from mixle_assets.expressions.jsonpath_ast import Key, Root
from mixle_assets.expressions.jsonpath_parser import parse_jsonpath
from mixle_assets.expressions.replacements import compile_replacement
from mixle_assets.expressions.selectors import compile_selector
from mixle_assets.mixing.spans import (
    PLACEHOLDER,
    Rewritten,
    Selected,
    replace_plainly,
    replace_spans,
    take_spans,
)
from mixle_assets.recipe.streams import SpanReplacement


class SpanRule:
    """One ``span_replacement`` of a recipe, compiled, with its counts.

    Attributes:
        rule: The rule as the recipe has it.
        place: Its place in the recipe, from 0.
        num_documents: Documents in which it selected a span.
        num_selected: Spans within the score bounds and the text.
        num_reversed: Spans left out because their end stands before their start.
        num_outside: Spans left out because they hold no character of the text.
        key: The attribute key where the selector is ``$.attributes.key``; else None.
    """

    def __init__(self, rule: SpanReplacement, place: int) -> None:
        self.rule = rule
        self.place = place
        self.num_documents = self.num_selected = self.num_reversed = self.num_outside = 0
        self.selector = compile_selector(rule.span, rule.syntax)
        self.replacement = compile_replacement(rule.replacement)
        self.key = _attribute_key(rule)
        self._lowest = -math.inf if rule.min_score is None else rule.min_score
        self._beyond = math.inf if rule.max_score is None else rule.max_score
        # A template that no document changes: rendered once, with the place of the removed text left open.
        self._template = (
            None if rule.replacement.startswith("$") else self.replacement.render({}, PLACEHOLDER)
        )

    def choose(self, node: Any) -> list[Selected] | None:
        """Return the spans of a node whose types were checked, by their scores alone; nothing is counted.

        Returns:
            The spans, wherever they lie; None if it takes ``take`` to tell.
        """
        template = self._template
        if template is None or type(node) is not list or type(node[0]) is not tuple:
            return None
        place, lowest, beyond = self.place, self._lowest, self._beyond
        return [(start, -end, place, template) for start, end, score in node if lowest <= score < beyond]

    def select(self, document: Mapping[str, Any], length: int) -> list[Selected]:
        """Return the spans of a text of ``length`` code points that the rule replaces.

        Raises:
            EvaluationError: What the selector found are no spans, or the replacement is no string.
        """
        nodes = self.selector.select(document)
        return self.take(nodes, document, length) if nodes else []

    def take(self, nodes: list[Any], document: Mapping[str, Any], length: int) -> list[Selected]:
        """Return the spans among the nodes that the selector found; errors as for ``select``."""
        try:
            taken = take_spans(
                nodes,
                length,
                rule=self.place,
                replacement=self._template or "",
                lowest=self._lowest,
                beyond=self._beyond,
            )
            spans, num_reversed, num_outside = taken
            self.num_reversed += num_reversed
            self.num_outside += num_outside
            if not spans:
                return spans
            self.num_documents += 1
            self.num_selected += len(spans)
            if self._template is not None:
                return spans
            template = self.replacement.render(document, PLACEHOLDER)
        except EvaluationError as error:
            raise error.at(rule=self.rule.span) from error
        return [(start, minus_end, place, template) for start, minus_end, place, _ in spans]

    def statistics(self) -> dict[str, Any]:
        """Return the rule and its counts, plain JSON."""
        return {
            "span": self.rule.span,
            "replacement": self.rule.replacement,
            "num_documents": self.num_documents,
            "num_selected": self.num_selected,
            "num_reversed": self.num_reversed,
            "num_outside": self.num_outside,
        }


class Rewriter:
    """All span replacements of a stream; one object serves one shard, since it counts.

    Attributes:
        rules: The compiled rules, in the recipe's order.
        num_texts: Texts in which a span was replaced.
        num_removed: Code points cut out.
        num_clipped: Spans of which an earlier one had taken the first part.
        num_swallowed: Spans that lay within an earlier one.
    """

    def __init__(self, rules: Sequence[SpanReplacement]) -> None:
        self.rules = [SpanRule(rule, place) for place, rule in enumerate(rules)]
        self._rules = [(rule, rule.key) for rule in self.rules]
        self.num_texts = self.num_removed = self.num_clipped = self.num_swallowed = 0

    def select(self, document: Mapping[str, Any], length: int) -> list[Selected]:
        """Return the spans of all rules in a text of ``length`` code points.

        Raises:
            EvaluationError: A selector failed, or found what are no spans; the rule is named.
        """
        attributes = document.get("attributes")
        spans: list[Selected] = []
        for rule, key in self._rules:
            if key is None or type(attributes) is not dict:
                spans += rule.select(document, length)
            else:
                node = attributes.get(key)
                if node or (node is not None and node != []):
                    spans += rule.take([node], document, length)
        return spans

    def rewrite(self, document: Mapping[str, Any], text: str) -> str:
        """Return the text with the spans of all rules replaced.

        Raises:
            EvaluationError: As for ``select``.
        """
        rewritten = self._rewrite_plainly(document, text)
        if rewritten is None:
            spans = self.select(document, len(text))
            if not spans:
                return text
            rewritten = replace_spans(text, spans)
        elif not rewritten.num_removed:
            return text
        self.num_texts += 1
        self.num_removed += rewritten.num_removed
        self.num_clipped += rewritten.num_clipped
        self.num_swallowed += rewritten.num_swallowed
        return rewritten.text

    def _rewrite_plainly(self, document: Mapping[str, Any], text: str) -> Rewritten | None:
        """Rewrite a text in the short way that does for nearly all; None, and nothing counted, for others."""
        attributes = document.get("attributes")
        if type(attributes) is not dict:
            return None
        spans: list[Selected] = []
        chosen: list[tuple[SpanRule, int]] = []
        for rule, key in self._rules:
            if key is None:
                return None
            node = attributes.get(key)
            if node or (node is not None and node != []):
                selected = rule.choose(node)
                if selected is None:
                    return None
                if selected:
                    chosen.append((rule, len(selected)))
                    spans += selected
        if not spans:
            return Rewritten(text, 0, 0, 0)
        spans.sort()
        rewritten = replace_plainly(text, spans)
        if rewritten is not None:
            for rule, num_selected in chosen:
                rule.num_documents += 1
                rule.num_selected += num_selected
        return rewritten

    def statistics(self) -> dict[str, Any]:
        """Return the counts of all rules together and of each, plain JSON."""
        return {
            "num_texts": self.num_texts,
            "num_removed_characters": self.num_removed,
            "num_clipped": self.num_clipped,
            "num_swallowed": self.num_swallowed,
            "rules": [rule.statistics() for rule in self.rules],
        }


def _attribute_key(rule: SpanReplacement) -> str | None:
    """Return the key of the common selector, so that a document without it costs one look into a dict."""
    if rule.syntax == "jsonpath":
        match parse_jsonpath(rule.span).steps:
            case (Root(), Key("attributes"), Key(name)):
                return name
    return None
