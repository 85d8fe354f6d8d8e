"""The encoder that looks pieces up gives the reference's ids, forgets in time, or refuses the file."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer, pieces
from mixle_assets.tokenizers.byte_level import byte_spelling
from mixle_assets.tokenizers.huggingface import HuggingFaceFile
from mixle_assets.tokenizers.piece_memory import spell
from mixle_assets.tokenizers.pieces import PieceEngine
from mixle_assets.tokenizers.probes import probe_texts
from mixle_assets.tokenizers.tiktoken_ranks import CL100K, GPT2, O200K, QWEN

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = GOLDEN / "tokens_small_tokenizer.json"
NEO = GOLDEN / "tokens_neo_tokenizer.json"
LLAMA = GOLDEN / "tokens_llama_tokenizer.json"


def parsed_with(split=None, **changes):
    parsed = {**json.loads(SMALL.read_text()), **changes}
    if split is not None:
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
        step = {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated", "invert": False}
        parsed["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [step, level]}
    return parsed


def both(parsed):
    """The engine, and the reference for the same file."""
    file = HuggingFaceFile(parsed, "tokenizer.json", ["<|endoftext|>"], "as_text")
    return PieceEngine(file.encoder_json), file.encoder


def ids(engine, texts):
    values, lengths = engine.encode(texts)
    found = iter(values.tolist())
    return [[next(found) for _ in range(length)] for length in lengths.tolist()]


@pytest.mark.parametrize("split", [None, GPT2, CL100K, QWEN, O200K])
@pytest.mark.parametrize("normalizer", [None, {"type": "NFC"}, {"type": "NFKC"}])
def test_the_ids_are_the_references(split, normalizer):
    engine, reference = both(parsed_with(split, normalizer=normalizer))
    texts = probe_texts(["<|endoftext|>"])

    for _ in range(2):  # new pieces, then remembered ones
        assert ids(engine, texts) == [found.ids for found in reference.encode_batch_fast(texts)]


alphabet = st.one_of(
    st.sampled_from("abcSTréß0129 \n\t\r'’.,-_=<|>"),
    st.sampled_from("\x85\xa0\u2003\u2028\u3000\x1c\u200b¶ªºſ\u0301漢か한मา²Ⅷٹ😀\U0010ffff\ue000\u0378"),
    st.characters(exclude_categories=["Cs"]),
)
ENGINES = {split: both(parsed_with(split)) for split in (GPT2, CL100K, O200K)}


@given(texts=st.lists(st.text(alphabet, max_size=24), max_size=4), split=st.sampled_from(sorted(ENGINES)))
@settings(deadline=None, max_examples=300)
def test_so_they_are_on_any_text(texts, split):
    engine, reference = ENGINES[split]

    assert ids(engine, texts) == [found.ids for found in reference.encode_batch_fast(texts)]


def test_added_tokens_stay_whole_and_the_longest_wins():
    engine, reference = both(json.loads(NEO.read_text()))
    texts = [
        "x|||EMAIL_ADDRESS|||y",
        " " * 2,
        " " * 24,
        "a" + " " * 27 + "b",
        "|||",
        "x|||IP_ADDRESS|||\n\n  ",
    ]

    assert ids(engine, texts) == [found.ids for found in reference.encode_batch_fast(texts)]
    assert ids(engine, ["x|||EMAIL_ADDRESS|||y"]) == [[89, 50277, 90]]


def test_what_is_remembered_is_bounded_and_forgetting_changes_no_id(monkeypatch):
    monkeypatch.setattr(pieces, "MAX_PIECES", 40)
    engine, reference = both(parsed_with())
    for number in range(20):
        texts = [" ".join(f"{number}w{word}" for word in range(6)), "the same words again", "x" * 100]
        assert ids(engine, texts) == [found.ids for found in reference.encode_batch_fast(texts)]
        assert len(engine._memory) <= 40 + 20  # a batch is done whole before anything is forgotten
    assert " words" in engine._memory  # used in every batch, so kept
    assert engine._memory.num_values < 700  # the long piece, learnt 20 times, left nothing behind


def test_a_piece_on_which_the_model_fails_leaves_nothing_behind():
    class Failing:
        def __init__(self, model):
            self.model = model

        def tokenize(self, spelled):
            if "heliotrope" in spelled:
                raise RuntimeError("attempt to subtract with overflow")
            return self.model.tokenize(spelled)

    engine, reference = both(parsed_with())
    engine._model = Failing(engine._model)

    with pytest.raises(RuntimeError, match="overflow"):
        engine.encode(["a new word, heliotrope, and more"])

    texts = ["more new words", "a new word, and more"]
    assert ids(engine, texts) == [found.ids for found in reference.encode_batch_fast(texts)]


@given(texts=st.lists(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])), min_size=1))
@settings(deadline=None)
def test_pieces_are_spelled_with_a_character_for_each_byte(texts):
    spelling = byte_spelling()

    assert spell(texts) == ["".join(spelling[byte] for byte in text.encode()) for text in texts]


def test_no_text_and_empty_texts_are_fine():
    engine, _ = both(parsed_with())

    assert ids(engine, []) == []
    assert ids(engine, ["", ""]) == [[], []]
    assert ids(engine, ["", "😀", ""])[0::2] == [[], []]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": {"type": "Lowercase"}}, "normalized by Lowercase"),
        ({"pre_tokenizer": None}, "not split into pieces by ByteLevel"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "not split into pieces by ByteLevel"),
        (
            {
                "pre_tokenizer": {
                    "type": "ByteLevel",
                    "add_prefix_space": True,
                    "trim_offsets": True,
                    "use_regex": True,
                }
            },
            "not split into pieces by ByteLevel",
        ),
        ({"split": r"\w+|\W+"}, "split by an expression that is not a known one"),
    ],
)
def test_what_cannot_be_done_piece_by_piece_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        both(parsed_with(**changes))


def test_added_tokens_that_take_more_than_their_own_are_refused():
    parsed = parsed_with()
    added = dict(parsed["added_tokens"][0], special=False, content="<x>", id=466, lstrip=True)
    parsed["added_tokens"].append(added)
    with pytest.raises(ValueError, match="added tokens that take what is beside them"):
        both(parsed)
    parsed["added_tokens"][-1] = {**added, "lstrip": False, "normalized": True}
    parsed["added_tokens"].append({**added, "lstrip": False, "content": "<y>", "id": 467})
    with pytest.raises(ValueError, match="both before and after normalizing"):
        both(parsed)


def test_sentencepiece_like_files_are_left_to_others():
    with pytest.raises(ValueError, match="not byte-level BPE"):
        both(json.loads(LLAMA.read_text()))


def test_it_is_there_without_any_extra_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fastokens", None)
    monkeypatch.setitem(__import__("sys").modules, "gigatoken", None)

    tokenizer = load_tokenizer(Tokenizer(file=str(SMALL), boundary=None))

    assert tokenizer.engine.name == "pieces"
    assert tokenizer.engine_note == "equal to tokenizers on the probes"
