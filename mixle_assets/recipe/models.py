"""The recipe as frozen models: every key that exists, its default, and what it must not be.

The keys of the YAML file are the field names here. What is checked is what one value, or two beside each
other, can show; expressions, taggers and tokenizers are resolved later, by the pipeline. Reading YAML,
positions and interpolation live in the modules beside this one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    model_serializer,
    model_validator,
)

from mixle_assets.recipe.scalars import (
    FrozenDict,
    Real,
    Spelled,
    Switch,
    Text,
    Texts,
    Whole,
    first_repeated,
    frozen,
    refuse,
    shown,
)

DEFAULT_SET = "tags"
_SET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


def _choice(value: Any) -> Any:
    return value.text if isinstance(value, Spelled) else value


class Section(BaseModel):
    """Base of every part of a recipe: frozen, hashable, picklable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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

    python_stdlib: Annotated[Literal["prose", "code"] | None, BeforeValidator(_choice)] = Field(
        default=None,
        description="The running interpreter's own standard library: its docstrings and help topics "
        "(`prose`) or its modules (`code`).",
    )
    only: Texts = Field(
        default=(), description="Modules to take, each with all below it; empty takes all. For small runs."
    )

    @model_validator(mode="after")
    def _name_one(self) -> Source:
        if self.python_stdlib is None:
            raise refuse("names no source: write python_stdlib: prose, or python_stdlib: code")
        return self


class DedupeDocuments(Section):
    """Whole documents that are equal in one field."""

    key: Text = Field(
        default="$.text", description="JSONPath of the field that makes two documents the same."
    )


class DedupeParagraphs(Section):
    """Lines that stood in an earlier document or earlier in the same one."""


class Dedupe(Section):
    """What is marked as a repetition; a rule or a span must name the mark to drop anything."""

    documents: DedupeDocuments | None = Field(
        default=None, description="Mark repeated documents as `bff_duplicate_docs`; `{}` compares texts."
    )
    paragraphs: DedupeParagraphs | None = Field(
        default=None,
        description="Mark repeated lines as `bff_duplicate_paragraph_spans`; `{}` = with defaults.",
    )
    skip_empty: Switch = Field(default=False, description="Leave out empty texts and lines of white space.")
    min_length: Whole = Field(
        default=0, ge=0, description="Shorter texts and lines, in characters, are left out."
    )
    min_words: Whole = Field(default=0, ge=0, description="Texts and lines of fewer words are left out.")

    @model_validator(mode="after")
    def _mark_something(self) -> Dedupe:
        if self.documents is None and self.paragraphs is None:
            raise refuse("marks nothing: write documents: {} or paragraphs: {}")
        return self


Syntax: TypeAlias = Annotated[Literal["jsonpath", "jq"], BeforeValidator(_choice)]


class Filter(Section):
    """Which documents stay: those that match an include, if there is any, and no exclude."""

    syntax: Syntax = Field(
        default="jsonpath", description="Language of both lists: `jsonpath` (Dolma's) or `jq`."
    )
    include: Texts = Field(default=(), description="A document stays only if one of these matches.")
    exclude: Texts = Field(default=(), description="A document goes if any of these matches.")
    missing_value: Annotated[Literal["natural", "keep", "drop", "error"], BeforeValidator(_choice)] = Field(
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


Codec: TypeAlias = Annotated[Literal["gz", "zst", ""], BeforeValidator(_choice)]


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

    name: Text = Field(description="Letters, digits, `_ . -`; names files and partitions.")
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
        if self.resample and float(self.weight).is_integer():
            raise refuse(
                f"resample draws a fraction anew, but weight {self.weight:g} has none", key="resample"
            )
        return self


class TrainTokenizer(Section):
    """A byte-level BPE tokenizer trained on the mixed shards."""

    vocab_size: Whole = Field(
        default=8192, ge=257, description="Entries, the 256 bytes and the boundary included."
    )


class Tokenizer(Section):
    """How text becomes token ids; exactly one of file, tiktoken, sentencepiece, train, bytes."""

    file: Text | None = Field(default=None, description="A Hugging Face `tokenizer.json`.")
    tiktoken: Text | None = Field(default=None, description="A tiktoken ranks file.")
    sentencepiece: Text | None = Field(default=None, description="A SentencePiece model file.")
    train: TrainTokenizer | None = Field(default=None, description="Train one here: `{vocab_size: 8192}`.")
    bytes: Switch = Field(default=False, description="True: a token is a byte.")
    boundary: Text | None = Field(
        default="<|endoftext|>",
        description="The token that packing writes after every document; null = none.",
    )
    bos: Text | None = Field(default=None, description="A token before every document; null = none.")
    special_strings: Annotated[Literal["as_text"], BeforeValidator(_choice)] = Field(
        default="as_text", description="The spelling of a special token inside a text is text."
    )
    engine: Text = Field(
        default="auto", description="Which implementation encodes; `auto` = the verified fastest."
    )

    @model_validator(mode="after")
    def _name_one(self) -> Tokenizer:
        given = [
            kind
            for kind in ("file", "tiktoken", "sentencepiece", "train", "bytes")
            if getattr(self, kind) not in (None, False)
        ]
        if not given:
            raise refuse("names no tokenizer: give one of file, tiktoken, sentencepiece, train, bytes")
        if len(given) > 1:
            raise refuse(f"names {len(given)} tokenizers ({', '.join(given)}): give one", key=given[1])
        return self


class Packing(Section):
    """How token ids become batches."""

    block: Whole = Field(default=1024, gt=0, description="Targets in a row, in tokens.")
    batch_size: Whole = Field(default=8, gt=0, description="Rows in a batch.")
    seed: Whole = Field(
        default=0, ge=0, description="Decides the order of documents and the sampled fractions."
    )
    epochs: Whole = Field(default=1, gt=0, description="Passes over the corpus that are laid out.")
    world_size: Whole = Field(default=1, gt=0, description="Ranks (readers) that share the corpus.")
    pad_id: Whole = Field(
        default=0, ge=0, description="Fills the tail of a last row; its targets are masked."
    )
    order: Annotated[Literal["mixle"], BeforeValidator(_choice)] = Field(
        default="mixle", description="The permutation of documents for a seed and an epoch."
    )
    residency: Annotated[Literal["documents", "rows"], BeforeValidator(_choice)] = Field(
        default="documents",
        description="Ranks share documents (each packs its own) or the rows of one global packing.",
    )
    equalize: Annotated[Literal["none", "drop", "pad"], BeforeValidator(_choice)] = Field(
        default="none",
        description="How ranks get equally many batches: not at all, by dropping or by padding.",
    )
    strategy: Annotated[Literal["concatenate", "best_fit"], BeforeValidator(_choice)] = Field(
        default="concatenate",
        description="One stream of tokens cut into rows, or whole documents fitted into rows.",
    )
    materialize: Annotated[Literal["rows", "plan"], BeforeValidator(_choice)] = Field(
        default="rows", description="Write the rows, or only the plan that gives them."
    )
    selector: Text | None = Field(
        default=None, description="Dotted path of a function that gives the order instead; null = none."
    )


class Tolerate(Section):
    """Which faults are counted instead of stopping the work."""

    missing_attributes: Annotated[Literal["error", "skip"], BeforeValidator(_choice)] = Field(
        default="error", description="A foreign attribute file that is missing or short."
    )
    malformed_row: Annotated[Literal["error", "skip"], BeforeValidator(_choice)] = Field(
        default="error", description="A line that is not a document."
    )
    key_collision: Annotated[Literal["error", "last"], BeforeValidator(_choice)] = Field(
        default="error", description="Two sets that write one attribute key; `last` = the later listed wins."
    )
    dead_rule: Annotated[Literal["error", "warn"], BeforeValidator(_choice)] = Field(
        default="error", description="A rule over attributes that nothing writes."
    )


class Execution(Section):
    """How the work is run; never changes content."""

    engine: Annotated[Literal["serial", "processes", "ray"], BeforeValidator(_choice)] = Field(
        default="processes", description="`serial`, `processes` on this machine, or a `ray` cluster."
    )
    workers: Whole | None = Field(default=None, gt=0, description="Processes; null = one per core.")
    attributes_format: Annotated[Literal["jsonl"], BeforeValidator(_choice)] = Field(
        default="jsonl", description="Format of the attribute files."
    )
    attributes_place: Annotated[Literal["root", "beside"], BeforeValidator(_choice)] = Field(
        default="root", description="Below the root, or `beside` the documents in Dolma's layout."
    )


class WorkDir(Section):
    """Dolma's work folders: accepted, not needed (resume goes by manifest)."""

    input: Text | None = Field(default=None, description="Accepted.")
    output: Text | None = Field(default=None, description="Accepted.")


class Recipe(Section):
    """One corpus: everything that decides what its files hold.

    Attributes:
        path: The file it was read from, as it was given; None for a recipe made in code.
        mode: ``recipe`` for our own, ``dolma`` for a Dolma mixing config.
        dryrun: Dolma mode only: check, then stop.
        work_dir: Dolma mode only.
    """

    name: Text = Field(default="", description="Free text; default: the file's stem.")
    streams: tuple[Stream, ...] = Field(description="In the order in which their shards are numbered.")
    shuffle: Switch = Field(default=True, description="False: one shard per input file, names kept.")
    tokenizer: Tokenizer | None = Field(
        default=None, description="Null: the work ends with the mixed shards."
    )
    packing: Packing = Field(default=Packing(), description="How token ids become batches.")
    tolerate: Tolerate = Field(default=Tolerate(), description="Which faults are counted instead of fatal.")
    execution: Execution = Field(default=Execution(), description="How the work is run.")
    path: str | None = Field(default=None, exclude=True)
    mode: Literal["recipe", "dolma"] = Field(default="recipe", exclude=True)
    dryrun: Switch = Field(default=False, exclude=True)
    work_dir: WorkDir = Field(default=WorkDir(), exclude=True)

    _lines: dict[str, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _tell_streams_apart(self) -> Recipe:
        if not self.streams:
            raise refuse("no streams: a recipe needs at least one", key="streams")
        names = [stream.name for stream in self.streams]
        if (twice := first_repeated(names)) is not None:
            first, second = [index for index, name in enumerate(names) if name == twice][:2]
            raise refuse(
                f"two streams are called {twice!r} (streams.{first} and streams.{second}): their files would "
                "overwrite each other",
                key=f"streams.{second}.name",
            )
        if self.tokenizer is not None and not any(stream.weight for stream in self.streams):
            raise refuse("every stream has weight 0: an epoch would be empty", key="streams")
        return self

    @property
    def slug(self) -> str:
        """The name with every character other than ASCII letters, digits and ``_`` made ``_``."""
        return re.sub(r"[^A-Za-z0-9_]", "_", self.name)

    def stream(self, name: str) -> Stream:
        """Return the stream called ``name``.

        Raises:
            KeyError: There is none.
        """
        for stream in self.streams:
            if stream.name == name:
                return stream
        raise KeyError(name)

    def line_of(self, key: str) -> int | None:
        """Return the line of a dotted key, ``streams.0.filter.exclude.2``, or of the nearest above it."""
        while key:
            if key in self._lines:
                return self._lines[key]
            key = key.rpartition(".")[0]
        return self._lines.get("")

    def locate(self, location: str) -> str:
        """Return a path of this recipe as seen from the working directory.

        Relative paths of a recipe start at its file's folder, those of a Dolma config at the working
        directory; URLs and absolute paths stand as they are.
        """
        if self.mode == "dolma" or self.path is None or "://" in location or os.path.isabs(location):  # noqa: PTH117
            return location
        return os.path.join(os.path.dirname(self.path), location)  # noqa: PTH118, PTH120

    def locate_pattern(self, pattern: str) -> str:
        """Return a glob of this recipe as seen from the working directory; see ``locate``.

        The recipe's own folder is taken literally, whatever brackets are in its name.
        """
        located = self.locate(pattern)
        if located == pattern:
            return pattern
        folder = located[: len(located) - len(pattern)]
        return re.sub(r"([*?\[])", r"[\1]", folder) + pattern
