"""A stream of documents and everything done to it until it is mixed: sources, taggers, rules, output.

Frozen models; the keys of the YAML file are the field names. The recipe around the streams stands in
``models``; reading YAML, positions and interpolation live in the modules beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, field_validator, model_serializer, model_validator

from mixle_assets.recipe.dedupe import DUPLICATES_SET, Dedupe
from mixle_assets.recipe.scalars import (
    FrozenDict,
    Real,
    Section,
    Spelled,
    Switch,
    Text,
    Texts,
    Whole,
    choice,
    first_repeated,
    frozen,
    refuse,
    shown,
)

DEFAULT_SET = "tags"
_SOURCE_KINDS = ("python_stdlib", "files", "warc", "parquet", "datasets")
_STREAM_NAME = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_SET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


class TaggerUse(Section):
    """One tagger with its parameters; in YAML its name alone, or ``{tagger: name, parameter: value}``."""

    tagger: Text = Field(description="A registered name, or the dotted path of a function or class of yours.")
    parameters: FrozenDict[Any] = Field(
        default_factory=FrozenDict,
        description="Every other key beside `tagger`, handed to the tagger as it is.",
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_parameters(cls, value: Any) -> Any:
        if isinstance(value, str | Spelled):
            return {"tagger": value}
        if not isinstance(value, Mapping):
            raise refuse(f"must be a tagger's name or {{tagger: name, ...}}, got {shown(value)}")
        if "tagger" not in value:
            raise refuse(f"has no `tagger`: {shown(dict(value))}")
        others = {key: item for key, item in value.items() if key not in ("tagger", "parameters")}
        given = value.get("parameters", {})
        if not isinstance(given, Mapping):
            raise refuse(f"must be a mapping, got {shown(given)}", key="parameters")
        return {"tagger": value["tagger"], "parameters": frozen({**given, **others})}

    @model_serializer
    def _as_written(self) -> Any:
        return {"tagger": self.tagger, **self.parameters} if self.parameters else self.tagger


class Source(Section):
    """Where the documents of a stream are made from."""

    python_stdlib: Annotated[Literal["prose", "code"] | None, BeforeValidator(choice)] = Field(
        default=None,
        description="The running interpreter's own standard library: its docstrings and help topics "
        "(`prose`) or its modules (`code`).",
    )
    files: Texts = Field(default=(), description="Globs of files of text or HTML; a file is a document.")
    warc: Texts = Field(default=(), description="Globs of web archives: WET (text) or WARC (pages).")
    parquet: Texts = Field(default=(), description="Globs of Parquet files; a row is a document.")
    datasets: Texts = Field(
        default=(), description="Folders that Hugging Face `datasets` saved; a row is a document."
    )
    extractor: Annotated[Literal["visible", "trafilatura"], BeforeValidator(choice)] = Field(
        default="visible",
        description="With `files` or `warc`: what of a page of HTML is taken: all that is `visible`, or what "
        "`trafilatura` (`pip install 'mixle_assets[web]'`) takes for its main text.",
    )
    only: Texts = Field(
        default=(),
        description="With `python_stdlib`: modules to take, each with all below it; empty takes all.",
    )
    text: Text = Field(default="text", description="With `parquet` or `datasets`: the column of texts.")
    id: Text | None = Field(
        default=None,
        description="With `parquet` or `datasets`: the column of ids; null = `id` if there is one, else file "
        "and row.",
    )
    columns: Texts = Field(
        default=(), description="With `parquet` or `datasets`: columns to keep as metadata."
    )

    @model_validator(mode="after")
    def _name_one(self) -> Source:
        given = [kind for kind in _SOURCE_KINDS if getattr(self, kind)]
        if not given:
            raise refuse(f"names no source: give one of {', '.join(_SOURCE_KINDS)}")
        if len(given) > 1:
            raise refuse(f"names {len(given)} sources ({', '.join(given)}): give one", key=given[1])
        if self.extractor != "visible" and not (self.files or self.warc):
            raise refuse(f"goes with files or warc; this is {given[0]}", key="extractor")
        if self.only and not self.python_stdlib:
            raise refuse(f"goes with python_stdlib; this is {given[0]}", key="only")
        if not (self.parquet or self.datasets):
            for key, default in (("text", "text"), ("id", None), ("columns", ())):
                if getattr(self, key) != default:
                    raise refuse(f"goes with parquet or datasets; this is {given[0]}", key=key)
        return self

    @property
    def kind(self) -> str:
        """The key that says what the documents are made from, such as ``python_stdlib``."""
        return next(kind for kind in _SOURCE_KINDS if getattr(self, kind))


Syntax: TypeAlias = Annotated[Literal["jsonpath", "jq"], BeforeValidator(choice)]


class Filter(Section):
    """Which documents stay: those that match an include, if there is any, and no exclude."""

    syntax: Syntax = Field(
        default="jsonpath", description="Language of both lists: `jsonpath` (Dolma's) or `jq`."
    )
    include: Texts = Field(default=(), description="A document stays only if one of these matches.")
    exclude: Texts = Field(default=(), description="A document goes if any of these matches.")
    missing_value: Annotated[Literal["natural", "keep", "drop", "error"], BeforeValidator(choice)] = Field(
        default="natural",
        description="Where a rule reads a value that is not there: the dialect's own meaning (`natural`), "
        "`keep` or `drop` the document, or `error`.",
    )

    @model_validator(mode="after")
    def _contradict_nothing(self) -> Filter:
        for name in ("include", "exclude"):
            rules = getattr(self, name)
            if (twice := first_repeated(rules)) is not None:
                second = [i for i, rule in enumerate(rules) if rule == twice][1]
                raise refuse(f"the same expression stands twice: {twice}", key=f"{name}.{second}")
        for index, rule in enumerate(self.exclude):
            if rule in self.include:
                raise refuse(
                    f"stands in include as well, so nothing is kept by it: {rule}", key=f"exclude.{index}"
                )
        return self


class SpanReplacement(Section):
    """Characters that an attribute marks, and what stands in their place."""

    span: Text = Field(description="Selector of the spans, such as `$.attributes.pii__pii_v1__email`.")
    syntax: Syntax = Field(default="jsonpath", description="Language of `span`: `jsonpath` or `jq`.")
    min_score: Real | None = Field(
        default=None, description="Spans with `min_score <= score`; null = no bound."
    )
    max_score: Real | None = Field(
        default=None, description="Spans with `score < max_score`; null = no bound."
    )
    replacement: Text = Field(
        default="",
        description="Written instead; `{}` is the removed text; a leading `$` makes the rest a jq expression "
        "over the document, `\\$` is a literal dollar.",
    )

    @model_validator(mode="after")
    def _hold_some_score(self) -> SpanReplacement:
        if self.min_score is not None and self.max_score is not None and self.min_score >= self.max_score:
            raise refuse(
                f"no score is at least {self.min_score:g} (min_score) and below {self.max_score:g}",
                key="max_score",
            )
        return self


class Output(Section):
    """Size and fields of the mixed shards."""

    path: Text | None = Field(
        default=None, description="Dolma mode only: the folder the shards are written to."
    )
    max_size_in_bytes: Whole = Field(
        default=2**31,
        ge=0,
        description="Stored size of the document files that make one shard; 0 = one file each.",
    )
    min_text_length: Whole = Field(
        default=0, ge=0, description="Shorter texts are dropped: UTF-8 bytes after trimming white space."
    )
    discard_fields: Texts = Field(default=(), description="Top-level fields that are not written.")

    @model_validator(mode="before")
    @classmethod
    def _no_limit(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("min_text_length", 0) is None:
            return {**value, "min_text_length": 0}  # null and 0 are both "no limit", as in Dolma
        return value


Codec: TypeAlias = Annotated[Literal["gz", "zst", ""], BeforeValidator(choice)]


class Compression(Section):
    """Codecs of the stream's files: `gz`, `zst`, or `""` for none."""

    input: Codec | None = Field(default=None, description="Of documents and attributes; null = by extension.")
    output: Codec = Field(default="gz", description="Of the mixed shards.")

    @model_validator(mode="before")
    @classmethod
    def _default_output(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("output", "") is None:
            return {**value, "output": "gz"}  # as in Dolma
        return value


class Stream(Section):
    """A named set of document files under one set of rules."""

    name: Text = Field(description="Letters, digits, `_ . -`, no `..`; names files and partitions.")
    source: Source | None = Field(default=None, description="Makes the documents, below the root.")
    documents: Texts = Field(
        default=(), description="Globs of existing document files, from the recipe's folder, or URLs."
    )
    taggers: FrozenDict[Annotated[tuple[TaggerUse, ...], Field(min_length=1)]] = Field(
        default_factory=FrozenDict,
        description="Attribute set to the taggers that run for it; a bare list is the set `tags`.",
    )
    dedupe: Dedupe | None = Field(default=None, description="What is marked as repetition.")
    attributes: Texts = Field(default=(), description="Sets written by another tool, beside the documents.")
    filter: Filter | None = Field(default=None, description="Which documents stay; null = all.")
    span_replacement: tuple[SpanReplacement, ...] = Field(
        default=(), description="What is cut out of texts or replaced, by span."
    )
    output: Output = Field(default=Output(), description="Size and fields of the mixed shards.")
    compression: Compression = Field(default=Compression(), description="Codecs.")
    weight: Real = Field(
        default=1.0,
        ge=0,
        description="Copies an epoch: 2 = twice, 0.5 = a seeded half, 1.3 = once and 3/10 more.",
    )
    resample: Switch = Field(default=False, description="True: the fraction is another one in each epoch.")

    @model_validator(mode="before")
    @classmethod
    def _name_tagger_sets(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "taggers" not in value:
            return value
        given = value["taggers"]
        if isinstance(given, list | tuple):
            return {**value, "taggers": {DEFAULT_SET: given}}
        if not isinstance(given, Mapping):
            raise refuse(f"must be a list of taggers or a mapping of sets, got {shown(given)}", key="taggers")
        return value

    @field_validator("name")
    @classmethod
    def _name_files(cls, name: str) -> str:
        # Only a Dolma config may use `/`, for sub-folders; the recipe sees to that.
        if ".." in name or not all(_STREAM_NAME.fullmatch(part) for part in name.split("/")):
            raise refuse(f"{name!r} cannot name a stream: letters, digits, `_`, `.` and `-`, no `..`")
        return name

    @model_validator(mode="after")
    def _name_sets(self) -> Stream:
        for name, uses in self.taggers.items():
            if not _SET_NAME.fullmatch(name):
                raise refuse(
                    f"{name!r} cannot name an attribute set: letters, digits, _ and -, not a digit first",
                    key=f"taggers.{name}",
                )
            if (twice := first_repeated(use.tagger for use in uses)) is not None:
                raise refuse(
                    f"{twice} stands twice in the set {name!r}: both would write the same keys",
                    key=f"taggers.{name}",
                )
        return self

    @model_validator(mode="after")
    def _contradict_nothing(self) -> Stream:
        if self.source is not None and self.documents:
            raise refuse("a stream has `source` or `documents`, not both", key="documents")
        if (twice := first_repeated(self.documents)) is not None:
            raise refuse(f"the same pattern stands twice: {twice}", key="documents")
        if (twice := first_repeated(self.attributes)) is not None:
            raise refuse(f"the same set stands twice: {twice}", key="attributes")
        for name in self.attributes:
            if name in self.taggers:
                raise refuse(
                    f"the set {name!r} is both made here (taggers) and foreign (attributes)", key="attributes"
                )
        for key in ("taggers", "attributes"):
            if self.dedupe is not None and DUPLICATES_SET in getattr(self, key):
                raise refuse(f"the set {DUPLICATES_SET!r} is the one that `dedupe` writes", key=key)
        if self.resample and float(self.weight).is_integer():
            raise refuse(
                f"resample draws a fraction anew, but weight {self.weight:g} has none", key="resample"
            )
        return self
