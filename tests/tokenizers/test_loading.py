"""Each kind of tokenizer file, loaded: ids, names, hash, dtype, and what is refused at once."""

import json
from pathlib import Path

import numpy as np
import pytest

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.manifest import hash_bytes
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer, smallest_dtype, tokenizer_path

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")
NEO = str(GOLDEN / "tokens_neo_tokenizer.json")
LLAMA = str(GOLDEN / "tokens_llama_tokenizer.json")


def test_a_tokenizer_json_gives_ids_and_its_text_back():
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, bos="<|bos|>"))

    ids = tokenizer.encode("the tokens of a document")

    assert ids == [297, 352, 320, 263, 285]
    assert tokenizer.decode(ids) == "the tokens of a document"
    assert (tokenizer.vocabulary_size, tokenizer.boundary_id, tokenizer.bos_id) == (466, 464, 465)
    assert tokenizer.file_hash == hash_bytes(Path(SMALL).read_bytes())
    assert tokenizer.lossless


def test_a_batch_is_one_array_a_text_and_an_empty_text_an_empty_one():
    tokenizer = load_tokenizer(Tokenizer(bytes=True))

    batch = tokenizer.encode_batch(["ab", "", "c"])

    assert [tokens.tolist() for tokens in batch] == [[97, 98], [], [99]]
    assert tokenizer.encode_batch([]) == []
    values, lengths = tokenizer.encode_flat(["ab", "", "c"])
    assert (values.tolist(), values.dtype) == ([97, 98, 99], np.uint32)
    assert (lengths.tolist(), lengths.dtype) == ([2, 0, 1], np.int64)


def test_bytes_are_the_utf8_bytes_and_the_named_tokens_follow():
    tokenizer = load_tokenizer(Tokenizer(bytes=True, boundary="<end>", bos="<begin>"))

    assert tokenizer.encode("aé<end>") == [97, 195, 169, *b"<end>"]
    assert (tokenizer.vocabulary_size, tokenizer.boundary_id, tokenizer.bos_id) == (258, 256, 257)
    assert tokenizer.decode([257, 97, 195, 169, 256]) == "<begin>aé<end>"
    assert load_tokenizer(Tokenizer(bytes=True, boundary=None)).vocabulary_size == 256
    assert load_tokenizer(Tokenizer(bytes=True, boundary="<x>", bos="<x>")).bos_id == 256


def test_the_vocabulary_size_counts_added_tokens_and_holes():
    # 530 tokens, the highest id 50279: an embedding needs 50280 rows.
    assert load_tokenizer(Tokenizer(file=NEO)).vocabulary_size == 50280


def test_the_dtype_follows_from_the_highest_id_and_the_padding():
    tokenizer = load_tokenizer(Tokenizer(file=NEO))

    assert tokenizer.dtype_for(None) == "uint16"
    assert tokenizer.dtype_for(0) == "uint16"
    assert tokenizer.dtype_for(65535) == "uint16"
    assert tokenizer.dtype_for(65536) == "uint32"
    assert [smallest_dtype(65536), smallest_dtype(65537)] == ["uint16", "uint32"]
    for pad_id in (-1, 2**32):
        with pytest.raises(
            RecipeError, match=rf"packing\.pad_id: must be from 0 to 4294967295, got {pad_id}"
        ):
            tokenizer.dtype_for(pad_id)


def test_a_relative_path_starts_at_the_base_folder():
    assert tokenizer_path(Tokenizer(file="t.json"), "recipes") == "recipes/t.json"
    assert tokenizer_path(Tokenizer(file="/t.json"), "recipes") == "/t.json"
    assert tokenizer_path(Tokenizer(tiktoken="s3://b/t.tiktoken"), "recipes") == "s3://b/t.tiktoken"
    assert tokenizer_path(Tokenizer(bytes=True), "recipes") is None
    spec = Tokenizer(file="tokens_small_tokenizer.json")
    assert load_tokenizer(spec, str(GOLDEN)).vocabulary_size == 466


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"file": SMALL, "boundary": "<|endoftxt|>"},
            r"tokenizer\.boundary: .*no token '<\|endoftxt\|>'; the nearest is '<\|endoftext\|>'",
        ),
        (
            {"file": LLAMA},
            r"tokenizer\.boundary: .*no token '<\|endoftext\|>'; the nearest is '<.*null = none",
        ),
        ({"file": SMALL, "bos": "<s>"}, r"tokenizer\.bos: the vocabulary has no token '<s>'"),
        (
            {"file": SMALL, "engine": "warp"},
            r"tokenizer\.engine: no engine 'warp' .* auto, tokenizers, fastokens",
        ),
        ({"bytes": True, "engine": "fastokens"}, "fastokens reads no such tokenizer, use auto"),
        ({"train": {"vocab_size": 512}}, "has not been trained yet"),
    ],
)
def test_a_name_that_is_not_there_is_refused_before_any_document_is_read(spec, message):
    with pytest.raises(RecipeError, match=message):
        load_tokenizer(Tokenizer(**spec))


def test_no_boundary_needs_no_name():
    tokenizer = load_tokenizer(Tokenizer(file=LLAMA, boundary=None))

    assert tokenizer.boundary_id is None
    assert tokenizer.vocabulary_size == 32003


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"model": 7}', b'{"model": {"type": "BPE", "vocab": {}}}']
)
def test_a_file_that_is_no_tokenizer_is_an_input_error(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match=r"tokenizer\.json: not a tokenizer\.json"):
        load_tokenizer(Tokenizer(file=str(path)))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read"):
        load_tokenizer(Tokenizer(file=str(tmp_path / "nowhere.json")))


def test_an_added_token_with_an_id_the_library_does_not_give_is_refused(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    parsed["added_tokens"][0]["id"] = 600
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))

    with pytest.raises(
        InputError, match=r"'<\|endoftext\|>' has the id 600 in the file, but 464 once loaded"
    ):
        load_tokenizer(Tokenizer(file=str(path)))


def test_a_changed_file_is_loaded_anew(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(Path(SMALL).read_bytes())
    first = load_tokenizer(Tokenizer(file=str(path)))
    path.write_bytes(Path(NEO).read_bytes())

    second = load_tokenizer(Tokenizer(file=str(path)))

    assert (first.vocabulary_size, second.vocabulary_size) == (466, 50280)
    assert first.file_hash != second.file_hash


def test_what_changes_the_text_first_is_not_called_lossless():
    assert not load_tokenizer(Tokenizer(file=NEO)).lossless  # normalizes to NFC
    assert not load_tokenizer(Tokenizer(file=LLAMA, boundary="</s>")).lossless


def test_an_added_token_that_decodes_to_something_else_is_not_called_lossless(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    parsed["added_tokens"].append(dict(parsed["added_tokens"][0], id=466, content="éé", special=False))
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))

    tokenizer = load_tokenizer(Tokenizer(file=str(path)))

    assert tokenizer.encode("éé") == [466]
    assert tokenizer.decode([466]) != "éé"
    assert not tokenizer.lossless


def test_the_template_of_the_file_is_never_applied(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    parsed["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<|bos|>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|bos|>": {"id": "<|bos|>", "ids": [465], "tokens": ["<|bos|>"]}},
    }
    parsed["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    parsed["padding"] = {
        "strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 464,
        "pad_type_id": 0, "pad_token": "<|endoftext|>",
    }  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))

    tokenizer = load_tokenizer(Tokenizer(file=str(path), bos="<|bos|>"))

    assert tokenizer.encode("the tokens of a document") == [297, 352, 320, 263, 285]
