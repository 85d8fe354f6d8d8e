"""What counts as a repetition, and which copy of it stays unmarked.

Frozen models; the keys of the YAML file are the field names. Deduping only marks: a rule or a span that
names the mark is what drops or cuts anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from mixle_assets.recipe.scalars import (
    Real,
    Section,
    Switch,
    Text,
    Texts,
    Whole,
    choice,
    first_repeated,
    refuse,
    shown,
)

DUPLICATES_SET = "duplicates"
"""The attribute set that deduping writes; no other set of such a stream may bear its name."""


class DedupeDocuments(Section):
    """Whole documents that are equal in one field."""

    attribute_name: Text = Field(
        default="bff_duplicate_docs", min_length=1, description="Key of the mark; Dolma's own is the default."
    )
    key: Text = Field(
        default="$.text", min_length=1, description="JSONPath of the field in which copies are equal."
    )


class ByNgram(Section):
    """Paragraphs are compared by runs of words instead of whole."""

    ngram_length: Whole = Field(ge=1, description="Words in a run.")
    stride: Whole = Field(default=1, ge=0, description="Words from one run to the next; 0 means 1.")
    overlap_threshold: Real = Field(
        default=0.5, ge=0, le=1, description="Marked from this share of repeated runs on."
    )
    skip_short_paragraphs: Switch = Field(
        default=False,
        description="True: leave out paragraphs of fewer than two runs; false: compare them whole.",
    )


class DedupeParagraphs(Section):
    """Paragraphs that stood in an earlier document or earlier in the same one."""

    attribute_name: Text = Field(
        default="bff_duplicate_paragraph_spans",
        min_length=1,
        description="Key of the mark; Dolma's own is the default.",
    )
    separator: Text = Field(default="\n", min_length=1, description="What ends a paragraph.")
    by_ngram: ByNgram | None = Field(
        default=None, description="Compare by runs of words; null = whole paragraphs."
    )
    share_name: Text | None = Field(
        default=None,
        min_length=1,
        description="Key of the share of a document's paragraphs that is marked, 0 to 1; null = not written.",
    )


class NearDocuments(Section):
    """Documents that share most of their wording (MinHash)."""

    attribute_name: Text = Field(default="near_duplicate_docs", min_length=1, description="Key of the mark.")
    ngram_length: Whole = Field(default=5, ge=1, description="Words of a shingle.")
    num_bands: Whole = Field(default=16, ge=1, description="Bands of the signature.")
    rows_per_band: Whole = Field(default=8, ge=1, description="Hashes in a band.")
    min_similarity: Real = Field(default=0.8, ge=0, le=1, description="Jaccard similarity that makes a copy.")


class Decontamination(Section):
    """Text that also stands in a reference set, such as an evaluation set."""

    reference: Texts = Field(
        min_length=1, description="Globs of the reference's document files; located as `documents` are."
    )
    attribute_name: Text = Field(default="contaminated_spans", min_length=1, description="Key of the mark.")
    separator: Text = Field(default="\n", min_length=1, description="What ends a paragraph.")
    by_ngram: ByNgram | None = Field(
        default=None, description="Compare by runs of words; null = whole paragraphs."
    )


class Prefer(Section):
    """Copies in some streams stay rather than copies in others."""

    prefer: Texts = Field(min_length=1, description="Names of streams, the most preferred first.")


def _keep(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Prefer.model_validate(value)
    word = choice(value)
    if word in ("first", "none") or isinstance(value, Prefer):
        return word
    raise refuse(f"must be first, none or {{prefer: [stream, ...]}}, got {shown(value)}")


class Dedupe(Section):
    """What is marked as a repetition; a rule or a span must name the mark to drop anything."""

    documents: DedupeDocuments | None = Field(
        default=None, description="Mark repeated documents; `{}` compares texts."
    )
    paragraphs: DedupeParagraphs | None = Field(
        default=None, description="Mark repeated paragraphs; `{}` compares lines."
    )
    near_documents: NearDocuments | None = Field(
        default=None, description="Mark documents that nearly repeat another; `{}` = with defaults."
    )
    decontamination: Decontamination | None = Field(
        default=None, description="Mark what stands in a reference set."
    )
    skip_empty: Switch = Field(default=True, description="Empty fields and blank lines repeat nothing.")
    min_length: Whole = Field(
        default=0, ge=0, description="Shorter fields and paragraphs, in characters, are left out."
    )
    min_words: Whole = Field(
        default=0, ge=0, description="Fields and paragraphs of fewer words are left out."
    )
    keep: Annotated[Literal["first", "none"] | Prefer, BeforeValidator(_keep)] = Field(
        default="first",
        description="The copy that stays unmarked: the `first` in plan order, `none`, or the first in the "
        "streams of `{prefer: [...]}`.",
    )
    against: Texts = Field(
        default=(),
        description="Globs of document files that are known already, never written; what equals one of them "
        "is a repetition, whatever `keep` says.",
    )
    after: Annotated[Literal["filter"] | None, BeforeValidator(choice)] = Field(
        default=None,
        description="`filter`: survivors are chosen among documents that pass the filter; null: among all.",
    )

    @model_validator(mode="after")
    def _mark_something(self) -> Dedupe:
        kinds = ("documents", "paragraphs", "near_documents", "decontamination")
        marks = [getattr(self, kind).attribute_name for kind in kinds if getattr(self, kind) is not None]
        if not marks:
            raise refuse(f"marks nothing: give one of {', '.join(kinds)}")
        if self.paragraphs is not None and self.paragraphs.share_name is not None:
            marks.append(self.paragraphs.share_name)
        if (twice := first_repeated(marks)) is not None:
            raise refuse(f"two kinds of repetition write one key: {twice}")
        return self
