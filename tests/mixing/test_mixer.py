import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from mixle_assets.errors import EvaluationError, ExpressionError, InputError, RecipeError
from mixle_assets.formats.documents import encode_line
from mixle_assets.manifest import hash_bytes
from mixle_assets.mixing.mixer import IdCount, StreamMixer
from mixle_assets.recipe.streams import Stream
from mixle_assets.records import Counts

SHORT = "$.attributes[?(@.words[0][2] < 50)]"


def words(number):
    return {"words": [[0, 1, number]]}


def documents(*texts):
    return [{"id": str(number), "text": text} for number, text in enumerate(texts, 1)]


def spans(*rules):
    return [{"span": f"$.attributes.{key}", "replacement": replacement} for key, replacement in rules]


# ---- judging and counting


def test_a_document_goes_by_the_first_exclude_that_matches_and_every_reason_is_counted(bench):
    bench.documents(
        documents("a", "b", "c", "d"),
        q=[{"words": [[0, 1, 40]], "bad": True}, words(60), {"bad": True}, words(45)],
    )

    written = bench.mix(filter={"exclude": [SHORT, "$.attributes[?(@.bad == true)]"]})

    assert [row["id"] for row in bench.rows] == ["2"]
    assert (written.counts.num_in, written.counts.num_out) == (4, 1)
    assert written.counts.dropped == {SHORT: 2, "$.attributes[?(@.bad == true)]": 1}
    assert written.counts.num_missing == 0
    assert [(rule["hits"], rule["sole_hits"]) for rule in written.details["rules"]["rules"]] == [
        (2, 1),
        (2, 1),
    ]


def test_no_matching_include_is_its_own_reason(bench):
    bench.documents([{"id": 1, "text": "a", "lang": "en"}, {"id": 2, "text": "b"}])

    written = bench.mix(filter={"include": ["$[?(@.lang == 'en')]"]})

    assert [row["id"] for row in bench.rows] == [1]
    assert written.counts.dropped == {"include": 1}


@pytest.mark.parametrize(
    ("missing_value", "syntax", "kept"),
    [
        ("natural", "jsonpath", ["2", "3"]),
        ("natural", "jq", ["2"]),  # null < 50 in jq
        ("keep", "jsonpath", ["2", "3"]),
        ("keep", "jq", ["2", "3"]),
        ("drop", "jsonpath", ["2"]),
        ("drop", "jq", ["2"]),
    ],
)
def test_a_missing_value_means_the_same_in_both_dialects_unless_natural(bench, missing_value, syntax, kept):
    bench.documents(documents("a", "b", "c"), q=[{"words": 40}, {"words": 60}, {}])
    rule = "$.attributes[?(@.words < 50)]" if syntax == "jsonpath" else ".attributes.words < 50"

    bench.mix(filter={"syntax": syntax, "exclude": [rule], "missing_value": missing_value})

    assert [row["id"] for row in bench.rows] == kept


@pytest.mark.parametrize("syntax", ["jsonpath", "jq"])
def test_documents_without_a_key_are_selected_alike_in_both_dialects(bench, syntax):
    bench.documents(documents("a", "b", "c"), q=[{"lang": "en"}, {}, {"lang": None}])
    rule = "$.attributes[?(!@.lang)]" if syntax == "jsonpath" else '.attributes | has("lang") | not'

    bench.mix(filter={"syntax": syntax, "include": [rule]})

    assert [row["id"] for row in bench.rows] == ["2"]


def test_keys_with_dashes_dots_digits_spaces_and_quotes_are_addressed_in_brackets(bench):
    keys = ["a__b-c.d", "2col", "with space"]
    bench.documents(documents("a", "b"), q=[dict.fromkeys(keys, 1), {}])

    bench.mix(filter={"include": ["$.attributes[?(@['a__b-c.d'] && @['2col'] && @['with space'])]"]})

    assert [row["id"] for row in bench.rows] == ["1"]


def test_an_expression_that_does_not_compile_is_refused_before_anything_is_read(bench):
    bench.documents([b"not even JSON"])

    with pytest.raises(ExpressionError):
        bench.mix(filter={"exclude": ["$.attributes[?(@.x <"]})
    assert not bench.is_written


def test_a_failing_rule_names_itself_the_document_and_the_line(bench):
    rows = [{"id": "1", "attributes": {"words": [[0, 1, 1]]}}, {"id": "z", "attributes": {"words": "x"}}]
    bench.documents([b"", *documents("a"), {"id": "z", "text": "b"}], q=rows)

    with pytest.raises(EvaluationError) as caught:
        bench.mix(filter={"syntax": "jq", "exclude": [".attributes.words[0][2] > 5"]})

    error = caught.value
    assert (error.rule, error.document_id, error.line) == (".attributes.words[0][2] > 5", "z", 3)
    assert error.path.endswith("documents/000.jsonl")
    assert not bench.is_written


def test_a_score_that_is_not_a_number_is_refused_at_reading(bench):
    bench.documents(documents("a"), q=[b'{"id":"1","attributes":{"words":[[0,1,NaN]]}}'])

    with pytest.raises(InputError, match="NaN is no JSON number") as caught:
        bench.mix(filter={"exclude": [SHORT]})
    assert caught.value.path.endswith("attributes/q/000.jsonl")

    written = bench.mix(filter={"exclude": [SHORT]}, tolerate={"malformed_row": "skip"})
    assert written.counts.noted["malformed_attribute_rows"] == 1
    assert len(bench.rows) == 1


# ---- rewriting and trimming


def test_a_span_is_replaced_in_code_points(bench):
    bench.documents(documents("a👍b@c.d z"), pii=[{"email": [[2, 7, 1.0]]}])

    bench.mix(span_replacement=spans(("email", "|||EMAIL_ADDRESS|||")))

    assert bench.rows[0]["text"] == "a👍|||EMAIL_ADDRESS||| z"


def test_spans_of_two_rules_are_taken_together(bench):
    bench.documents(documents("0123456789"), a=[{"x": [[3, 9, 1]], "y": [[1, 5, 1]]}])

    written = bench.mix(span_replacement=spans(("x", "A"), ("y", "B")))

    assert bench.rows[0]["text"] == "0BA9"
    assert written.details["spans"] == {
        "num_texts": 1,
        "num_removed_characters": 8,
        "num_clipped": 1,
        "num_swallowed": 0,
        "rules": [
            {
                "span": f"$.attributes.{key}",
                "replacement": replacement,
                "num_documents": 1,
                "num_selected": 1,
                "num_reversed": 0,
                "num_outside": 0,
            }
            for key, replacement in (("x", "A"), ("y", "B"))
        ],
    }


def test_spans_without_a_place_in_the_text_are_counted_by_rule_and_change_nothing(bench):
    bench.documents(documents("abc"), a=[{"x": [[7, 9, 1], [3, 1, 1], [-1, 2, 1]]}])

    written = bench.mix(span_replacement=spans(("x", "|")))

    assert bench.rows[0]["text"] == "|c"
    [rule] = written.details["spans"]["rules"]
    assert (rule["num_selected"], rule["num_reversed"], rule["num_outside"]) == (1, 1, 1)


def test_a_replacement_may_come_from_the_document(bench):
    bench.documents(documents("0123456789"), a=[{"x": [[2, 4, 1]], "rep": "<{}>"}])

    bench.mix(span_replacement=spans(("x", "$.attributes.rep + .id")))

    assert bench.rows[0]["text"] == "01<23>1456789"


def test_a_replacement_from_the_document_that_is_no_string_names_rule_id_and_line(bench):
    bench.documents(documents("a", "0123456789"), a=[{}, {"x": [[2, 4, 1]]}])

    with pytest.raises(EvaluationError, match="must give exactly one string") as caught:
        bench.mix(span_replacement=spans(("x", "$.attributes.rep")))
    assert (caught.value.document_id, caught.value.line) == ("2", 2)


def test_a_span_that_is_none_names_rule_id_and_line(bench):
    bench.documents(documents("a", "b"), a=[{"x": []}, {"x": [[0, "1", 1]]}])

    with pytest.raises(EvaluationError) as caught:
        bench.mix(span_replacement=spans(("x", "")))

    path = bench.files[0].path
    assert str(caught.value) == (
        f"{path}:2: document '2': rule $.attributes.x: "
        "a position in a text must be a whole number, got '1' in [0, '1', 1]"
    )


def test_a_text_emptied_by_a_span_is_dropped_after_replacement_and_counted_apart(bench):
    bench.documents(documents("gone", "  x  ", "stays"), a=[{"x": [[0, 4, 1]]}, {"x": [[2, 3, 1]]}, {}])

    written = bench.mix(span_replacement=spans(("x", "")), output={"min_text_length": 1})

    assert [row["text"] for row in bench.rows] == ["stays"]
    assert written.counts.dropped == {"min_text_length": 2}


def test_empty_texts_without_a_limit_are_written_and_counted(bench):
    bench.documents(documents("", "   ", "\u2003\n", "\x1c", "a"))

    written = bench.mix()

    assert [row["text"] for row in bench.rows] == ["", "   ", "\u2003\n", "\x1c", "a"]
    assert written.counts.noted == {"empty_texts": 3}  # U+001C is no White_Space


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("éé", True),  # 4 bytes
        ("é", False),
        ("   abc   ", False),
        ("abcd", True),
        ("\x1c\x1c\x1c\x1c", True),  # str.strip would take these
        ("\u200b\ufeff", True),
        ("ab\u3000\u2028\x85\xa0\u1680\u205f", False),
    ],
)
def test_length_is_in_utf8_bytes_between_the_white_space_and_the_text_stays_untrimmed(bench, text, stays):
    bench.documents(documents(text))

    bench.mix(output={"min_text_length": 4})

    assert [row["text"] for row in bench.rows] == ([text] if stays else [])


@pytest.mark.parametrize("document", [{"id": 1}, {"id": 1, "text": None}, {"id": 1, "text": ["a"]}])
def test_a_document_that_stays_without_text_is_an_error_with_its_place(bench, document):
    bench.documents([document])

    with pytest.raises(InputError, match="a document must have a string under text") as caught:
        bench.mix()
    assert (caught.value.line, caught.value.document_id) == (1, 1)

    bench.mix(filter={"exclude": ["$.id"]})
    assert bench.rows == []


# ---- stamping and writing


def test_values_pass_through_unchanged_in_their_order(bench):
    line = (
        b'{"z":[1,1.5,-0.25,1e300,null,true],"id":"a","text":"t","B":{"y":1,"x":{"b":[],"a":{}}},'
        b'"n":18446744073709551616,"f":0.1,"metadata":{"url":"u","provenance":"old","n":9007199254740993}}'
    )
    bench.documents([line])

    bench.mix()

    assert bench.lines == [
        line.replace(
            b'"provenance":"old","n":9007199254740993',
            b'"provenance":"000.jsonl:1","n":9007199254740993,"provenance_source":"old"',
        ).replace(b"1e300", b"1e+300" if b"1e+300" in bench.lines[0] else b"1e300")
    ]


def test_text_is_written_as_utf8_not_as_escapes(bench):
    bench.documents(
        [json.dumps(row, ensure_ascii=True).encode() for row in documents("中文" * 50, "😀" * 50)]
    )

    bench.mix()

    assert [row["text"] for row in bench.rows] == ["中文" * 50, "😀" * 50]
    assert "中文".encode() in bench.lines[0]
    assert b"\\u" not in b"".join(bench.lines)


def test_the_first_source_survives_a_mix_of_a_mix_of_a_mix(bench):
    metadata = {"provenance": "mixed.jsonl:5", "provenance_source": "original.jsonl:17"}
    bench.documents([{"id": 1, "text": "t", "metadata": metadata}, {"id": 2, "text": "t", "metadata": 5}])

    written = bench.mix()

    assert [row["metadata"] for row in bench.rows] == [
        {"provenance": "000.jsonl:1", "provenance_source": "original.jsonl:17"},
        {"provenance": "000.jsonl:2"},
    ]
    assert written.counts.noted == {"metadata_replaced": 1}


def test_provenance_is_the_name_the_plan_gave_and_the_physical_line(bench):
    bench.documents([b"", {"id": 1, "text": "a"}], "en/0000.jsonl")
    bench.documents([{"id": 1, "text": "b"}], "fr/0000.jsonl")

    bench.mix()

    assert [row["metadata"]["provenance"] for row in bench.rows] == ["en/0000.jsonl:2", "fr/0000.jsonl:1"]


def test_discarded_fields_are_not_written_but_can_be_judged_by(bench):
    bench.documents([{"id": 1, "text": "t", "lang": "en", "metadata": {"a": 1}}], q=[words(60)])

    bench.mix(
        filter={"include": ["$[?(@.lang == 'en')]"]},
        output={"discard_fields": ["lang", "attributes", "metadata", "never"]},
    )

    assert bench.rows == [{"id": 1, "text": "t", "metadata": {"provenance": "000.jsonl:1"}}]


def test_discarding_the_text_is_refused(bench):
    bench.documents(documents("a"))

    with pytest.raises(RecipeError, match="a document needs its text"):
        bench.mix(output={"discard_fields": ["text"]})


def test_two_documents_with_one_id_are_both_kept_with_their_own_attributes_and_counted(bench):
    bench.documents(
        [
            {"id": "x", "text": "0123"},
            {"id": "x", "text": "4567"},
            {"id": 7, "text": ""},
            {"id": "7", "text": ""},
        ],
        a=[{"s": [[0, 1, 1]]}, {"s": [[1, 2, 1]]}, {}, {}],
    )

    written = bench.mix(span_replacement=spans(("s", "")))

    assert [row["text"] for row in bench.rows] == ["123", "467", "", ""]
    assert written.details["duplicate_ids"] == 1


def test_ids_of_any_json_type_are_told_apart():
    ids = IdCount()
    for document_id in (7, "7", 7.5, None, "null", [7], True, "x", "x", 7):
        ids.add(document_id)

    assert ids.num_repeated() == 2
    assert IdCount().num_repeated() == 0


# ---- whole files


def test_a_gzip_of_joined_members_is_read_to_its_end(bench):
    members = [gzip.compress(b'{"id":%d,"text":"t"}\n' % number * 3) for number in (1, 2)]
    bench.documents(b"".join(members), "000.jsonl.gz")

    written = bench.mix()

    assert [row["metadata"]["provenance"][-1] for row in bench.rows] == ["1", "2", "3", "4", "5", "6"]
    assert (written.counts.num_in, written.counts.num_out) == (6, 6)


def test_a_cut_file_fails_with_its_line_and_leaves_nothing_or_is_counted(bench):
    lines = b"".join(b'{"id":%d,"text":"some text of document %d"}\n' % (n, n) for n in range(1, 7))
    bench.documents(gzip.compress(lines)[:-9], "000.jsonl.gz")

    with pytest.raises(InputError, match="truncated") as caught:
        bench.mix()
    assert caught.value.line == 6
    assert sorted(os.listdir(bench.folder)) == ["documents"]

    written = bench.mix(tolerate={"malformed_row": "skip"})
    assert [row["id"] for row in bench.rows] == [1, 2, 3, 4, 5]
    assert written.counts.noted == {"truncated_inputs": 1}


def test_a_row_that_is_skipped_is_counted_and_the_counts_balance(bench):
    bench.documents([{"id": 1, "text": "a"}, b"{", b'"text"', {"id": 2, "text": "b"}])

    written = bench.mix(tolerate={"malformed_row": "skip"})

    assert (written.counts.num_in, written.counts.num_out) == (4, 2)
    assert written.counts.dropped == {"malformed_row": 2}
    assert written.counts.num_missing == 0


def test_a_row_of_40_megabytes_between_small_ones_is_mixed(bench):
    long = "0123456789" * 4_000_000
    bench.documents(
        [{"id": n, "text": text} for n, text in enumerate(["a", long, "b"])], q=[{}, {"x": [[9, 10, 1]]}, {}]
    )

    bench.mix(span_replacement=spans(("x", "")))

    first, middle, last = bench.rows
    assert (first["text"], last["text"]) == ("a", "b")
    assert middle["text"] == long[:9] + long[10:]


@pytest.mark.parametrize("codec", ["gz", "zst", ""])
@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_nothing_in_gives_a_finished_empty_shard(bench, codec, content):
    bench.documents(content)

    written = bench.mix(codec=codec, filter={"exclude": [SHORT]})

    assert (written.counts.num_in, written.counts.num_out, written.counts.num_missing) == (0, 0, 0)
    assert written.rows_digest == hash_bytes(b"")
    assert bench.is_written


def test_documents_are_counted_exactly_over_several_files(bench):
    for number, name in ((1, "a"), (2, "b"), (5, "c")):
        bench.documents(documents(*"x" * number), f"{name}.jsonl")

    assert bench.mix().counts.num_in == 8


def test_crlf_and_a_byte_order_mark_leave_no_trace(bench):
    bench.documents(b'\xef\xbb\xbf{"id":"1","text":"a"}\r\n{"id":"2","text":"b"}')

    bench.mix()

    assert [(row["id"], row["metadata"]["provenance"]) for row in bench.rows] == [
        ("1", "000.jsonl:1"),
        ("2", "000.jsonl:2"),
    ]


def test_a_lone_surrogate_becomes_a_replacement_character_and_is_counted(bench):
    bench.documents([rb'{"id":1,"text":"a\ud800b"}'])

    written = bench.mix()

    assert bench.rows[0]["text"] == "a\ufffdb"
    assert written.counts.noted == {"lone_surrogates": 1}


def test_inputs_are_stamped_and_never_written_to(bench):
    bench.documents(documents("a"), q=[words(1)])
    file = bench.files[0]
    before = {path: Path(path).read_bytes() for path in (file.path, file.attributes[0][1])}

    written = bench.mix()

    assert {path: stamp.digest for path, stamp in written.read.items()} == {
        path: hash_bytes(content) for path, content in before.items()
    }
    assert {path: Path(path).read_bytes() for path in before} == before


def test_the_same_task_gives_the_same_bytes_anywhere(bench, tmp_path):
    bench.documents(
        documents(*(f"text {number}" for number in range(3000))), q=[words(n % 60) for n in range(3000)]
    )
    task = bench.task(codec="gz", filter={"exclude": [SHORT]})
    (tmp_path / "task").write_bytes(pickle.dumps(task))
    script = (
        "import pickle, pathlib, sys, mixle_assets.mixing.mixer as mixer\n"
        "print(mixer.mix_shard(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())).file_hash)"
    )

    hashes = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "task")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    }

    assert len(hashes) == 1


def test_a_row_can_be_judged_alone_without_writing(bench):
    mixer = StreamMixer(
        Stream(name="s", documents=("*",), filter={"exclude": [SHORT]}, span_replacement=spans(("x", "-")))
    )
    row = {"id": 1, "text": "0123", "attributes": {"x": [[1, 2, 1]], **words(60)}}

    assert mixer.take({"id": 0, "text": "", "attributes": words(1)}, "a:", 1, Counts()) == SHORT
    assert mixer.take(row, "a:", 2, Counts()) is None
    assert (row["text"], row["metadata"]) == ("0-23", {"provenance": "a:2"})


def test_ten_times_the_input_takes_the_same_memory(bench, tmp_path):
    rows = b"".join(encode_line({"id": str(n), "text": "one two three " * 200}) for n in range(1000))
    attributes = b"".join(encode_line({"id": str(n), "attributes": words(60)}) for n in range(1000))
    script = (
        "import pickle, pathlib, resource, sys, mixle_assets.mixing.mixer as mixer\n"
        "mixer.mix_shard(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    peaks = []
    for times in (3, 30):  # 8 and 84 MB
        bench.files.clear()
        bench.documents(rows * times, q=None)
        bench.write("attributes/q/000.jsonl", attributes * times)
        (tmp_path / "task").write_bytes(pickle.dumps(bench.task(codec="gz", filter={"exclude": [SHORT]})))
        finished = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "task")], check=True, capture_output=True, text=True
        )
        peaks.append(int(finished.stdout))

    assert peaks[1] < 1.1 * peaks[0]
