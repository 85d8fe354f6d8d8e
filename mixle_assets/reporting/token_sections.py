"""The sections of the report on tokens and packed epochs: numbers in, HTML out."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from mixle_assets.reporting.html import Cell, Markup, bar, code, percent, section, share_bar, table, text
from mixle_assets.reporting.numbers import CorpusNumbers
from mixle_assets.reporting.plots import bar_svg, histogram_svg
from mixle_assets.reporting.sums import NUM_LONGEST

_SHOWN_RANKS = 64


def show_tokens(numbers: CorpusNumbers) -> str:
    """Return how many tokens each stream has, how they are spread over documents, and what stood out."""
    if not numbers.tokens:
        return ""
    all_tokens = sum(done.num_tokens for done in numbers.tokens.values())
    rows: list[list[Cell]] = [
        [
            code(stream),
            done.num_documents,
            done.num_tokens,
            bar(done.num_tokens, all_tokens, width=100),
            done.text_in_bytes,
            Markup(f"{done.bytes_per_token:.3f}", is_number=True),
            Markup(f"{done.num_tokens / max(done.num_documents, 1):,.1f}", is_number=True),
            _used(done.ids_used, done.vocabulary_size),
            sum(done.special_strings.values()),
            Markup(histogram_svg(done.buckets, name=f"tokens per document of {stream}")),
        ]
        for stream, done in numbers.tokens.items()
    ]
    columns = ["stream", "documents", "tokens", "of all", "bytes of text", "bytes per token"]
    columns += ["tokens per document", "ids used", "special strings", "documents by length"]
    parts = [table("Tokens of each stream, once, without boundaries", columns, rows)]
    parts.append(_how(numbers))
    parts.append(_special_strings(numbers))
    parts.append(_longest(numbers))
    return section(
        "tokens",
        "Tokens",
        "A special string is the spelling of a special token in a text; it is counted whether it is taken as "
        "text or not. Ids used are those that occur at all, of all that the tokenizer has. The histogram has "
        "a bar for each doubling of the length.",
        "".join(parts),
    )


def _how(numbers: CorpusNumbers) -> str:
    engines = sorted({engine for done in numbers.tokens.values() for engine in done.engines})
    dtypes = sorted({dtype for done in numbers.tokens.values() for dtype in done.dtypes})
    words = [f"Encoded by {', '.join(engines)}, stored as {', '.join(dtypes)}."]
    if "vocabulary_size" in numbers.tokenizer:
        words.append(f"Tokenizer trained here: a vocabulary of {numbers.tokenizer['vocabulary_size']:,}.")
    sizes = {done.vocabulary_size for done in numbers.tokens.values()}
    if len(sizes) == 1 and (size := sizes.pop()):
        together = reduce(or_, (done.ids_used for done in numbers.tokens.values()))
        words.append(f"All streams together use {together.bit_count():,} of {size:,} ids.")
    return f"<p>{text(' '.join(words))}</p>\n"


def _used(ids: int, of: int | None) -> Cell:
    """Return how many ids are used, and which share of the vocabulary that is where it is one vocabulary."""
    if not of:
        return "unknown"
    return Markup(f"{ids.bit_count():,} ({percent(ids.bit_count() / of)})", is_number=True)


def _special_strings(numbers: CorpusNumbers) -> str:
    rows: list[list[Cell]] = [
        [code(stream), code(spelling), number]
        for stream, done in numbers.tokens.items()
        for spelling, number in sorted(done.special_strings.items(), key=lambda item: (-item[1], item[0]))
    ]
    return table("Special strings in texts", ["stream", "string", "times"], rows) if rows else ""


def _longest(numbers: CorpusNumbers) -> str:
    found = sorted(
        (-length, provenance, stream)
        for stream, done in numbers.tokens.items()
        for length, provenance in done.longest
    )[:NUM_LONGEST]
    greatest = -found[0][0] if found else 0
    rows: list[list[Cell]] = [
        [code(provenance), code(stream), -length, Markup(bar_svg(-length / max(greatest, 1)))]
        for length, provenance, stream in found
    ]
    return table("The longest documents", ["document", "stream", "tokens", ""], rows)


def show_packing(numbers: CorpusNumbers) -> str:
    """Return what each epoch holds: rows, shares of streams, how often documents come, rows of ranks."""
    if not numbers.epochs:
        return ""
    parts = [_totals(numbers), _shares(numbers), _multiplicities(numbers), _ranks(numbers)]
    return section(
        "packing",
        "Packed epochs",
        "Declared is the share that weights and tokens ask for; real is what the epoch holds. They differ by "
        "what whole documents cannot split.",
        "".join(parts),
    )


def _totals(numbers: CorpusNumbers) -> str:
    rows: list[list[Cell]] = []
    for epoch, details in numbers.epochs.items():
        efficiency = details["packing_efficiency"]
        rows.append(
            [
                f"epoch {epoch}",
                details["documents"],
                details["rows"],
                details["tokens"],
                details["trainable_targets"],
                details["padding"],
                details["tokens_dropped"],
                Markup(f"{bar_svg(efficiency, width=80, kind='bar kept')} {100 * efficiency:.3f} %"),
                max(details["steps_per_rank"], default=0),
            ]
        )
    columns = ["epoch", "documents laid down", "rows", "tokens", "targets trained on", "padding"]
    columns += ["tokens dropped", "efficiency", "steps of the longest rank"]
    return table(f"Epochs, in rows of {numbers.block:,} targets", columns, rows)


def _shares(numbers: CorpusNumbers) -> str:
    rows: list[list[Cell]] = [
        [
            f"epoch {epoch}",
            code(stream["name"]),
            Markup(f"{stream['weight']:g}", is_number=True),
            stream["documents"],
            stream["entries"],
            stream["tokens"],
            share_bar(stream["declared_share"], kind="bar declared", width=100),
            share_bar(stream["real_share"], width=100),
        ]
        for epoch, details in numbers.epochs.items()
        for stream in details["streams"]
    ]
    columns = ["epoch", "stream", "weight", "documents", "laid down", "tokens", "declared share"]
    return table("Share of each stream, in tokens", [*columns, "real share"], rows)


def _multiplicities(numbers: CorpusNumbers) -> str:
    found: dict[str, dict[str, int]] = {
        epoch: details["multiplicities"] for epoch, details in numbers.epochs.items()
    }
    times = sorted({int(number) for one in found.values() for number in one})
    rows: list[list[Cell]] = [
        [f"epoch {epoch}", *(one.get(str(number), 0) for number in times)] for epoch, one in found.items()
    ]
    columns = ["epoch", *(f"{number} times" if number != 1 else "once" for number in times)]
    return table("Documents by how often they come", columns, rows)


def _ranks(numbers: CorpusNumbers) -> str:
    rows: list[list[Cell]] = []
    for epoch, details in numbers.epochs.items():
        per_rank: list[int] = details["rows_per_rank"]
        greatest = max(per_rank, default=0)
        rows += [
            [
                f"epoch {epoch}",
                rank,
                number,
                _steps(details, rank),
                Markup(bar_svg(number / max(greatest, 1))),
            ]
            for rank, number in enumerate(per_rank[:_SHOWN_RANKS])
        ]
    caption = "Rows of each rank"
    if any(len(details["rows_per_rank"]) > _SHOWN_RANKS for details in numbers.epochs.values()):
        caption += f", the first {_SHOWN_RANKS}"
    return table(caption, ["epoch", "rank", "rows", "steps", ""], rows)


def _steps(details: dict[str, Any], rank: int) -> int:
    steps: int = details["steps_per_rank"][rank]
    return steps
