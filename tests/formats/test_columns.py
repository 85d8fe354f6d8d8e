"""Columns built from buffers are those that Arrow builds, and pandas stays out of the process."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.formats.columns import flag_column, list_column, number_column, text_column


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
@settings(deadline=None)
def test_texts_become_the_column_that_arrow_makes_of_them(texts):
    column = text_column(texts)

    column.validate(full=True)
    assert column.equals(pa.array(texts, pa.string()))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32", "int64", "float32"])
def test_numbers_become_the_column_that_arrow_makes_of_them(dtype):
    values = np.array([1, 2, 3], dtype)

    assert number_column(values).equals(pa.array(values))
    assert number_column(values[::2]).to_pylist() == [1, 3]
    assert number_column(values[:0]).to_pylist() == []


@given(flags=st.lists(st.booleans()))
@settings(deadline=None)
def test_flags_become_the_column_that_arrow_makes_of_them(flags):
    assert flag_column(np.array(flags, np.bool_)).equals(pa.array(flags, pa.bool_()))


@pytest.mark.parametrize("kind", [pa.list_(pa.uint16()), pa.large_list(pa.uint16())])
def test_lists_have_their_lengths(kind):
    column = list_column(number_column(np.array([5, 6, 7], np.uint16)), np.array([2, 0, 1]), kind)

    column.validate(full=True)
    assert column.equals(pa.array([[5, 6], [], [7]], kind))


def test_lengths_that_do_not_fit_are_refused():
    values = number_column(np.array([5, 6, 7], np.uint16))

    with pytest.raises(ValueError, match="lists of 2 values do not go with 3"):
        list_column(values, np.array([2]), pa.list_(pa.uint16()))
    with pytest.raises(ValueError, match="2,147,483,648 values do not fit into offsets of int32"):
        list_column(values, np.array([2**31]), pa.list_(pa.uint16()))


PROGRAM = """
import sys
import numpy as np
from mixle_assets.exporting import export_documents, export_rows, ExportTask
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard

with open("a.jsonl", "w") as file:
    file.write('{"id": "a", "text": "b"}')
tokenize_shard(TokenizeTask("a/0", "a.jsonl", Tokenizer(bytes=True), "a.arrow"))
for to in ("megatron", "olmo", "mds", "datasets", "litdata"):
    export_documents([ExportTask("a/0", "a.arrow", "d", to, to)])
export_rows([(np.zeros((1, 3), np.uint16), np.ones((1, 2), bool))], "rows", "datasets")
assert "pandas" not in sys.modules
"""


def test_tokenizing_and_exporting_never_import_pandas(tmp_path):
    import pandas  # noqa: F401 - installed here, or the rest proves nothing

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
