"""Fast engines are taken only where they give the reference's ids, and what was taken is said."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import Encoded, engines, load_tokenizer
from mixle_assets.tokenizers.engines import FAST_ENGINES, choose_engine, describe_difference
from mixle_assets.tokenizers.probes import probe_texts
from mixle_assets.tokenizers.tokenizer import run_guarded

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = str(GOLDEN / "tokens_small_tokenizer.json")


class LetterEngine:
    """A stand-in for a fast engine: one id a character, and a fault where it is told to have one."""

    def __init__(self, name="letters", fault=None):
        self.name = name
        self.fault = fault

    def encode(self, texts):
        values = [
            ord(character) + (self.fault is not None and self.fault in text)
            for text in texts
            for character in text
        ]
        return Encoded(np.array(values, np.uint32), np.array([len(text) for text in texts], np.int64))


@pytest.mark.parametrize("name", list(FAST_ENGINES))
def test_an_installed_engine_gives_the_ids_of_the_reference(name):
    fast = load_tokenizer(Tokenizer(file=SMALL, engine=name))
    slow = load_tokenizer(Tokenizer(file=SMALL, engine="tokenizers"))
    texts = [f"{text} {number}" for number, text in enumerate(probe_texts(["<|endoftext|>"]))]

    assert fast.engine.name == name
    assert fast.engine_note == "asked for, and equal on the probes"
    for found, expected in zip(fast.encode_batch(texts), slow.encode_batch(texts), strict=True):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["fastokens", "gigatoken"])
def test_an_encoder_that_is_made_anew_gives_the_same_ids(name, monkeypatch):
    tokenizer = load_tokenizer(Tokenizer(file=SMALL, engine=name, boundary=None))
    texts = [f"words {number} of a document" for number in range(20)]
    once = tokenizer.encode_flat(texts)
    monkeypatch.setattr(engines, "RENEW_EVERY", 30)
    encoders = set()

    again = []
    for text in texts:
        again += tokenizer.encode(text)
        encoders.add(id(tokenizer.engine._encoder.ready_for([])))

    assert again == once.values.tolist()
    assert len(encoders) > 1


def test_auto_takes_the_first_that_agrees_and_says_so():
    choice = choose_engine(
        "auto",
        "{}",
        LetterEngine(),
        [],
        {"a": lambda _: LetterEngine("a", "漢"), "b": lambda _: LetterEngine("b")},
    )

    assert choice.engine.name == "b"
    assert choice.note == "equal to letters on the probes"


def test_auto_falls_back_to_the_reference_and_says_why():
    def missing(_):
        raise ImportError("no module")

    def refusing(_):
        raise ValueError("unsupported normalizer\nat line 3")

    choice = choose_engine(
        "auto",
        "{}",
        LetterEngine(),
        [],
        {"a": missing, "b": refusing, "c": lambda _: LetterEngine("c", "\x0b")},
    )

    assert choice.engine.name == "letters"
    assert choice.note.startswith(
        "a is not installed; b cannot load it (unsupported normalizer); c differs: on '\\x00"
    )


def test_an_engine_that_is_asked_for_must_agree():
    engines = {"bad": lambda _: LetterEngine("bad", "😀")}

    with pytest.raises(
        RecipeError, match=r"tokenizer\.engine: bad gives other ids than letters: on .*😀.* token 0"
    ):
        choose_engine("bad", "{}", LetterEngine(), [], engines)


def test_an_engine_that_is_asked_for_must_be_there_and_load_the_file():
    def missing(_):
        raise ImportError("no module")

    def refusing(_):
        raise RuntimeError("unsupported")

    engines = {"missing": missing, "refusing": refusing}
    with pytest.raises(RecipeError, match=r"missing is not installed: pip install 'mixle_assets\[speed\]'"):
        choose_engine("missing", "{}", LetterEngine(), [], engines)
    with pytest.raises(RecipeError, match="refusing cannot load this tokenizer: unsupported"):
        choose_engine("refusing", "{}", LetterEngine(), [], engines)


def test_special_strings_are_among_the_probes():
    engines = {"bad": lambda _: LetterEngine("bad", "<|endoftext|>")}

    assert choose_engine("auto", "{}", LetterEngine(), [], engines).engine.name == "bad"
    assert choose_engine("auto", "{}", LetterEngine(), ["<|endoftext|>"], engines).engine.name == "letters"


def test_a_difference_is_told_in_one_line():
    assert describe_difference("ab" * 50, [1, 2, 3], [1, 5, 6, 7]) == (
        f"on '{'ab' * 30}…' token 1 is [2, 3], not [5, 6, 7] (3 and 4 tokens)"
    )
    assert describe_difference("a", [1], [1, 2]) == "on 'a' token 1 is [], not [2] (1 and 2 tokens)"


def test_a_failing_library_names_the_text():
    class Panicking(LetterEngine):
        def encode(self, texts):
            if any("\x00" in text for text in texts):
                raise PanicException("index out of bounds")
            return super().encode(texts)

    # Rust's panics reach Python as a class of this name that derives from BaseException.
    class PanicException(BaseException):
        pass

    with pytest.raises(
        InputError, match=r"letters failed on its text of 3 characters \('a\\x00b'\): index"
    ) as caught:
        run_guarded(Panicking(), ["fine", "a\x00b"])
    assert caught.value.row == 1


def test_an_interrupt_is_not_a_failure_of_the_library():
    class Interrupted(LetterEngine):
        def encode(self, texts):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_guarded(Interrupted(), ["a"])


def test_no_engine_is_imported_before_it_is_needed():
    code = "import sys, mixle_assets.tokenizers; print([m for m in ('fastokens', 'gigatoken', 'sentencepiece', 'tiktoken', 'awkward') if m in sys.modules])"  # noqa: E501

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
