"""The sections of the report up to the mixed documents: stages, records, rules, measures, duplicates, checks.

Each takes the numbers of a corpus and returns HTML, or ``""`` where there is nothing to show. Tokens and
packing stand in ``token_sections``.
"""

from __future__ import annotations

from mixle_assets.records import Counts
from mixle_assets.reporting.html import Cell, Markup, bar, code, fold, matrix, section, table, text
from mixle_assets.reporting.numbers import CorpusNumbers
from mixle_assets.reporting.plots import format_number, histogram_svg
from mixle_assets.reporting.sums import MeasureSum, RuleSum, SpanSum

_FOLDED_MEASURES = 24
"""Measures of a set that are shown at once; a longer table is opened by a click."""


def show_stages(numbers: CorpusNumbers) -> str:
    """Return what each stage made, with its digest."""
    rows: list[list[Cell]] = [
        [
            stage.name,
            f"{stage.num_built:,} of {stage.num_partitions:,}",
            stage.num_outputs,
            stage.size_in_bytes,
            ", ".join(
                version if len(stage.code_versions) == 1 else f"{version} ({number:,} outputs)"
                for version, number in sorted(stage.code_versions.items())
            )
            or "–",
            code(stage.digest) if stage.digest else "not built",
        ]
        for stage in numbers.stages.values()
    ]
    columns = ["stage", "partitions built", "outputs", "bytes", "code version", "digest"]
    return section(
        "stages",
        "Stages",
        "Equal digests mean equal content, on any machine and with any number of workers.",
        table("What each stage made", columns, rows),
    )


def show_records(numbers: CorpusNumbers) -> str:
    """Return the counts of every stage, which balance."""
    rows: list[list[Cell]] = []
    for stage in numbers.stages.values():
        for group, counts in stage.counts.items():
            dropped = sum(counts.dropped.values())
            balance = (
                Markup('<span class="good">balanced</span>')
                if not counts.num_missing
                else Markup(f'<span class="bad">{counts.num_missing:,} unaccounted for</span>')
            )
            rows.append(
                [
                    stage.name,
                    group,
                    counts.num_in,
                    counts.num_out,
                    dropped,
                    balance,
                    _BY_RULE if dropped and stage.name == "mixed_shards" else _reasons(counts),
                    _notes(counts),
                ]
            )
    columns = ["stage", "of", "in", "out", "dropped", "in = out + dropped", "dropped for", "noted"]
    return section(
        "records",
        "Records",
        "Whatever goes into a stage comes out, or is dropped for a reason that is counted.",
        table("Records in and out of each stage", columns, rows, kind="wide") if rows else _NOTHING,
    )


_BY_RULE = Markup('<a href="#rules">by rule</a>')


def _reasons(counts: Counts) -> Markup:
    by_number = sorted(counts.dropped.items(), key=lambda item: (-item[1], item[0]))
    return Markup("<br>".join(f"{number:,} {code(reason).html}" for reason, number in by_number))


def _notes(counts: Counts) -> Markup:
    noted = sorted(counts.noted.items())
    return Markup("<br>".join(f"{number:,} {text(what.replace('_', ' '))}" for what, number in noted))


_NOTHING = "<p>Nothing is built yet.</p>\n"


def show_rules(numbers: CorpusNumbers) -> str:
    """Return, for each stream, what became of its documents and what each rule did."""
    stage = numbers.stages.get("mixed_shards")
    if stage is None or not stage.counts:
        return ""
    parts = []
    for stream, counts in stage.counts.items():
        parts.append(f"<h3>Stream {code(stream).html}</h3>\n{_fate(counts)}")
        rules = numbers.rules.get(stream, {})
        parts += [_rules(done, is_only=len(rules) == 1) for done in rules.values()]
        parts += [_spans(done) for done in numbers.spans.get(stream, {}).values()]
        if numbers.duplicate_ids[stream]:
            parts.append(
                f"<p>{numbers.duplicate_ids[stream]:,} documents have an id that an earlier one has.</p>\n"
            )
    return section(
        "rules",
        "Kept and dropped",
        "A document is dropped by the first rule that decides. A hit counts whether or not another rule "
        "decided first; a sole hit is a document on which this rule alone makes the difference: what the "
        "corpus would gain without it.",
        "".join(parts),
    )


def _fate(counts: Counts) -> str:
    rows: list[list[Cell]] = [["kept", counts.num_out, bar(counts.num_out, counts.num_in, kind="bar kept")]]
    for reason, number in sorted(counts.dropped.items(), key=lambda item: (-item[1], item[0])):
        rows.append([code(reason), number, bar(number, counts.num_in, kind="bar dropped")])
    rows.append(["all documents in", counts.num_in, ""])
    return table("Documents by what became of them", ["reason", "documents", "share"], rows, kind="sums")


def _rules(done: RuleSum, *, is_only: bool) -> str:
    names = _rule_names(done)
    rows: list[list[Cell]] = []
    for name, (_, expression), tally in zip(names, done.rules, done.tallies, strict=True):
        rows.append(
            [
                name,
                code(expression),
                tally["hits"],
                bar(tally["hits"], done.num_documents, width=100),
                tally["sole_hits"],
                tally["missing"],
                tally["errors"],
            ]
        )
    caption = f"What each rule matched, of {done.num_documents:,} documents"
    if not is_only:
        caption += f", in {done.num_shards:,} shards made by these rules (others were made by other rules)"
    columns = ["rule", "expression", "hits", "of all", "sole hits", "attribute missing", "errors"]
    shown = table(caption, columns, rows, kind="rules")
    if len(names) < 2:
        return shown
    values = [[0] * len(names) for _ in names]
    for place, tally in enumerate(done.tallies):
        values[place][place] = tally["hits"]
    for (rule, other), number in done.overlap.items():
        values[rule][other] = values[other][rule] = number
    return shown + matrix("Documents that two rules matched both; on the diagonal, one", names, values)


def _rule_names(done: RuleSum) -> list[str]:
    names, numbers = [], {"include": 0, "exclude": 0}
    for role, _ in done.rules:
        numbers[role] += 1
        names.append(f"{role} {numbers[role]}")
    return names


def _spans(done: SpanSum) -> str:
    rows: list[list[Cell]] = [
        [
            code(span),
            code(replacement) if replacement else "(removed)",
            tally["num_documents"],
            tally["num_selected"],
            tally["num_reversed"] + tally["num_outside"],
        ]
        for (span, replacement), tally in zip(done.rules, done.tallies, strict=True)
    ]
    totals = done.totals
    said = (
        f"<p>{totals['num_removed_characters']:,} characters removed from {totals['num_texts']:,} texts; "
        f"{totals['num_clipped']:,} spans overlapped an earlier one, {totals['num_swallowed']:,} lay within "
        "one.</p>\n"
    )
    columns = ["span", "replacement", "documents", "spans", "reversed or outside"]
    return table("Spans replaced", columns, rows) + said


def show_measures(numbers: CorpusNumbers, *, times: bool = True) -> str:
    """Return how the scores of each measure are distributed, for each stream and attribute set.

    Args:
        numbers: Of the corpus.
        times: Whether to name the documents that took longest: of two builds each has its own.
    """
    parts = []
    for stream, sets in numbers.measures.items():
        for name, measures in sets.items():
            parts.append(_measures(stream, name, measures, numbers.num_tagged[stream][name]))
            if times and (slowest := numbers.slowest[stream][name].found):
                parts.append(_slowest(stream, name, slowest))
    if not parts:
        return ""
    return section(
        "measures",
        "Measures",
        "Scores of all documents before any was dropped: what a threshold is chosen by. Histograms run from "
        "the least to the greatest score over a logarithmic axis; zeros stand apart, in gray and up to the "
        "tallest of the others. Point at a bar for its bounds and its number.",
        "".join(parts),
    )


def _measures(stream: str, name: str, measures: dict[str, MeasureSum], num_documents: int) -> str:
    rows: list[list[Cell]] = []
    for measure, done in sorted(measures.items()):
        without = _UNKNOWN if done.num_documents is None else num_documents - done.num_documents
        rows.append(
            [
                code(measure.removeprefix(f"{name}__")),
                done.num_scores,
                without,
                done.num_zeros,
                _score(done.least),
                _score(done.mean),
                _score(done.greatest),
                Markup(histogram_svg(done.buckets, name=measure)),
            ]
        )
    columns = ["measure", "scores", "documents without", "zeros", "least", "mean", "greatest", "distribution"]
    shown = table(f"{stream}, set {name}: {num_documents:,} documents", columns, rows, kind="measures")
    if len(rows) <= _FOLDED_MEASURES:
        return shown
    return fold(f"{stream}, set {name}: {len(rows)} measures of {num_documents:,} documents", shown)


def _slowest(stream: str, name: str, found: list[tuple[float, str, int, str, int]]) -> str:
    caption = f"{stream}, set {name}: documents that took its taggers longest"
    rows: list[list[Cell]] = [
        [Markup(f"{1000 * seconds:,.1f} ms", is_number=True), characters, code(f"{file}:{line}"), code(id_)]
        for seconds, file, line, id_, characters in found
    ]
    return fold(caption, table(caption, ["time", "characters", "place", "id"], rows))


_UNKNOWN = Markup("–", is_number=True)


def _score(score: float) -> Markup:
    return Markup(format_number(score), is_number=True)


def show_duplicates(numbers: CorpusNumbers) -> str:
    """Return what was found twice in each stream."""
    stage = numbers.stages.get("duplicate_index")
    if stage is None or not stage.counts:
        return ""
    hashed = numbers.stages["content_hashes"].counts
    rows: list[list[Cell]] = []
    for stream, counts in stage.counts.items():
        noted = {**hashed.get(stream, Counts()).noted, **counts.noted}
        rows.append([code(stream), "documents", counts.num_in, ""])
        for what, number in sorted(noted.items()):
            whole = noted.get("paragraphs", 0) if "paragraphs" in what else counts.num_in
            # Characters are no share of a number of documents, and paragraphs are a whole of their own.
            has_share = not what.endswith("characters") and what != "paragraphs"
            rows.append(
                [code(stream), what.replace("_", " "), number, bar(number, whole) if has_share else ""]
            )
    return section(
        "duplicates",
        "Duplicates",
        "The first copy in plan order is no duplicate; a mark drops nothing by itself, a rule does.",
        table("What stood in an earlier document", ["stream", "what", "number", "share"], rows),
    )


def show_checks(numbers: CorpusNumbers) -> str:
    """Return which guarantees were checked on what is built."""
    rows: list[list[Cell]] = []
    for check in numbers.checks:
        if not check.num_keys:
            result = Markup('<span class="quiet">nothing built</span>')
        elif check.num_passed == check.num_keys:
            result = Markup('<span class="good">passed</span>')
        else:
            word = "warn" if check.severity == "warn" else "bad"
            result = Markup(f'<span class="{word}">not passed</span>')
        rows.append(
            [
                check.stage,
                code(check.name),
                f"{check.num_passed:,} of {check.num_keys:,}",
                result,
                check.description,
            ]
        )
    columns = ["stage", "guarantee", "partitions passed", "result", "meaning"]
    caption = "Checks of what is built, in the content it has now"
    body = table(caption, columns, rows, kind="checks") if rows else _NOTHING
    return section(
        "checks",
        "Checks",
        "A partition that changed since it was checked, or that failed, has not passed; "
        "mixle-assets check says why.",
        body,
    )
