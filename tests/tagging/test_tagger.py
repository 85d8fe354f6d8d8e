"""One pass over a document file writes whole attribute files with a row for every document."""

import gzip
import json
import pickle

import pytest

from mixle_assets.errors import EvaluationError, InputError
from mixle_assets.recipe import TaggerUse, Tolerate
from mixle_assets.records import Document
from mixle_assets.tagging.slowest import SlowestDocuments
from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file


def write_documents(folder, *texts, name="a.jsonl"):
    path = folder / name
    rows = [{"id": str(number), "text": text, "source": "s"} for number, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def task_for(path, folder, sets, **options):
    return TagTask(
        path=path,
        name="prose/a.jsonl",
        stream="prose",
        sets=tuple(
            TaggerSet(name, tuple(uses), str(folder / "attributes" / name / "a.jsonl.gz"))
            for name, uses in sets.items()
        ),
        **options,
    )


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def use(name, **parameters):
    return TaggerUse(tagger=name, parameters=parameters)


def test_all_sets_are_written_in_one_pass_with_a_row_for_each_document(tmp_path):
    path = write_documents(tmp_path, "one two", "", "a|b")
    task = task_for(
        path,
        tmp_path,
        {"size": [use("char_length_v1"), use("doc_count_v1")], "layout": [use("own_taggers.tables")]},
    )

    written = tag_file(pickle.loads(pickle.dumps(task)))  # noqa: S301, as a worker gets it

    assert rows_of(task.sets[0].output) == [
        {
            "id": "0",
            "attributes": {
                "size__char_length_v1__length": [[0, 7, 7.0]],
                "size__doc_count_v1__docs": [[0, 7, 1.0]],
            },
            "source": "s",
        },
        {
            "id": "1",
            "attributes": {
                "size__char_length_v1__length": [[0, 0, 0.0]],
                "size__doc_count_v1__docs": [[0, 0, 1.0]],
            },
            "source": "s",
        },
        {
            "id": "2",
            "attributes": {
                "size__char_length_v1__length": [[0, 3, 3.0]],
                "size__doc_count_v1__docs": [[0, 3, 1.0]],
            },
            "source": "s",
        },
    ]
    assert [row["attributes"] for row in rows_of(task.sets[1].output)] == [
        {"layout__own_taggers_tables__tables": []},
        {"layout__own_taggers_tables__tables": []},
        {"layout__own_taggers_tables__tables": [[0, 3, 1.0]]},
    ]
    assert [written[name].counts.num_out for name in ("size", "layout")] == [3, 3]
    assert list(written["size"].read) == [path]


def test_only_the_wanted_sets_are_written(tmp_path):
    path = write_documents(tmp_path, "text")
    task = task_for(path, tmp_path, {"a": [use("char_length_v1")], "b": [use("char_length_v1")]})

    assert list(tag_file(task, ("b",))) == ["b"]
    assert not (tmp_path / "attributes" / "a").exists()
    with pytest.raises(ValueError, match="no set 'c'"):
        tag_file(task, ("c",))


def test_one_tagger_with_two_sets_of_parameters_stands_side_by_side_in_two_sets(tmp_path):
    path = write_documents(tmp_path, "a|b\nc|d|e")
    sets = {"wide": [use("own_taggers.tables", threshold=2)], "any": [use("own_taggers.tables")]}
    task = task_for(path, tmp_path, sets)

    tag_file(task)

    wide, any_bar = (rows_of(one.output)[0]["attributes"] for one in task.sets)
    assert wide == {"wide__own_taggers_tables__tables": [[4, 9, 1.0]]}
    assert any_bar == {"any__own_taggers_tables__tables": [[0, 3, 1.0], [4, 9, 1.0]]}


def test_a_file_without_documents_gives_a_finished_file_without_rows(tmp_path):
    task = task_for(write_documents(tmp_path), tmp_path, {"size": [use("char_length_v1")]})

    written = tag_file(task)["size"]

    assert rows_of(task.sets[0].output) == []
    assert (written.counts.num_in, written.counts.num_out, written.details["measures"]) == (0, 0, {})


def test_the_same_rows_give_the_same_digest_wherever_they_lie(tmp_path):
    digests = set()
    for place in ("here", "there"):
        folder = tmp_path / place
        folder.mkdir()
        path = write_documents(folder, "one", "two three", name=f"{place}.jsonl")
        written = tag_file(task_for(path, folder, {"q": [use("gopher_v1"), use("random_number_v1", seed=3)]}))
        digests.add(
            (written["q"].rows_digest, written["q"].file_hash, json.dumps(written["q"].details["measures"]))
        )

    assert len(digests) == 1


def test_the_distribution_of_every_measure_is_reported(tmp_path):
    task = task_for(
        write_documents(tmp_path, "", "", "abc", "abcde"), tmp_path, {"size": [use("char_length_v1")]}
    )

    assert tag_file(task)["size"].details["measures"] == {
        "size__char_length_v1__length": {
            "count": 4,
            "documents": 4,
            "min": 0.0,
            "max": 5.0,
            "mean": 2.0,
            "histogram": [[0.0, 0.0, 2], [3.0, 4.0, 1], [4.0, 6.0, 1]],
        }
    }


@pytest.mark.parametrize("tagger", ["Slow", "SlowTogether"])
def test_the_documents_that_took_longest_are_named_in_no_row_and_no_digest(tmp_path, tagger):
    path = write_documents(tmp_path, "short", "x" * 3000, "short", "x" * 5000)
    task = task_for(path, tmp_path, {"q": [use(f"own_taggers.{tagger}")]})

    first, second = tag_file(task)["q"], tag_file(task)["q"]

    longest, shorter, *rest = first.details["slowest"]
    assert (longest["line"], longest["id"], longest["characters"]) == (4, "3", 5000)
    assert (shorter["line"], shorter["id"], shorter["characters"]) == (2, "1", 3000)
    assert longest["seconds"] > shorter["seconds"] > max((one["seconds"] for one in rest), default=0.001)
    assert (first.rows_digest, first.file_hash) == (second.rows_digest, second.file_hash)


def test_only_the_ten_slowest_documents_are_kept():
    slowest = SlowestDocuments()
    for line in range(1, 31):
        seconds = (line * 7 % 31) / 1000
        if seconds > slowest.floor:
            slowest.note(seconds, line, Document(id=line, text="abc"))

    assert [one["seconds"] for one in slowest.as_json()] == [number / 1000 for number in range(30, 20, -1)]
    assert slowest.as_json()[0] == {"seconds": 0.03, "line": 22, "id": "22", "characters": 3}


def test_a_document_with_two_spans_of_a_measure_has_two_scores_and_is_one_document(tmp_path):
    texts = ("To jane.doe@example.com and john.doe@example.com now", "none", "Or to jim.doe@example.com now")
    task = task_for(
        write_documents(tmp_path, *texts), tmp_path, {"pii": [use("pii_regex_with_counts_fast_v2")]}
    )

    measures = tag_file(task)["pii"].details["measures"]

    addresses = measures["pii__pii_regex_with_counts_fast_v2__EMAIL_ADDRESS"]
    assert (addresses["count"], addresses["documents"]) == (3, 2)


@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        (
            use("own_taggers.returns", spans=[[0, 4, 1.0]]),
            r"\[0, 4, 1.0\] is not inside the text of 3 characters",
        ),
        (use("own_taggers.returns", spans=[[-1, 2, 1.0]]), "not inside the text"),
        (use("own_taggers.returns", spans=[[2, 1, 1.0]]), "not inside the text"),
        (use("own_taggers.returns", spans=[[0, 1]]), r"is no \[start, end, score\]"),
        (use("own_taggers.returns", spans=[[0.5, 1, 1]]), r"is no \[start, end, score\]"),
        (use("own_taggers.returns", spans=[[0, 1, "high"]]), r"is no \[start, end, score\]"),
        (use("own_taggers.nan"), "nan.* is not a finite score"),
        (use("own_taggers.undeclared"), r"returned the measure 'b', but declares only \['a'\]"),
        (use("own_taggers.two_in_one"), "two measures that are both written as"),
    ],
)
def test_what_is_no_span_inside_the_text_is_refused_and_nothing_is_left(tmp_path, tagger, message):
    path = write_documents(tmp_path, "abc")
    task = task_for(path, tmp_path, {"q": [use("char_length_v1"), tagger]})

    with pytest.raises(EvaluationError, match=message) as raised:
        tag_file(task)

    error = raised.value
    assert (error.rule, error.document_id, error.path, error.line) == (tagger.tagger, "0", path, 1)
    assert [found for found in (tmp_path / "attributes").rglob("*") if found.is_file()] == []


def test_a_tagger_that_fails_on_one_document_is_named_with_its_place(tmp_path):
    path = write_documents(tmp_path, "fine", "fine", "", "fine")
    task = task_for(
        path, tmp_path, {"good": [use("char_length_v1")], "bad": [use("own_taggers.breaks_on_empty")]}
    )

    with pytest.raises(EvaluationError, match="ZeroDivisionError") as raised:
        tag_file(task)

    assert (raised.value.rule, raised.value.line) == ("own_taggers.breaks_on_empty", 3)
    assert [found for found in (tmp_path / "attributes").rglob("*") if found.is_file()] == []


def test_a_tagger_that_takes_several_documents_writes_the_rows_it_writes_for_one(tmp_path):
    path = write_documents(tmp_path, "a", "bcd", "")
    task = task_for(
        path,
        tmp_path,
        {"both": [use("char_length_v1"), use("own_taggers.Together")], "beside": [use("char_length_v1")]},
    )

    tag_file(task)

    assert [
        row["attributes"]["both__own_taggers_Together__length"] for row in rows_of(task.sets[0].output)
    ] == [
        [[0, 1, 1.0]],
        [[0, 3, 3.0]],
        [[0, 0, 0.0]],
    ]
    assert len(rows_of(task.sets[1].output)) == 3


@pytest.mark.parametrize(
    ("texts", "line", "message"),
    [
        (("a", "never", "b"), 2, "the tagger failed: ValueError: not this one"),
        (("a", "not together", "b"), 1, "with 3 documents at once, but with none of them alone.*too many"),
        (("a", "forgotten", "b"), 1, "returned the measures of 2 documents for 3"),
    ],
)
def test_a_tagger_that_fails_on_several_documents_is_named_with_its_place(texts, line, message, tmp_path):
    path = write_documents(tmp_path, *texts)
    task = task_for(path, tmp_path, {"q": [use("own_taggers.Together")]})

    with pytest.raises(EvaluationError, match=message) as raised:
        tag_file(task)

    error = raised.value
    assert (error.rule, error.path, error.line) == ("own_taggers.Together", path, line)
    assert [found for found in (tmp_path / "attributes").rglob("*") if found.is_file()] == []


def test_a_malformed_row_is_an_error_or_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n{"id": 2}\n{"id": 3, "text": "b"}\n', encoding="utf-8")
    sets = {"size": [use("char_length_v1")]}

    with pytest.raises(InputError) as raised:
        tag_file(task_for(str(path), tmp_path, sets))
    assert raised.value.line == 2

    task = task_for(str(path), tmp_path, sets, tolerate=Tolerate(malformed_row="skip"))
    counts = tag_file(task)["size"].counts
    assert (counts.num_in, counts.num_out, counts.dropped) == (3, 2, {"malformed_row": 1})
    assert [row["id"] for row in rows_of(task.sets[0].output)] == [1, 3]


def test_the_random_number_depends_on_id_and_seed_alone(tmp_path):
    first = write_documents(tmp_path, "x", "y", "z", name="first.jsonl")
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "2", "text": "else"}\n{"id": 2, "text": "else"}\n', encoding="utf-8")

    def drawn(path, seed):
        task = task_for(path, tmp_path, {"s": [use("random_number_v1", seed=seed)]})
        tag_file(task)
        return [
            row["attributes"]["s__random_number_v1__random"][0][2] for row in rows_of(task.sets[0].output)
        ]

    assert drawn(first, 0)[2] == drawn(str(other), 0)[0]
    assert drawn(str(other), 0)[1] != drawn(str(other), 0)[0], "7 and '7' are two documents"
    assert drawn(first, 1) != drawn(first, 0)
    assert all(0 <= number < 1 for number in drawn(first, 0))
