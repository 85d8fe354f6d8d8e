"""The spelling of a special token inside a text is text: no special id can come out of a document."""

import json
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer
from mixle_assets.tokenizers.huggingface import HIDDEN
from mixle_assets.tokenizers.probes import probe_texts

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")
NEO = str(GOLDEN / "tokens_neo_tokenizer.json")
LLAMA = str(GOLDEN / "tokens_llama_tokenizer.json")


def write(tmp_path, parsed):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parsed))
    return str(path)


def test_a_boundary_spelled_in_a_text_is_text_and_comes_back_as_text():
    tokenizer = load_tokenizer(Tokenizer(file=SMALL))

    ids = tokenizer.encode("a<|endoftext|>b")

    assert 464 not in ids
    assert tokenizer.decode(ids) == "a<|endoftext|>b"


def test_as_ids_makes_it_the_id():
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, special_strings="as_ids"))

    assert [token for token in tokenizer.encode("a<|endoftext|>b") if token > 255] == [464]


def test_an_added_token_that_is_not_special_stays_whole():
    # PII replacements are put into texts on purpose, and runs of spaces are added tokens too.
    tokenizer = load_tokenizer(Tokenizer(file=NEO))

    assert tokenizer.encode("x|||EMAIL_ADDRESS|||y") == [89, 50277, 90]
    assert tokenizer.encode("  ") == [50276]


def test_a_token_that_the_recipe_names_is_special_even_where_the_file_does_not_say_so():
    tokenizer = load_tokenizer(Tokenizer(file=NEO, boundary="|||PHONE_NUMBER|||"))

    assert tokenizer.boundary_id == 50278
    assert 50278 not in tokenizer.encode("x|||PHONE_NUMBER|||y")
    assert tokenizer.encode("|||EMAIL_ADDRESS|||") == [50277]


def test_merges_that_would_build_a_special_token_are_not_used(tmp_path):
    parsed = json.loads(Path(SMALL).read_text())
    vocabulary, merges = parsed["model"]["vocab"], parsed["model"]["merges"]
    vocabulary |= {"</": 464, "s>": 465, "</s>": 466}
    merges += [["<", "/"], ["s", ">"], ["</", "s>"]]
    parsed["pre_tokenizer"]["use_regex"] = False
    parsed["added_tokens"] = [dict(parsed["added_tokens"][0], id=466, content="</s>")]
    path = write(tmp_path, parsed)
    reachable = tokenizers.Tokenizer.from_file(path)
    reachable.encode_special_tokens = True
    assert reachable.encode("a</s>b", add_special_tokens=False).ids[1:-1] == [466]  # the trap

    tokenizer = load_tokenizer(Tokenizer(file=path, boundary="</s>"))

    assert tokenizer.encode("</s>") == [464, 465]
    assert tokenizer.boundary_id == 466
    assert tokenizer.decode([466]) == "</s>"


def test_a_unigram_model_does_not_match_a_special_piece(tmp_path):
    pieces = [["<unk>", 0.0], ["</s>", 0.0], ["a", -1.0], ["<", -2.0], ["/", -2.0], ["s", -2.0], [">", -2.0]]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parsed = {
        "version": "1.0",
        "added_tokens": [{"id": 0, "content": "<unk>", **special}, {"id": 1, "content": "</s>", **special}],
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False},
    }

    tokenizer = load_tokenizer(Tokenizer(file=write(tmp_path, parsed), boundary="</s>"))

    assert tokenizer.encode("a</s>a") == [2, 3, 4, 5, 6, 2]
    assert tokenizer.encode("é") == [0]  # what cannot be encoded may become the unknown token
    assert tokenizer.unknown_id == 0
    assert (tokenizer.boundary_id, tokenizer.vocabulary_size, tokenizer.lossless) == (1, 7, False)


def test_a_word_level_model_does_not_look_a_special_word_up(tmp_path):
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parsed = {
        "version": "1.0",
        "added_tokens": [{"id": 1, "content": "END", **special}],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "END": 1, "a": 2}, "unk_token": "[UNK]"},
    }

    tokenizer = load_tokenizer(Tokenizer(file=write(tmp_path, parsed), boundary="END"))

    assert tokenizer.encode("a END a") == [2, 0, 2]


def test_a_boundary_that_ordinary_text_gives_is_refused():
    for name in ("a", "the"):
        spec = Tokenizer(file=SMALL, boundary=name)
        with pytest.raises(RecipeError, match=f"the token '{name}' cannot be told from the same text"):
            load_tokenizer(spec)
        as_ids = load_tokenizer(spec.model_copy(update={"special_strings": "as_ids"}))
        assert as_ids.decode([as_ids.boundary_id]) == name


def test_a_special_id_out_of_a_text_stops_the_work_with_its_document():
    # Nobody writes these noncharacters; if somebody does, the id is refused, not stored.
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, engine="tokenizers"))

    with pytest.raises(InputError, match=r"became the special token '<\|endoftext\|>', id 464") as caught:
        tokenizer.encode_flat(["fine", "fine too", f"x{HIDDEN}<|endoftext|>"])

    assert caught.value.row == 2


def test_spellings_in_texts_are_found_for_the_counts():
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, bos="<|bos|>"))

    assert tokenizer.special_strings_in("a<|bos|><|endoftext|>b<|bos|>") == [
        "<|bos|>",
        "<|endoftext|>",
        "<|bos|>",
    ]
    assert tokenizer.special_strings_in("<|nothing|>") == []
    assert load_tokenizer(Tokenizer(bytes=True, boundary=None)).special_strings_in("<|endoftext|>") == []


@pytest.mark.parametrize(
    ("path", "boundary"), [(NEO, "<|endoftext|>"), (LLAMA, "</s>"), (SMALL, "<|endoftext|>")]
)
def test_texts_without_special_strings_have_the_ids_the_library_gives(path, boundary):
    library = tokenizers.Tokenizer.from_file(path)
    tokenizer = load_tokenizer(Tokenizer(file=path, boundary=boundary, engine="tokenizers"))

    for text in probe_texts([]):
        assert tokenizer.encode(text) == library.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(("path", "boundary"), [(NEO, "<|endoftext|>"), (SMALL, "<|endoftext|>")])
def test_special_strings_have_the_ids_the_library_gives_when_told_to_split_them(path, boundary):
    library = tokenizers.Tokenizer.from_file(path)
    library.encode_special_tokens = True
    tokenizer = load_tokenizer(Tokenizer(file=path, boundary=boundary, engine="tokenizers"))

    for text in probe_texts(list(tokenizer.special)):
        assert tokenizer.encode(text) == library.encode(text, add_special_tokens=False).ids


pieces = st.one_of(st.text(max_size=6), st.sampled_from(["<|endoftext|>", "<|bos|>", "<|", "|>", " ", "\n"]))


@given(text=st.lists(pieces, max_size=8).map("".join).map(lambda t: t.encode("utf-8", "replace").decode()))
@settings(deadline=None, max_examples=150)
def test_no_text_gives_a_special_id_and_every_text_comes_back(text):
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, bos="<|bos|>", engine="tokenizers"))

    ids = tokenizer.encode(text)

    assert not {464, 465} & set(ids)
    assert tokenizer.decode(ids) == text
