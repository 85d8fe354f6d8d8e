"""SentencePiece models: ids of the library itself, control tokens never out of a text."""

import io
import sys

import pytest
import sentencepiece

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import Tokenizer
from mixle_assets.tokenizers import load_tokenizer
from mixle_assets.tokenizers.probes import probe_texts


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def path(request, tmp_path_factory):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.replace("\n", " ") for text in probe_texts([])[:20] * 3),
        model_writer=written,
        model_type=request.param,
        vocab_size=600,
        byte_fallback=True,
        character_coverage=0.99,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("model") / f"{request.param}.model"
    path.write_bytes(written.getvalue())
    return str(path)


def test_the_ids_are_the_librarys_own(path):
    library = sentencepiece.SentencePieceProcessor(model_file=path)
    tokenizer = load_tokenizer(Tokenizer(sentencepiece=path, boundary="</s>", bos="<s>"))

    assert (tokenizer.boundary_id, tokenizer.bos_id, tokenizer.unknown_id) == (2, 1, 0)
    assert tokenizer.vocabulary_size == library.vocab_size()
    assert tokenizer.engine.name == "sentencepiece"
    for text in probe_texts([]):
        assert tokenizer.encode(text) == library.encode(text)


def test_control_tokens_never_come_out_of_a_text(path):
    tokenizer = load_tokenizer(Tokenizer(sentencepiece=path, boundary="</s>", bos="<s>"))

    for text in probe_texts(["<s>", "</s>", "<unk>"]):
        assert not {1, 2} & set(tokenizer.encode(text))


def test_it_is_not_called_lossless_but_decodes(path):
    tokenizer = load_tokenizer(Tokenizer(sentencepiece=path, boundary="</s>"))

    assert not tokenizer.lossless
    assert tokenizer.decode(tokenizer.encode("The quick brown fox")) == "The quick brown fox"


def test_as_ids_cannot_be_had(path):
    with pytest.raises(RecipeError, match=r"special_strings: as_ids cannot be had"):
        load_tokenizer(Tokenizer(sentencepiece=path, boundary="</s>", special_strings="as_ids"))


def test_bytes_that_are_no_model_are_an_input_error(tmp_path):
    path = tmp_path / "broken.model"
    path.write_bytes(b"not a model")

    with pytest.raises(InputError, match=r"broken\.model: not a SentencePiece model"):
        load_tokenizer(Tokenizer(sentencepiece=str(path), boundary=None))


def test_without_the_package_the_error_says_how_to_get_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)

    with pytest.raises(RecipeError, match=r"pip install 'mixle_assets\[sentencepiece\]'"):
        load_tokenizer(Tokenizer(sentencepiece=path, boundary=None, bos="<s>"))
