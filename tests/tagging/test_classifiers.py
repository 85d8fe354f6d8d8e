"""A fastText model scores what its numbers say, is known before it is loaded, and is loaded late."""

import gzip
import json

import pytest
from small_model import write_model

from mixle_assets.errors import InputError, RecipeError
from mixle_assets.recipe import TaggerUse
from mixle_assets.tagging.fasttext_file import read_head
from mixle_assets.tagging.registry import fingerprint_of, keys_of, resolve_tagger
from mixle_assets.tagging.tagger import TaggerSet, TagTask, tag_file
from mixle_assets.tagging.views import view_of_text

TEXT = "the\n\nDer der\n"


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "lid.bin")


def measure(name, text, model, **parameters):
    """Return what the tagger says of a text, with five decimals as it is written."""
    tagger = resolve_tagger(TaggerUse(tagger=name, parameters={"model": model, **parameters}))
    found = {}
    for key, value in tagger.measure(view_of_text(text)).items():
        rows = [[0, len(text), value]] if isinstance(value, float) else value
        found[key] = [[start, end, round(score, 5)] for start, end, score in rows]
    return found


def test_every_label_scores_the_text_in_proportion_to_its_words(model):
    assert measure("fasttext_v1", "the", model) == {"en": [[0, 3, 0.75001]], "de": [[0, 3, 0.25001]]}
    assert measure("fasttext_v1", "the der", model) == {"en": [[0, 7, 0.50001]], "de": [[0, 7, 0.50001]]}


def test_case_counts_unless_the_recipe_says_otherwise(model):
    assert measure("fasttext_v1", "THE", model) == {}
    assert measure("fasttext_v1", "THE", model, lower_case=True)["en"] == [[0, 3, 0.75001]]


def test_without_labels_only_scores_from_the_threshold_on_are_written(model):
    assert measure("fasttext_v1", "the", model, threshold=0.5) == {"en": [[0, 3, 0.75001]]}


def test_named_labels_are_always_there_so_that_a_rule_can_rest_on_them(model):
    assert measure("fasttext_v1", "der", model, labels=["en"]) == {"en": [[0, 3, 0.25001]]}
    assert measure("fasttext_v1", "der", model, labels=["en"], threshold=0.5) == {"en": [[0, 3, 0.0]]}
    assert measure("fasttext_v1", "", model, labels=["de", "en"]) == {
        "de": [[0, 0, 0.0]],
        "en": [[0, 0, 0.0]],
    }


def test_filled_paragraphs_are_scored_where_they_stand(model):
    assert measure("fasttext_v1", TEXT, model, paragraphs=True, labels=["en"]) == {
        "en": [[0, 4, 0.75001], [5, 13, 0.25001]]
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ft_lang_id_doc_v1", {"de": [[0, 13, 0.59055]], "en": [[0, 13, 0.40947]]}),
        ("ft_lang_id_1e2", {"de": [[0, 13, 0.59]], "en": [[0, 13, 0.41]]}),
        ("ft_lang_id_en_only_v2", {"en": [[0, 13, 0.40947]]}),
        ("ft_lang_id_en_doc_v2", {"en": [[0, 13, 0.40947]], "not_en": [[0, 13, 0.59053]]}),
        (
            "ft_lang_id_paragraph_v1",
            {"en": [[0, 4, 0.75001], [5, 13, 0.25001]], "de": [[0, 4, 0.25001], [5, 13, 0.75001]]},
        ),
        (
            "ft_lang_id_en_paragraph_v2",
            {"en": [[0, 4, 0.75001], [5, 13, 0.25001]], "not_en": [[0, 4, 0.24999], [5, 13, 0.74999]]},
        ),
        (
            "ft_lang_id_en_paragraph_with_doc_score_v2",
            {
                "en": [[0, 4, 0.75001], [5, 13, 0.25001]],
                "not_en": [[0, 4, 0.24999], [5, 13, 0.74999]],
                "doc_en": [[0, 13, 0.38462]],  # (4 x 0.75001 + 8 x 0.25001) / 13
                "doc_not_en": [[0, 13, 0.61538]],
            },
        ),
        (
            "dolma17-quality",
            {"en": [[0, 13, 0.50001]], "de": [[0, 13, 0.50001]]},
        ),  # "Der" is no word it knows
        (
            "jigsaw_nsfw_document_v1",
            {"__label__en": [[0, 13, 0.50001]], "__label__de": [[0, 13, 0.50001]]},
        ),
    ],
)
def test_dolmas_names_have_dolmas_formulas(name, expected, model):
    assert measure(name, TEXT, model) == expected


@pytest.mark.parametrize("name", ["ft_lang_id_en_paragraph_with_doc_score_v2"])
def test_an_empty_text_scores_nothing_for_english_and_nothing_against_it(name, model):
    assert measure(name, "", model) == {"doc_en": [[0, 0, 0.0]], "doc_not_en": [[0, 0, 0.0]]}


def test_of_two_qualities_the_likelier_is_written_as_one_score(tmp_path):
    model = write_model(tmp_path / "quality.bin", labels=("hq", "cc"))

    assert measure("dclm-oh-eli5", "the", model) == {"score": [[0, 3, 0.75001]]}
    assert measure("dclm-oh-eli5", "der", model) == {"score": [[0, 3, 0.24999]]}
    assert measure("dclm-oh-eli5", "", model) == {}
    assert keys_of("q", TaggerUse(tagger="dclm-oh-eli5", parameters={"model": model})) == (
        "q__dclm_oh_eli5__score",
    )


def test_the_labels_are_known_before_the_model_is_loaded(model):
    use = TaggerUse(tagger="fasttext_v1", parameters={"model": model})

    assert read_head(model).labels == ("en", "de")
    assert keys_of("lang", use) == ("lang__fasttext_v1__en", "lang__fasttext_v1__de")
    assert keys_of(
        "lang", TaggerUse(tagger="fasttext_v1", parameters={"model": model, "labels": ["de"]})
    ) == ("lang__fasttext_v1__de",)


def test_the_memory_a_model_takes_is_its_file_and_its_words_with_their_ngrams(tmp_path):
    words = tuple(f"word{number}" for number in range(1000))
    plain = write_model(tmp_path / "plain.bin", words=words)
    with_ngrams = write_model(tmp_path / "ngrams.bin", words=words, longest_ngram=5)
    size = (tmp_path / "plain.bin").stat().st_size

    assert (
        resolve_tagger(TaggerUse(tagger="fasttext_v1", parameters={"model": plain})).memory_in_bytes
        == size + 160_000
    )
    assert read_head(with_ngrams).memory_in_bytes == size + 400_000


def test_a_label_the_model_does_not_have_is_refused_with_the_nearest(model):
    with pytest.raises(RecipeError, match=r"no label 'eng'; did you mean 'en'\?"):
        measure("fasttext_v1", "the", model, labels=["eng"])
    with pytest.raises(RecipeError, match="no label 'xx'; it has en, de"):
        measure("fasttext_v1", "the", model, labels=["xx"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"magic": 1}, "no fastText model of version 11 or 12"),
        ({"kind": 2}, "model of word vectors"),
    ],
)
def test_a_file_that_is_no_classifier_is_refused(change, message, tmp_path):
    with pytest.raises((RecipeError, InputError), match=message):
        measure("fasttext_v1", "the", write_model(tmp_path / "m.bin", **change))


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (0, "it has 0 bytes"),
        (100, "dictionary has no end"),
        (200, "truncated: 200 bytes, but"),
        (225, "truncated: 225 bytes, but its parts reach to 226"),
    ],
)
def test_a_cut_model_is_refused_where_fasttext_would_read_zeros(length, message, tmp_path):
    size = len((tmp_path / write_model(tmp_path / "lid.bin")).read_bytes())
    assert size == 226
    cut = tmp_path / "cut.bin"
    cut.write_bytes((tmp_path / "lid.bin").read_bytes()[:length])

    with pytest.raises((RecipeError, InputError), match=message):
        measure("fasttext_v1", "the", str(cut))


def test_another_model_tags_anew_and_the_same_one_elsewhere_does_not(model, tmp_path):
    def fingerprint(path):
        return fingerprint_of(TaggerUse(tagger="fasttext_v1", parameters={"model": path}))

    moved = write_model(tmp_path / "moved.bin")
    other = write_model(tmp_path / "other.bin", labels=("en", "fr"))

    assert fingerprint(moved) == fingerprint(model) != fingerprint(other)


def test_attribute_rows_carry_the_scores_and_the_stamp_of_the_model(model, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"id": "1", "text": "the"}\n{"id": "2", "text": "?"}\n', encoding="utf-8"
    )
    output = str(tmp_path / "out.jsonl.gz")
    uses = (TaggerUse(tagger="ft_lang_id_en_doc_v2", parameters={"model": model}),)

    written = tag_file(TagTask(str(tmp_path / "a.jsonl"), "a.jsonl", "s", (TaggerSet("lang", uses, output),)))

    with gzip.open(output) as file:
        rows = [json.loads(line)["attributes"] for line in file]
    assert rows == [
        {
            "lang__ft_lang_id_en_doc_v2__en": [[0, 3, 0.75001]],
            "lang__ft_lang_id_en_doc_v2__not_en": [[0, 3, 0.24999]],
        },
        {
            "lang__ft_lang_id_en_doc_v2__en": [[0, 1, 0.0]],
            "lang__ft_lang_id_en_doc_v2__not_en": [[0, 1, 1.0]],
        },
    ]
    assert written["lang"].read[model].size_in_bytes == (tmp_path / "lid.bin").stat().st_size
