import datetime
import decimal
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing.sources import Left
from mixle_assets.sourcing.tables import digest_of, find_documents

TABLE = pa.table(
    {
        "id": pa.array([7, 8, None], pa.int64()),
        "text": ["one", " ", "three"],
        "body": pa.array(["b1", None, "b3"], pa.large_string()),
        "day": [datetime.date(2024, 1, 2)] * 3,
        "price": [decimal.Decimal("1.50")] * 3,
        "tags": [["a"], [], None],
        "raw": [b"x"] * 3,
    }
)


@pytest.fixture
def parquet(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=2)
    return f"{tmp_path}/*.parquet"


def test_a_row_is_a_document_with_its_own_id_or_its_place(parquet):
    assert list(find_documents(Source(parquet=[parquet]))) == [
        {"id": 7, "text": "one", "source": "parquet", "metadata": {"path": "t.parquet", "row": 0}},
        Left("empty"),
        {
            "id": "t.parquet:2",
            "text": "three",
            "source": "parquet",
            "metadata": {"path": "t.parquet", "row": 2},
        },
    ]


def test_text_id_and_metadata_come_from_the_columns_that_are_named(parquet):
    source = Source(parquet=[parquet], text="body", id="text", columns=["day", "price", "tags"])

    first, second, _ = find_documents(source)

    assert (first["id"], first["text"]) == ("one", "b1")
    assert first["metadata"] == {
        "path": "t.parquet",
        "row": 0,
        "day": "2024-01-02",
        "price": "1.50",
        "tags": ["a"],
    }
    assert second == Left("no text")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"text": "txt"}, r"t\.parquet: no column 'txt'; there are id, text, body"),
        ({"id": "key"}, "no column 'key'"),
        ({"text": "tags"}, "the column 'tags' holds list"),
        ({"columns": ["raw"]}, "row 0: the column 'raw' holds bytes, not JSON"),
    ],
)
def test_a_column_that_does_not_fit_is_refused_with_what_there_is(parquet, settings, message):
    with pytest.raises(InputError, match=message):
        list(find_documents(Source(parquet=[parquet], **settings)))


def test_a_broken_table_is_an_error_with_its_path(tmp_path, parquet):
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:-20])

    with pytest.raises(InputError, match=r"t\.parquet: cannot be read as parquet"):
        list(find_documents(Source(parquet=[parquet])))


def save_dataset(folder, table, num_files):
    """Write what the `datasets` library's save_to_disk writes: Arrow streams and a list of them."""
    folder.mkdir(parents=True)
    names = [f"data-{n:05d}-of-{num_files:05d}.arrow" for n in range(num_files)]
    size = -(-table.num_rows // num_files)
    for n, name in enumerate(names):
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table.slice(n * size, size))
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "x"}
    (folder / "state.json").write_text(json.dumps(state))


def test_a_saved_dataset_gives_its_rows_in_order_with_rows_counted_in_each_file(tmp_path):
    save_dataset(tmp_path / "wiki", pa.table({"text": ["a", "b", "c"]}), num_files=2)

    found = list(find_documents(Source(datasets=[f"{tmp_path}/wiki/"])))

    assert [(each["id"], each["text"]) for each in found] == [
        ("wiki/data-00000-of-00002.arrow:0", "a"),
        ("wiki/data-00000-of-00002.arrow:1", "b"),
        ("wiki/data-00001-of-00002.arrow:0", "c"),
    ]
    assert found[0]["source"] == "datasets"


def test_the_splits_of_a_saved_mapping_of_datasets_come_one_after_the_other(tmp_path):
    save_dataset(tmp_path / "all/train", pa.table({"text": ["a"]}), num_files=1)
    save_dataset(tmp_path / "all/test", pa.table({"text": ["b"]}), num_files=1)
    (tmp_path / "all/dataset_dict.json").write_text('{"splits": ["train", "test"]}')

    found = list(find_documents(Source(datasets=[f"{tmp_path}/all"])))

    assert [each["metadata"]["path"] for each in found] == [
        "all/train/data-00000-of-00001.arrow",
        "all/test/data-00000-of-00001.arrow",
    ]


def test_a_folder_that_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"neither state\.json nor dataset_dict\.json"):
        list(find_documents(Source(datasets=[str(tmp_path)])))


def test_the_digest_follows_the_columns_and_the_files(tmp_path, parquet):
    digests = {digest_of(Source(parquet=[parquet])), digest_of(Source(parquet=[parquet], columns=["day"]))}
    pq.write_table(TABLE.slice(1), tmp_path / "t.parquet")

    assert len({*digests, digest_of(Source(parquet=[parquet]))}) == 3
