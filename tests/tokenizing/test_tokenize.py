"""A mixed shard becomes doc arrays: which documents, which ids, what is counted, and the same bytes."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.formats.doc_arrays import DocArrays
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import Encoded, engines, loading
from mixle_assets.tokenizing import tokenize
from mixle_assets.tokenizing.tokenize import TokenizeTask, tokenize_shard

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")
NEO = str(GOLDEN / "tokens_neo_tokenizer.json")


def document(number, text, **metadata):
    return {
        "id": f"d{number}",
        "text": text,
        "metadata": {"provenance": f"prose/0000.jsonl:{number}", **metadata},
    }


def write_shard(tmp_path, rows, name="prose-0000.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def task_of(tmp_path, rows, **options):
    options.setdefault("tokenizer", Tokenizer(bytes=True))
    shard = rows if isinstance(rows, str) else write_shard(tmp_path, rows)
    return TokenizeTask(
        key="prose/0000", mixed_shard=shard, output=str(tmp_path / "prose-0000.arrow"), **options
    )


def arrays_of(task):
    return [tokens.tolist() for tokens in DocArrays.open(task.output)]


def test_every_document_becomes_its_ids_with_its_id_and_provenance(tmp_path):
    task = task_of(tmp_path, [document(1, "ab"), {**document(2, " c\n"), "id": 7}])

    written = tokenize_shard(task)

    arrays = DocArrays.open(task.output)
    assert arrays_of(task) == [[97, 98], [32, 99, 10]]  # not stripped, no boundary
    assert [arrays.id(0), arrays.id(1)] == ["d1", 7]
    assert [arrays.provenance(0), arrays.provenance(1)] == ["prose/0000.jsonl:1", "prose/0000.jsonl:2"]
    assert (written.counts.num_in, written.counts.num_out, written.counts.dropped) == (2, 2, {})
    assert arrays.metadata == {
        "tokenizer_hash": loading.load_tokenizer(Tokenizer(bytes=True)).file_hash,
        "boundary": "<|endoftext|>",
        "boundary_id": 256,
        "bos": None,
        "bos_id": None,
        "special_strings": "as_text",
        "vocabulary_size": 257,
        "dtype": "uint16",
    }


def test_texts_without_content_are_counted_and_left_out(tmp_path):
    rows = [document(1, ""), document(2, " \t\n\u3000\u2028"), document(3, "a"), document(4, "\u200b")]
    task = task_of(tmp_path, rows)

    written = tokenize_shard(task)

    assert written.counts.dropped == {"empty_text": 2}
    assert written.counts.num_missing == 0
    assert arrays_of(task) == [[97], [226, 128, 139]]  # a zero-width space is no white space


def test_a_text_that_gives_no_token_is_counted(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    parsed["normalizer"] = {"type": "Replace", "pattern": {"String": "x"}, "content": ""}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))
    task = task_of(
        tmp_path, [document(1, "xxx"), document(2, "ax")], tokenizer=Tokenizer(file=str(path), bos="<|bos|>")
    )

    written = tokenize_shard(task)

    assert written.counts.dropped == {"no_tokens": 1}
    assert arrays_of(task) == [[465, 64]]


@pytest.mark.parametrize("special_strings", ["as_text", "as_ids"])
def test_every_document_begins_with_exactly_one_bos(tmp_path, special_strings):
    rows = [document(1, "<|bos|>a"), document(2, "a")]
    spec = Tokenizer(file=SMALL, bos="<|bos|>", special_strings=special_strings)
    task = task_of(tmp_path, rows, tokenizer=spec)

    tokenize_shard(task)

    first, second = arrays_of(task)
    assert (first[0], first.count(465), first[-1]) == (465, 1, 64)
    assert second == [465, 64]
    assert len(first) == {"as_text": 9, "as_ids": 2}[special_strings]


def test_no_document_ends_with_a_boundary_that_its_text_does_not_spell(tmp_path):
    task = task_of(
        tmp_path, [document(1, "a<|endoftext|>"), document(2, "a")], tokenizer=Tokenizer(file=SMALL)
    )

    written = tokenize_shard(task)

    assert all(464 not in tokens for tokens in arrays_of(task))
    assert written.counts.noted == {"special_strings": 1}
    assert written.details["special_strings_seen"] == {"<|endoftext|>": 1}


@pytest.mark.parametrize(
    ("pad_id", "dtype"),
    [(None, "uint16"), (0, "uint16"), (65535, "uint16"), (65536, "uint32"), (2**32 - 1, "uint32")],
)
def test_the_dtype_holds_the_padding_too(tmp_path, pad_id, dtype):
    task = task_of(tmp_path, [document(1, "ab")], pad_id=pad_id)

    written = tokenize_shard(task)

    assert written.details["dtype"] == dtype == DocArrays.open(task.output).dtype.name
    assert arrays_of(task) == [[97, 98]]


def test_an_id_above_16_bits_is_stored_in_32(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    parsed["model"]["vocab"] |= {"ab": 65536}
    parsed["model"]["merges"] = [["a", "b"]]
    parsed["model"]["vocab"] = {
        t: i for t, i in parsed["model"]["vocab"].items() if len(t) == 1 or i == 65536
    }
    parsed["added_tokens"] = []
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))
    task = task_of(tmp_path, [document(1, "ab")], tokenizer=Tokenizer(file=str(path), boundary=None))

    tokenize_shard(task)

    arrays = DocArrays.open(task.output)
    assert (arrays_of(task), arrays.dtype, arrays.metadata["vocabulary_size"]) == (
        [[65536]],
        np.uint32,
        65537,
    )


def test_what_is_told_of_a_shard(tmp_path):
    rows = [document(1, "é<|endoftext|>"), document(2, "ab"), document(3, "abcd"), document(4, "xy")]

    details = tokenize_shard(task_of(tmp_path, rows)).details

    assert details["num_tokens"] == 15 + 2 + 4 + 2
    assert (details["text_in_bytes"], details["bytes_per_token"]) == (23, 1.0)
    assert details["documents_by_bits_of_length"] == [0, 0, 2, 1, 1]
    assert details["longest_documents"] == [
        {"provenance": "prose/0000.jsonl:1", "num_tokens": 15},
        {"provenance": "prose/0000.jsonl:3", "num_tokens": 4},
        {"provenance": "prose/0000.jsonl:2", "num_tokens": 2},
        {"provenance": "prose/0000.jsonl:4", "num_tokens": 2},
    ]
    assert details["engine"] == "bytes"


def test_the_ids_that_occur_are_told_as_bits_that_shards_can_join(tmp_path):
    details = tokenize_shard(task_of(tmp_path, [document(1, "ab"), document(2, "bd")])).details

    bits = int.from_bytes(zlib.decompress(base64.b64decode(details["ids_used_bits"])), "little")
    assert [number for number in range(300) if bits >> number & 1] == [97, 98, 100]
    assert (details["num_ids_used"], details["vocabulary_size"]) == (3, 257)


def test_an_id_beyond_the_vocabulary_is_refused_with_its_document(tmp_path, monkeypatch):
    monkeypatch.setitem(engines.FAST_ENGINES, "forgetful", Forgetful)
    monkeypatch.setattr(Forgetful, "off_by", 70_000)
    rows = [document(1, "a"), document(2, "a heliotrope")]
    task = task_of(tmp_path, rows, tokenizer=Tokenizer(file=SMALL, engine="forgetful"))

    with pytest.raises(InputError, match=r"token id 70064 at prose/0000\.jsonl:2 is not from 0 to 465"):
        tokenize_shard(task)

    assert list(tmp_path.glob("*.arrow")) == list(tmp_path.glob("*.npy")) == []


def test_the_ten_longest_are_kept_and_of_equals_the_first(tmp_path):
    lengths = [5, 1, 9, 5, 5, 7, 5, 5, 5, 5, 5, 5, 8]
    rows = [document(number, "a" * length) for number, length in enumerate(lengths)]

    longest = tokenize_shard(task_of(tmp_path, rows)).details["longest_documents"]

    assert [entry["provenance"].split(":")[1] for entry in longest] == [
        "2", "12", "5", "0", "3", "4", "6", "7", "8", "9",
    ]  # fmt: skip


def test_unknown_tokens_are_counted(tmp_path):
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parsed = {
        "version": "1.0",
        "added_tokens": [{"id": 0, "content": "[UNK]", **special}],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))
    task = task_of(tmp_path, [document(1, "a b a c")], tokenizer=Tokenizer(file=str(path), boundary=None))

    assert tokenize_shard(task).counts.noted == {"unknown_tokens": 2}
    assert arrays_of(task) == [[1, 0, 1, 0]]


def test_the_tokenizer_file_is_stamped(tmp_path):
    written = tokenize_shard(task_of(tmp_path, [document(1, "a")], tokenizer=Tokenizer(file=SMALL)))

    stamp = written.read[SMALL]
    assert stamp.size_in_bytes == Path(SMALL).stat().st_size
    assert tokenize_shard(task_of(tmp_path, [document(1, "a")])).read == {}


def test_the_folder_and_the_batch_size_leave_no_trace(tmp_path, monkeypatch):
    rows = [json.loads(line) for line in (GOLDEN / "tokens_small_documents.jsonl").read_text().splitlines()]
    bytes_seen, digests = set(), set()
    for name, num_documents in (("a", 1024), ("b", 1), ("c", 5)):
        monkeypatch.setattr(tokenize, "MAX_BATCH_DOCUMENTS", num_documents)
        (tmp_path / name).mkdir()
        task = task_of(tmp_path / name, rows, tokenizer=Tokenizer(file=SMALL))
        written = tokenize_shard(task)
        bytes_seen.add(Path(task.output).read_bytes())
        digests.add((written.rows_digest, written.file_hash, json.dumps(written.details)))

    assert len(bytes_seen) == 1
    assert len(digests) == 1


def test_every_engine_writes_the_same_bytes(tmp_path):
    rows = [json.loads(line) for line in (GOLDEN / "tokens_small_documents.jsonl").read_text().splitlines()]
    found = {}
    for engine in ("tokenizers", "fastokens", "gigatoken", "pieces"):
        task = task_of(tmp_path, rows, tokenizer=Tokenizer(file=SMALL, engine=engine))
        written = tokenize_shard(task)
        assert written.details["engine"] == engine
        found[engine] = (written.rows_digest, Path(task.output).read_bytes())

    assert len(set(found.values())) == 1


class Forgetful:
    """A fast engine that is right on the probes and wrong on one word."""

    name = "forgetful"
    off_by = 1

    def __init__(self, encoder_json):
        self._right = engines.FastokensEngine(encoder_json)

    def encode(self, texts):
        values, lengths = self._right.encode(texts)
        starts = np.cumsum(lengths) - lengths
        values = values.copy()
        for start, text in zip(starts.tolist(), texts, strict=True):
            if "heliotrope" in text:
                values[start] += self.off_by
        return Encoded(values, lengths)


def test_a_fast_engine_that_differs_on_a_document_stops_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(engines.FAST_ENGINES, "forgetful", Forgetful)
    rows = [document(number, f"document {number}") for number in range(600)]
    rows[tokenize.CHECK_EVERY] = document(512, "a heliotrope document")
    task = task_of(tmp_path, rows, tokenizer=Tokenizer(file=SMALL, engine="forgetful"))

    with pytest.raises(
        InputError, match="forgetful gives other ids than tokenizers: on 'a heliotrope"
    ) as caught:
        tokenize_shard(task)

    assert (caught.value.path, caught.value.line, caught.value.document_id) == (task.mixed_shard, 513, "d512")
    assert not Path(task.output).exists()


def test_every_512th_document_is_compared_whatever_the_batches(tmp_path, monkeypatch):
    rows = [document(number, "a") for number in range(1030)]
    for size in (1024, 7, 512):
        monkeypatch.setattr(tokenize, "MAX_BATCH_DOCUMENTS", size)
        task = task_of(tmp_path, rows, tokenizer=Tokenizer(file=SMALL, engine="fastokens"))

        assert tokenize_shard(task).details["documents_compared_with_reference"] == 3  # 0, 512, 1024


class Panicking:
    """A fast engine that fails on one word."""

    name = "panicking"

    def __init__(self, encoder_json):
        self._right = engines.FastokensEngine(encoder_json)

    def encode(self, texts):
        if any("heliotrope" in text for text in texts):
            raise RuntimeError("attempt to subtract with overflow")
        return self._right.encode(texts)


def test_a_document_that_cannot_be_encoded_is_an_error_with_its_place(tmp_path, monkeypatch):
    monkeypatch.setitem(engines.FAST_ENGINES, "panicking", Panicking)
    rows = [document(1, "a"), document(2, "heliotrope"), document(3, "b")]
    task = task_of(tmp_path, rows, tokenizer=Tokenizer(file=SMALL, engine="panicking"))

    with pytest.raises(InputError, match=r"prose-0000\.jsonl:2: document 'd2': panicking failed .* overflow"):
        tokenize_shard(task)

    assert not Path(task.output).exists()


def test_or_it_is_skipped_with_its_reason_where_the_recipe_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(engines.FAST_ENGINES, "panicking", Panicking)
    rows = [document(1, "a"), document(2, "heliotrope"), document(3, "b"), document(4, "heliotropes")]
    spec = Tokenizer(file=SMALL, engine="panicking")
    task = task_of(tmp_path, rows, tokenizer=spec, malformed_row="skip")

    written = tokenize_shard(task)

    assert arrays_of(task) == [[64], [65]]
    assert written.counts.dropped == {"not_encodable": 2}
    assert [(entry["id"], entry["provenance"]) for entry in written.details["not_encodable"]] == [
        ("d2", "prose/0000.jsonl:2"),
        ("d4", "prose/0000.jsonl:4"),
    ]
    assert "overflow" in written.details["not_encodable"][0]["reason"]


def test_a_row_without_text_is_an_error_and_nothing_is_published(tmp_path):
    task = task_of(tmp_path, [{"id": "d1", "content": "a"}])

    with pytest.raises(InputError, match=r"prose-0000\.jsonl:1: .*must have a string under text.*content"):
        tokenize_shard(task)

    assert not Path(task.output).exists()


def test_lone_surrogates_never_reach_the_tokenizer(tmp_path):
    shard = tmp_path / "prose-0000.jsonl"
    shard.write_text('{"id": "d1", "text": "a\\ud800b"}\n')
    task = task_of(tmp_path, str(shard))

    written = tokenize_shard(task)

    assert arrays_of(task) == [[97, 239, 191, 189, 98]]
    assert written.counts.noted == {"lone_surrogates": 1}
    assert DocArrays.open(task.output).provenance(0) == "prose-0000.jsonl:1"  # never mixed: file and line


def test_a_shard_without_documents_is_a_file_without_documents(tmp_path):
    task = task_of(tmp_path, [])

    written = tokenize_shard(task)

    assert arrays_of(task) == []
    assert (written.counts.num_in, written.details["num_tokens"], written.details["bytes_per_token"]) == (
        0,
        0,
        0.0,
    )


def test_a_document_as_long_as_a_batch_and_one_longer_are_kept_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenize, "MAX_BATCH_IN_CHARACTERS", 100)
    rows = [document(1, "a" * 100), document(2, "b" * 150), document(3, "c")]
    task = task_of(tmp_path, rows)

    tokenize_shard(task)

    assert [len(tokens) for tokens in arrays_of(task)] == [100, 150, 1]


def test_two_shards_are_both_finished(tmp_path):
    first = task_of(tmp_path, write_shard(tmp_path, [document(1, "ab")], "a.jsonl"))
    second = TokenizeTask(
        key="prose/0001",
        mixed_shard=write_shard(tmp_path, [document(2, "cd")], "b.jsonl"),
        tokenizer=Tokenizer(bytes=True),
        output=str(tmp_path / "prose-0001.arrow"),
    )

    tokenize_shard(first)
    tokenize_shard(second)

    assert arrays_of(first) == [[97, 98]]
    assert arrays_of(second) == [[99, 100]]


def test_padding_and_boundary_may_share_an_id(tmp_path):
    task = task_of(tmp_path, [document(1, "a")], tokenizer=Tokenizer(file=SMALL), pad_id=464)

    tokenize_shard(task)

    assert arrays_of(task) == [[64]]


def test_a_tokenizer_without_the_boundary_is_refused_before_the_shard_is_opened(tmp_path):
    task = task_of(
        tmp_path, str(tmp_path / "missing.jsonl"), tokenizer=Tokenizer(file=SMALL, boundary="</s>")
    )

    with pytest.raises(RecipeError, match=r"tokenizer\.boundary"):
        tokenize_shard(task)


def test_another_policy_gives_another_digest(tmp_path):
    digests = {
        tokenize_shard(
            task_of(tmp_path, [document(1, "a")], tokenizer=Tokenizer(bytes=True, **options))
        ).rows_digest
        for options in ({}, {"bos": "<s>"}, {"boundary": None}, {"boundary": "</s>"})
    }

    assert len(digests) == 4
