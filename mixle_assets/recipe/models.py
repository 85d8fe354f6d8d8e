"""The recipe as frozen models: every key that exists, its default, and what it must not be.

The keys of the YAML file are the field names here and in ``streams``. What is checked is what one value, or
two beside each other, can show; expressions, taggers and tokenizers are resolved later, by the pipeline.
Reading YAML, positions and interpolation live in the modules beside this one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, model_serializer, model_validator

from mixle_assets.recipe.dedupe import Prefer
from mixle_assets.recipe.dolma import find_fault_in_dolma_stream
from mixle_assets.recipe.scalars import (
    FrozenDict,
    Real,
    Section,
    Spelled,
    Switch,
    Text,
    Whole,
    choice,
    first_repeated,
    frozen,
    refuse,
    shown,
)
from mixle_assets.recipe.streams import Source, Stream

if TYPE_CHECKING:
    from mixle_assets.recipe.interpolation import Origin


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
    special_strings: Annotated[Literal["as_text", "as_ids"], BeforeValidator(choice)] = Field(
        default="as_text",
        description="The spelling of a special token inside a text stays text, or becomes that token's id.",
    )
    pattern: Text | None = Field(
        default=None,
        description="With `tiktoken` only: how text is split, for ranks whose pattern is not a known one.",
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
        if self.pattern is not None and self.tiktoken is None:
            raise refuse(f"only tiktoken ranks are split by a pattern; this is {given[0]}", key="pattern")
        return self


class SelectorUse(Section):
    """A curriculum; in YAML its name alone, or ``{selector: name, parameter: value}``."""

    selector: Text = Field(description="A name of ours, or the dotted path of a function of yours.")
    parameters: FrozenDict[Any] = Field(
        default_factory=FrozenDict, description="Every other key beside `selector`, handed to it by keyword."
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_parameters(cls, value: Any) -> Any:
        if isinstance(value, str | Spelled):
            return {"selector": value}
        if not isinstance(value, Mapping) or "selector" not in value:
            raise refuse(f"must be a name or {{selector: name, ...}}, got {shown(value)}")
        others = {key: item for key, item in value.items() if key not in ("selector", "parameters")}
        return {
            "selector": value["selector"],
            "parameters": frozen({**value.get("parameters", {}), **others}),
        }

    @model_serializer
    def _as_written(self) -> Any:
        return {"selector": self.selector, **self.parameters} if self.parameters else self.selector


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
    order: Annotated[Literal["mixle", "separated"], BeforeValidator(choice)] = Field(
        default="mixle", description="The permutation of documents for a seed and an epoch."
    )
    residency: Annotated[Literal["documents", "rows"], BeforeValidator(choice)] = Field(
        default="documents",
        description="Ranks share documents (each packs its own) or the rows of one global packing.",
    )
    equalize: Annotated[Literal["none", "drop", "pad"], BeforeValidator(choice)] = Field(
        default="none",
        description="How ranks get equally many batches: not at all, by dropping or by padding.",
    )
    strategy: Annotated[Literal["concatenate", "best_fit"], BeforeValidator(choice)] = Field(
        default="concatenate",
        description="One stream of tokens cut into rows, or whole documents fitted into rows.",
    )
    materialize: Annotated[Literal["rows", "plan"], BeforeValidator(choice)] = Field(
        default="rows", description="Write the rows, or only the plan that gives them."
    )
    selector: SelectorUse | None = Field(
        default=None,
        description="A curriculum: shortest_first, longest_first, length_buckets, stream_after_stream, "
        "interleave_streams, by_score, or the dotted path of a function; null = none.",
    )


class Tolerate(Section):
    """Which faults are counted instead of stopping the work."""

    missing_attributes: Annotated[Literal["error", "skip"], BeforeValidator(choice)] = Field(
        default="error", description="A foreign attribute file that is missing or short."
    )
    malformed_row: Annotated[Literal["error", "skip"], BeforeValidator(choice)] = Field(
        default="error", description="A line that is not a document, or that no tokenizer engine can encode."
    )
    max_skipped_share: Real = Field(
        default=1.0,
        ge=0,
        le=1,
        description="With `malformed_row: skip`: the share of a shard's records that may be skipped; a shard "
        "that would skip more fails.",
    )
    key_collision: Annotated[Literal["error", "last"], BeforeValidator(choice)] = Field(
        default="error", description="Two sets that write one attribute key; `last` = the later listed wins."
    )
    dead_rule: Annotated[Literal["error", "warn"], BeforeValidator(choice)] = Field(
        default="error", description="A rule over attributes that nothing writes."
    )

    @model_validator(mode="after")
    def _limit_what_is_skipped(self) -> Tolerate:
        if self.max_skipped_share < 1 and self.malformed_row == "error":
            raise refuse(
                "limits nothing while malformed_row is error: set it to skip", key="max_skipped_share"
            )
        return self


class Execution(Section):
    """How the work is run; never changes content."""

    engine: Annotated[Literal["serial", "processes", "ray"], BeforeValidator(choice)] = Field(
        default="processes", description="`serial`, `processes` on this machine, or a `ray` cluster."
    )
    workers: Whole | None = Field(default=None, gt=0, description="Processes; null = one per core.")
    ray_address: Text | None = Field(
        default=None,
        description="`host:port` of the Ray cluster; null = `$RAY_ADDRESS`, else the one on this machine.",
    )
    attributes_format: Annotated[Literal["jsonl", "parquet"], BeforeValidator(choice)] = Field(
        default="jsonl",
        description="Attribute files are Dolma's `jsonl`; with `parquet` their rows stand beside them as "
        "columns too, which mixing reads unless it keeps them.",
    )
    attributes_place: Annotated[Literal["root", "beside"], BeforeValidator(choice)] = Field(
        default="root", description="Below the root, or `beside` the documents in Dolma's layout."
    )


class WorkDir(Section):
    """Dolma's work folders: accepted, not needed (resume goes by manifest)."""

    input: Text | None = Field(default=None, description="Accepted.")
    output: Text | None = Field(default=None, description="Accepted.")


def _find_fault_in_stream(stream: Stream) -> tuple[str, str] | None:
    """Return key and message of what is wrong with a stream of our own recipes, or None."""
    if "/" in stream.name:
        return "name", f"{stream.name!r} cannot name a stream: letters, digits, `_`, `.` and `-`"
    if stream.output.path is not None:
        return "output.path", "a key of Dolma configs; here everything made lies under the root"
    if stream.source is None and not stream.documents:
        return "", f"the stream {stream.name!r} has no documents: give `documents` or `source`"
    return None


class Recipe(Section):
    """One corpus: everything that decides what its files hold.

    Attributes:
        path: The file it was read from, as it was given; None for a recipe made in code.
        mode: ``recipe`` for our own, ``dolma`` for a Dolma mixing config.
        dryrun: Dolma mode only: check, then stop.
        work_dir: Dolma mode only.
    """

    name: Text = Field(default="recipe", min_length=1, description="Free text; default: the file's stem.")
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
    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

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
        for index, stream in enumerate(self.streams):
            keep = stream.dedupe.keep if stream.dedupe is not None else None
            for preferred in keep.prefer if isinstance(keep, Prefer) else ():
                if preferred not in names:
                    raise refuse(
                        f"there is no stream {preferred!r}; there are {', '.join(names)}",
                        key=f"streams.{index}.dedupe.keep.prefer",
                    )
        if self.tokenizer is not None and not any(stream.weight for stream in self.streams):
            raise refuse("every stream has weight 0: an epoch would be empty", key="streams")
        return self

    @model_validator(mode="after")
    def _follow_the_mode(self) -> Recipe:
        if self.mode == "dolma" and self.execution.workers is None:
            raise refuse("must be a whole number, got null", key="execution.workers")
        for index, stream in enumerate(self.streams):
            find = find_fault_in_dolma_stream if self.mode == "dolma" else _find_fault_in_stream
            if (fault := find(stream)) is not None:
                key, message = fault
                raise refuse(message, key=f"streams.{index}.{key}" if key else f"streams.{index}")
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

    def remember(self, lines: dict[str, int], origins: dict[str, Origin]) -> None:
        """Note where each dotted key stands in the file, and what was interpolated; for the loader."""
        self._lines.update(lines)
        self._origins.update(origins)

    def origin_of(self, key: str) -> Origin | None:
        """Return where an interpolated value came from; None for one that stands in the file as it is."""
        return self._origins.get(key)

    def stands_in_file(self, key: str) -> bool:
        """Return whether a dotted key stands in the recipe's file, rather than having its default."""
        return key in self._lines

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

    def locate_source(self, source: Source) -> Source:
        """Return a source whose files are named as seen from the working directory; see ``locate``."""
        patterns = {
            kind: tuple(map(self.locate_pattern, getattr(source, kind)))
            for kind in ("files", "warc", "parquet")
        }
        return source.model_copy(update={**patterns, "datasets": tuple(map(self.locate, source.datasets))})
