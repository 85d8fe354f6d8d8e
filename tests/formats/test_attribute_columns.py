"""The columns beside an attribute file: the same rows, whatever they hold, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.formats import attribute_column_reader, attribute_column_values, attribute_columns
from mixle_assets.formats.attribute_column_reader import read_attribute_columns
from mixle_assets.formats.attribute_columns import write_attribute_columns
from mixle_assets.formats.attribute_files import columns_path_of, open_attribute_rows
from mixle_assets.formats.attributes import read_attribute_rows
from mixle_assets.formats.codecs import write_shard
from mixle_assets.formats.rows import encode_row


def write_rows(path, rows):
    """Write rows as an attribute file and its columns; return both locations."""
    path = str(path)
    with write_shard(path, "gz") as writer:
        for row in rows:
            writer.write(encode_row(row) + b"\n")
    write_attribute_columns(path)
    return path, columns_path_of(path)


def exactly(rows):
    """Return rows so that equal means the same: types, order of keys and signs of zero included."""
    return [(line, repr(document_id), repr(attributes)) for line, document_id, attributes in rows]


numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
places = st.integers(0, 50) | st.integers(2**62, 2**64)
spans = st.lists(st.tuples(places, places, st.floats(0, 1)).map(list), max_size=4)
whole_spans = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 3)).map(list), max_size=3
)
measure = st.tuples(st.just(0), st.just(9), st.floats(0, 1)).map(lambda span: [list(span)])
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(["a", "A", "b", "id", "attributes", "", "a.b", "a.b.list.element", "ü__x", "_"])
orderly = st.lists(
    st.fixed_dictionaries({}, optional={"a": spans, "a.b": spans, "ones": whole_spans, "matches": anything}),
    max_size=12,
)
wild = st.lists(st.dictionaries(keys, spans | whole_spans | anything, max_size=5), max_size=8)
ids = st.text(max_size=6) | st.integers(-(2**65), 2**65) | st.none() | st.booleans() | st.floats(0, 1)


@settings(deadline=None)
@given(
    all_attributes=orderly | wild,
    all_ids=st.lists(st.text(max_size=6), min_size=12, max_size=12)
    | st.lists(st.integers(), min_size=12, max_size=12)
    | st.lists(ids | st.just(...), min_size=12, max_size=12),
    chosen=st.sets(keys),
)
def test_columns_give_exactly_the_rows_that_the_lines_give(tmp_path_factory, all_attributes, all_ids, chosen):
    rows = [
        {"id": one, "attributes": attributes} if one is not ... else {"attributes": attributes}
        for one, attributes in zip(all_ids, all_attributes, strict=False)
    ]
    path, columns = write_rows(tmp_path_factory.mktemp("rows") / "0000.jsonl.gz", rows)

    assert exactly(read_attribute_columns(columns)) == exactly(read_attribute_rows(path))
    some = [sorted(row.attributes.items()) for row in read_attribute_columns(columns, keys=chosen).rows()]
    whole = [attributes.items() for _, _, attributes in read_attribute_rows(path)]
    assert repr(some) == repr([sorted(item for item in items if item[0] in chosen) for items in whole])


@settings(deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "one": measure,
                "two": measure,
                "ends": st.tuples(st.just(0), st.integers(0, 9), st.floats(0, 1)).map(
                    lambda one: [list(one)]
                ),
            },
            optional={"some": spans},
        ),
        min_size=1,
        max_size=9,
    ),
    chosen=st.sets(st.sampled_from(["one", "two", "ends", "some"])),
)
def test_rows_that_are_told_in_the_same_lists_are_the_same_rows(tmp_path_factory, rows, chosen):
    rows = [{"id": str(number), "attributes": row} for number, row in enumerate(rows)]
    _, columns = write_rows(tmp_path_factory.mktemp("rows") / "0000.jsonl.gz", rows)

    reader = read_attribute_columns(columns, keys=chosen, reuse=True)
    told = [(row.id, repr(sorted(row.attributes.items()))) for row in reader.rows()]
    assert told == [
        (row["id"], repr(sorted((key, value) for key, value in row["attributes"].items() if key in chosen)))
        for row in rows
    ]


def test_people_find_a_column_of_spans_for_each_key(tmp_path):
    _, columns = write_rows(
        tmp_path / "0000.jsonl.gz",
        [
            {"id": "a", "attributes": {"q__length": [[0, 5, 5.0]], "q__mail": []}},
            {"id": "b", "attributes": {"q__length": [[0, 3, 3.5]]}},
            {"id": "c", "attributes": {"q__length": [], "q__mail": [[0, 2, 1.0], [4, 6, 0.5]]}},
        ],
    )

    table = pq.read_table(columns)
    assert str(table.schema.field("q__length").type) == (
        "list<element: struct<start: int64 not null, end: int64 not null, score: double not null> not null>"
    )
    assert table.to_pydict() == {
        "id": ["a", "b", "c"],
        "q__length": [
            [{"start": 0, "end": 5, "score": 5.0}],
            [{"start": 0, "end": 3, "score": 3.5}],
            [],
        ],
        "q__mail": [
            [],
            None,
            [{"start": 0, "end": 2, "score": 1.0}, {"start": 4, "end": 6, "score": 0.5}],
        ],
    }


def test_what_is_no_list_of_spans_stands_there_as_json(tmp_path):
    path, columns = write_rows(
        tmp_path / "0000.jsonl.gz",
        [
            {"id": 1, "attributes": {"match": ["x", None], "score": 0.5, "mixed": [[0, 1, 1]]}},
            {"id": 2, "attributes": {"match": None, "mixed": [[0, 1, 1.0]]}},
        ],
    )

    assert pq.read_table(columns).to_pydict() == {
        "id": [1, 2],
        "match": ['["x",null]', "null"],
        "score": ["0.5", None],
        "mixed": ["[[0,1,1]]", "[[0,1,1.0]]"],
    }
    assert exactly(read_attribute_columns(columns)) == exactly(read_attribute_rows(path))


def test_rows_whose_keys_come_in_two_orders_keep_them(tmp_path):
    rows = [
        {"id": "1", "attributes": {"a": [], "b": []}},
        {"id": "2", "attributes": {"b": [], "a": []}},
    ]
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)

    assert [list(row.attributes) for row in read_attribute_columns(columns).rows()] == [
        ["a", "b"],
        ["b", "a"],
    ]


def test_keys_are_put_into_an_order_that_fits_all_rows(tmp_path):
    rows = [
        {"id": "1", "attributes": {"mail": [], "count": []}},
        {"id": "2", "attributes": {"phone": [], "count": []}},
        {"id": "3", "attributes": {"phone": [], "mail": [], "count": []}},
    ]
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)

    assert pq.read_schema(columns).names == ["id", "phone", "mail", "count"]


@pytest.mark.parametrize(
    "late",
    [
        {"id": "z", "attributes": {"new": [[0, 1, 1.0]]}},
        {"id": "z", "attributes": {"a": [[0, 1, 1]]}},
        {"id": "z", "attributes": {"a": "text"}},
        {"id": 7, "attributes": {}},
        {"attributes": {"b": [], "a": []}},
    ],
    ids=["another key", "a whole score", "no spans", "a number as id", "no id, another order"],
)
def test_a_late_row_unlike_all_before_it_is_held_too(tmp_path, monkeypatch, late):
    monkeypatch.setattr(attribute_columns, "CHUNK_ROWS", 2)
    monkeypatch.setattr(attribute_columns, "SAMPLED_CHUNKS", 2)
    rows = [{"id": str(n), "attributes": {"a": [[0, n, 0.5]], "b": []}} for n in range(9)] + [late]
    path, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)

    assert exactly(read_attribute_columns(columns)) == exactly(read_attribute_rows(path))
    assert exactly(read_attribute_rows(path))[-1] == (
        10,
        repr(late["id"]) if "id" in late else "UNSET",
        repr(late["attributes"]),
    )


def test_the_same_rows_give_the_same_bytes_in_row_groups_of_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(attribute_columns, "CHUNK_ROWS", 10)
    monkeypatch.setattr(attribute_columns, "GROUP_ROWS", 20)
    rows = [{"id": str(n), "attributes": {"a": [[0, n, 0.5]]}} for n in range(45)]
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)
    (tmp_path / "again").mkdir()
    _, again = write_rows(tmp_path / "again" / "0000.jsonl.gz", rows)

    assert Path(columns).read_bytes() == Path(again).read_bytes()
    metadata = pq.read_metadata(columns)
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [20, 20, 5]
    assert {metadata.row_group(0).column(n).compression for n in range(metadata.num_columns)} == {"ZSTD"}


def test_a_file_without_rows_has_columns_without_rows(tmp_path):
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", [])

    assert list(read_attribute_columns(columns)) == []


def test_only_the_columns_that_are_asked_for_are_read(tmp_path):
    rows = [{"id": "1", "attributes": {"a": [[0, 1, 1.0]], "b": [[0, 1, 1.0]]}}]
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)

    assert list(read_attribute_columns(columns, keys={"b", "c"}, span_keys={"b"})) == [
        (1, "1", {"b": [(0, 1, 1.0)]})
    ]


def test_cut_and_foreign_files_are_refused_by_name(tmp_path):
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", [{"id": "1", "attributes": {}}])
    content = Path(columns).read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(content[: len(content) // 2])
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"id": ["1"]}), foreign)

    with pytest.raises(InputError, match=r"cut\.parquet: is no whole Parquet file"):
        read_attribute_columns(str(cut))
    with pytest.raises(InputError, match=r"foreign\.parquet: these columns were not written here"):
        read_attribute_columns(str(foreign))
    with pytest.raises(InputError, match="there is no such file"):
        read_attribute_columns(str(tmp_path / "none.parquet"))


def test_a_flipped_bit_is_an_error_and_no_other_value(tmp_path):
    rows = [{"id": str(n), "attributes": {"a": [[0, n, 0.5]]}} for n in range(100)]
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", rows)
    content = bytearray(Path(columns).read_bytes())
    content[60] ^= 1
    Path(columns).write_bytes(content)

    with pytest.raises(InputError, match="damaged"):
        list(read_attribute_columns(columns))


def test_a_location_is_opened_by_what_it_holds(tmp_path):
    path, columns = write_rows(tmp_path / "0000.jsonl.gz", [{"id": "1", "attributes": {"a": []}}])

    assert list(open_attribute_rows(path)) == list(open_attribute_rows(columns)) == [(1, "1", {"a": []})]
    assert open_attribute_rows(columns).stamp.size_in_bytes == len(Path(columns).read_bytes())


def test_the_metadata_says_how_each_key_is_held(tmp_path):
    _, columns = write_rows(tmp_path / "0000.jsonl.gz", [{"id": "1", "attributes": {"id": [], "a": 1}}])

    described = pq.read_metadata(columns).metadata[b"mixle_assets.attribute_columns"]
    assert orjson.loads(described) == {
        "version": 1,
        "id": "text",
        "columns": [["id_", "id", "spans"], ["a", "a", "json"]],
        "row_column": False,
    }


@settings(deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"one": measure},
            optional={"two": measure, "some": spans, "ones": whole_spans, "json": anything},
        ),
        max_size=30,
    ),
    sizes=st.fixed_dictionaries(
        {
            "run": st.integers(1, 6),
            "batch": st.integers(1, 9),
            "chunk": st.integers(1, 5),
            "group": st.integers(1, 9),
            "values": st.integers(1, 20),
        }
    ),
    reuse=st.booleans(),
)
def test_rows_are_the_same_however_they_are_cut(tmp_path_factory, rows, sizes, reuse):
    rows = [{"id": "ü" * (number % 3), "attributes": row} for number, row in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_columns, "CHUNK_ROWS", sizes["chunk"])
        patch.setattr(attribute_columns, "SAMPLED_CHUNKS", 1)
        patch.setattr(attribute_columns, "CHUNK_VALUES", sizes["values"])
        patch.setattr(attribute_columns, "GROUP_ROWS", sizes["group"])
        patch.setattr(attribute_column_values, "MEASURED_SHARE", 0.2)
        patch.setattr(attribute_column_reader, "RUN_ROWS", sizes["run"])
        patch.setattr(attribute_column_reader, "RUN_SPANS", sizes["values"])
        patch.setattr(attribute_column_reader, "BATCH_ROWS", sizes["batch"])
        path, columns = write_rows(tmp_path_factory.mktemp("rows") / "0000.jsonl.gz", rows)

        assert exactly(read_attribute_columns(columns)) == exactly(read_attribute_rows(path))
        chosen = {"one", "two", "some", "json"}
        reader = read_attribute_columns(columns, keys=chosen, span_keys={"some"}, reuse=reuse)
        told = [(row.id, repr(sorted(row.attributes.items()))) for row in reader.rows()]
        again = [
            (row["id"], {key: value for key, value in row["attributes"].items() if key in chosen})
            for row in rows
        ]
        for (document_id, shown), (expected_id, attributes) in zip(told, again, strict=True):
            as_tuples = repr(sorted((attributes | tupled(attributes)).items()))
            assert document_id == expected_id
            assert shown in (as_tuples, repr(sorted(attributes.items())))  # tuples only where all are spans


def tupled(attributes):
    """Return the spans of ``some`` as tuples."""
    return {"some": [tuple(span) for span in attributes["some"]]} if "some" in attributes else {}
