"""What can go wrong, said once: each error names the place and the value, and knows its exit code.

Only exception classes live here; they import nothing of the project and survive pickling, since
a worker process hands them to its parent.
"""

from __future__ import annotations

from typing import Any


class MixleError(Exception):
    """Base of every error a user can meet; ``exit_code`` is what the command line returns.

    Args:
        message: What is wrong, with the value that is.
        path: File or URL the fault is in.
        line: Physical line in it, counted from 1.
        column: Character in the line or expression, counted from 1.
        key: Dotted key of the recipe, or field of the record.
        document_id: Id of the document at fault.
        rule: Expression or tagger at work.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        document_id: Any = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.key = key
        self.document_id = document_id
        self.rule = rule

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        facts = [place] if place else []
        if self.key is not None:
            facts.append(self.key)
        if self.document_id is not None:
            facts.append(f"document {self.document_id!r}")
        if self.rule is not None:
            facts.append(f"rule {self.rule}")
        return ": ".join([*facts, self.message])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            type(self),
            self.message,
            {k: v for k, v in self.__dict__.items() if k != "message"},
        )

    def at(self, **facts: Any) -> MixleError:
        """Return the same error with the facts it did not have yet; known facts are kept."""
        for name, value in facts.items():
            if getattr(self, name) is None:
                setattr(self, name, value)
        return self


def _rebuild(kind: type[MixleError], message: str, facts: dict[str, Any]) -> MixleError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.message = message
    error.__dict__.update(facts)
    return error


class RecipeError(MixleError):
    """The recipe, or the way a command was called, is wrong: nothing was read or written."""

    exit_code = 2


class ExpressionError(MixleError):
    """A filter, selector or replacement does not compile; ``column`` counts from 1 in the expression."""

    exit_code = 2


class EvaluationError(MixleError):
    """A rule that compiled failed on one document."""


class InputError(MixleError):
    """Data that was handed to us is broken: truncated, undecodable, misaligned, of the wrong type."""


class ShardError(MixleError):
    """The work on one or more shards failed; the others are finished and recorded."""


class LeaseError(MixleError):
    """Somebody else is building into the same root."""


class StoreError(MixleError):
    """A disk or object store did not do what was asked: full, forbidden, unreachable."""
