import gzip

import pytest

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing import SourceTask, make_documents, source_digest
from mixle_assets.sourcing.files import find_documents
from mixle_assets.sourcing.sources import Left


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "de").mkdir()
    (tmp_path / "en/a.txt").write_bytes("\ufeffone\r\ntwo é\n".encode())
    (tmp_path / "en/b.HTML.gz").write_bytes(gzip.compress(b"<title>x</title><body><p>page</p>"))
    (tmp_path / "de/a.txt").write_bytes(b"drei")
    (tmp_path / "de/empty.txt").write_bytes(b" \n")
    (tmp_path / "de/latin.txt").write_bytes(b"\xe9")
    (tmp_path / "de/link.txt").symlink_to(tmp_path / "en/a.txt")
    return tmp_path


def documents(*patterns):
    return list(find_documents(Source(files=patterns)))


def test_a_file_is_a_document_named_below_the_pattern(folder):
    found = documents(f"{folder}/**/*.txt", f"{folder}/en/b*")

    assert [each if isinstance(each, Left) else (each["id"], each["text"]) for each in found] == [
        ("de/a.txt", "drei"),
        Left("empty"),
        Left("not UTF-8"),
        ("de/link.txt", "one\ntwo é\n"),  # the same file as en/a.txt, which is not read again
        ("b.HTML.gz", "page"),
    ]
    assert found[0] == {"id": "de/a.txt", "text": "drei", "source": "files", "metadata": {"path": "de/a.txt"}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<meta charset=euc-kr><body>한국어".encode("euc-kr"), "한국어"),
        (b'<?xml version="1.0" encoding="x"?><meta content="text/html; Charset=ISO-8859-2"><body>\xb1', "ą"),
        ("<body>é".encode(), "é"),
        ("\ufeff<meta charset=euc-kr><body>é".encode(), "é"),
        ("\ufeff<body>é四".encode("utf-16-be"), "é四"),
        ("\ufeff<body>é四".encode("utf-16-le"), "é四"),
        (b"<meta charset=utf-8><body>\x93caf\xe9\x94", "“café”"),
    ],
)
def test_a_page_is_read_in_the_character_set_that_it_names(tmp_path, content, text):
    (tmp_path / "a.html").write_bytes(content)

    assert [each["text"] for each in documents(f"{tmp_path}/*.html")] == [text]


def test_a_pattern_without_a_match_is_an_error_that_quotes_it(folder):
    with pytest.raises(InputError, match=r"\*\.md: no file matches this pattern of the source"):
        documents(f"{folder}/en/a.txt", f"{folder}/*.md")


def test_two_files_that_would_have_one_id_are_refused(folder):
    with pytest.raises(InputError, match=r"de/a\.txt: .*en/a\.txt would have the same name, 'a\.txt'"):
        documents(f"{folder}/en/*.txt", f"{folder}/de/*.txt")


def test_a_file_whose_name_looks_like_a_pattern_is_found(tmp_path):
    (tmp_path / "a[1].txt").write_text("text")

    assert [each["id"] for each in documents(f"{tmp_path}/a[1].txt")] == ["a[1].txt"]


def test_the_digest_follows_the_files_and_the_documents_follow_their_content(folder):
    source = Source(files=[f"{folder}/en/*"])
    before = source_digest(source)
    first = make_documents(SourceTask("s", source, str(folder / "out")))

    (folder / "en/a.txt").write_text("another text")

    assert source_digest(source) != before
    second = make_documents(SourceTask("s", source, str(folder / "out")))
    assert second["0000.jsonl.gz"].rows_digest != first["0000.jsonl.gz"].rows_digest


def test_what_a_source_leaves_is_counted_by_reason(folder):
    written = make_documents(SourceTask("s", Source(files=[f"{folder}/**/*.txt"]), str(folder / "out")))

    counts = written["0000.jsonl.gz"].counts
    assert (counts.num_in, counts.num_out, counts.dropped) == (4, 2, {"empty": 1, "not UTF-8": 1})


def test_a_source_without_a_document_gives_one_empty_file(folder):
    written = make_documents(SourceTask("s", Source(files=[f"{folder}/de/empty.txt"]), str(folder / "out")))

    assert list(written) == ["0000.jsonl.gz"]
    assert gzip.decompress((folder / "out/0000.jsonl.gz").read_bytes()) == b""
