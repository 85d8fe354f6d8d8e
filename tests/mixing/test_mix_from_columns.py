"""Mixing from columns is mixing from JSON lines: the same rows, counts, reasons and errors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError, MixleError
from mixle_assets.formats.attribute_columns import write_attribute_columns
from mixle_assets.formats.attribute_files import columns_path_of
from mixle_assets.formats.codecs import write_shard
from mixle_assets.formats.rows import encode_row
from mixle_assets.mixing.mixer import MixFile, MixTask, mix_shard
from mixle_assets.recipe.models import Tolerate
from mixle_assets.recipe.streams import Stream

RULES = {
    "exclude": [
        "$.attributes[?(@.length[0][2] < 3)]",
        "$.attributes[?(@.length[0][2] == 7)]",
        "$.attributes.marks[?(@[2] >= 1)]",
    ]
}
CUTS = [
    {"span": "$.attributes.marks", "min_score": 0.25, "max_score": 0.75, "replacement": "<{}>"},
    {"span": "$.attributes.names", "replacement": "N"},
]


def write_lines(path, rows):
    with write_shard(str(path), "gz") as writer:
        for row in rows:
            writer.write(encode_row(row) + b"\n")
    return str(path)


def mixed(folder, documents, attributes, *, discard=(), rules=None, tolerate=None):
    """Mix from JSON lines and from columns; return what each wrote or raised, locations left out."""
    stream = Stream(
        name="s",
        documents=["x"],
        filter=rules or RULES,
        span_replacement=CUTS,
        output={"discard_fields": list(discard)},
    )
    path = write_lines(folder / "documents.jsonl.gz", documents)
    lines = write_lines(folder / "attributes.jsonl.gz", attributes)
    write_attribute_columns(lines)
    outcomes = []
    for form in (lines, columns_path_of(lines)):
        file = MixFile(path, "s/0000.jsonl.gz", (("tags", form),))
        task = MixTask("s/0000", stream, (file,), str(folder / "out.jsonl.gz"), tolerate or Tolerate())
        try:
            written = mix_shard(task)
            outcomes.append(
                (written.rows_digest, written.file_hash, repr(written.counts), repr(written.details))
            )
        except MixleError as error:
            outcomes.append((type(error), str(error).replace(form, "FILE")))
    return outcomes


places = st.integers(-2, 12)
marks = st.lists(
    st.tuples(places, places, st.floats(0, 1.5) | st.sampled_from([0.25, 0.75, 1.0])).map(list), max_size=3
)
lengths = st.lists(st.tuples(st.just(0), places, st.sampled_from([2.0, 3.0, 7.0])).map(list), max_size=1)
whole = st.lists(st.tuples(st.just(0), places, st.integers(1, 8)).map(list), max_size=1)
odd = st.sampled_from(
    [None, "text", [], [[0, 1]], [[0.0, 2, 0.5]], [[0, 2, 1], [3, 4, 0.5]], {"a": 1}, [0, 3, 0.5]]
)


@settings(deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries({}, optional={"length": lengths, "marks": marks, "names": marks}), max_size=10
    )
    | st.lists(
        st.fixed_dictionaries({}, optional={"marks": marks | odd, "length": whole | odd, "names": marks}),
        max_size=4,
    ),
    discards=st.booleans(),
)
def test_the_same_rows_are_mixed_from_both_forms(tmp_path_factory, rows, discards):
    documents = [{"id": str(n), "text": "abcdefghij"[: n + 3]} for n in range(len(rows))]
    attributes = [{"id": str(n), "attributes": row} for n, row in enumerate(rows)]

    from_lines, from_columns = mixed(
        tmp_path_factory.mktemp("mix"), documents, attributes, discard=["attributes"] if discards else []
    )

    assert from_columns == from_lines


@pytest.mark.parametrize("num_rows", [1, 3], ids=["too few", "too many"])
def test_rows_that_do_not_go_with_the_documents_are_refused_from_both_forms(tmp_path, num_rows):
    documents = [{"id": str(n), "text": "abc"} for n in range(2)]
    attributes = [{"id": str(n), "attributes": {}} for n in range(num_rows)]

    from_lines, from_columns = mixed(tmp_path, documents, attributes)

    assert from_columns == from_lines
    assert from_columns[0] is InputError


def test_a_row_of_another_document_is_refused_with_its_line(tmp_path):
    documents = [{"id": one, "text": "abc"} for one in ("a", "b", 7)]
    attributes = [{"id": one, "attributes": {}} for one in ("a", "b", "7")]

    from_lines, from_columns = mixed(tmp_path, documents, attributes)

    assert from_columns == from_lines
    assert from_columns[1].startswith("FILE:3: ")
