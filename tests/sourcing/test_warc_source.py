import gzip
import zlib

import pytest

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing.inputs import SourceFile
from mixle_assets.sourcing.sources import Left
from mixle_assets.sourcing.warc import find_documents, read_records

URL = "https://example.org/a"
ID = "0f0f0f0f-0000-4000-8000-00000000000"


def record(kind, content, number=0, content_type="application/http; msgtype=response"):
    headers = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{ID}{number}>",
        f"WARC-Target-URI: {URL}",
        "WARC-Date: 2024-05-06T07:08:09Z",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(content)}",
    ]
    return "\r\n".join(headers).encode() + b"\r\n\r\n" + content + b"\r\n\r\n"


def response(body, *headers, status="200 OK"):
    head = [f"HTTP/1.1 {status}", *(headers or ["Content-Type: text/html"])]
    return record("response", "\r\n".join(head).encode() + b"\r\n\r\n" + body)


def archive(tmp_path, *records, name="a.warc.gz"):
    stored = b"".join(gzip.compress(each) for each in records) if name.endswith(".gz") else b"".join(records)
    (tmp_path / name).write_bytes(stored)
    return list(find_documents(Source(warc=[f"{tmp_path}/{name}"])))


def texts(found):
    return [each.reason if isinstance(each, Left) else each["text"] for each in found]


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_a_page_is_a_document_and_other_records_are_left_by_kind(tmp_path, name):
    found = archive(
        tmp_path,
        record("warcinfo", b"software: x\r\n", content_type="application/warc-fields"),
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        response(b"<title>t</title><body><p>one<p>two"),
        name=name,
    )

    assert found == [
        Left("warcinfo record"),
        Left("request record"),
        {
            "id": ID + "0",
            "text": "one\ntwo",
            "source": "warc",
            "metadata": {
                "path": name,
                "record": 2,
                "url": URL,
                "date": "2024-05-06T07:08:09Z",
                "content_type": "text/html",
            },
        },
    ]


def test_a_wet_file_gives_its_text_as_it_is(tmp_path):
    found = archive(tmp_path, record("conversion", "eins\r\nzwei é".encode(), content_type="text/plain"))

    assert texts(found) == ["eins\nzwei é"]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (response(b"x", "Content-Type: text/html", status="404 Not Found"), "status is not 200"),
        (response(b"x", "Content-Type: image/png"), "neither text nor HTML"),
        (response(b"x", "Server: none"), "neither text nor HTML"),
        (response(b" "), "empty"),
        (record("response", b"\x16\x03\x01"), "no HTTP response"),
        (response(b"x", "Content-Type: text/html", "Content-Encoding: br"), "other compression"),
        (
            response(b"\x1f\x8bbroken", "Content-Type: text/html", "Content-Encoding: gzip"),
            "broken compression",
        ),
        (response(gzip.compress(b"page"), "Content-Type: text/html", "Content-Encoding: gzip"), "page"),
        (response(zlib.compress(b"page"), "Content-Type: text/plain", "Content-Encoding: deflate"), "page"),
        (response(b"page", "Content-Type: text/plain", "Content-Encoding: gzip"), "page"),
        (
            response(
                b"4\r\npage\r\n3;x=1\r\n, 2\r\n0\r\n\r\n",
                "Content-Type: text/plain",
                "Transfer-Encoding: chunked",
            ),
            "page, 2",
        ),
        (response(b"page", "Content-Type: text/plain", "Transfer-Encoding: chunked"), "page"),
        (response(b"\xe9", "Content-Type: text/plain; charset=ISO-8859-1"), "é"),
        (response(b"<meta charset='koi8-r'>\xc1"), "а"),
        (response("é".encode()), "é"),
        (response(b"\x93caf\xe9\x94"), "“café”"),
        (response(b"caf\xe9", "Content-Type: text/plain; charset=utf-8"), "café"),
        (response(b"a", "Content-Type: text/plain; charset=nonsense"), "a"),
    ],
)
def test_what_http_wrapped_around_a_page_is_taken_off_or_the_page_is_left_with_a_reason(
    tmp_path, found, text
):
    assert texts(archive(tmp_path, found)) == [text]


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"<html>", "record 0 starts with b'<html>', not with WARC/"),
        (record("conversion", b"abc")[:-6], "record 0 is cut short: 1 of 3 bytes"),
        (record("conversion", b"abc")[:30], "record 0 is cut short in its headers"),
        (b"WARC/1.0\r\nContent-Length: many\r\n\r\n", "record 0 has the Content-Length 'many'"),
        (b"WARC/1.0\r\nnothing\r\n\r\n", "record 0 has the header 'nothing'"),
    ],
)
def test_an_archive_that_is_broken_is_an_error_with_the_record(tmp_path, stored, message):
    with pytest.raises(InputError) as raised:
        archive(tmp_path, stored, name="a.warc")

    assert raised.value.message == message
    assert raised.value.path.endswith("a.warc")


def test_a_gzip_member_that_is_cut_short_is_an_error(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(response(b"page" * 1000))[:-9])

    with pytest.raises(InputError):
        list(find_documents(Source(warc=[f"{tmp_path}/a.warc.gz"])))


def test_headers_may_be_folded_and_records_closed_by_any_number_of_line_ends(tmp_path):
    content = b"WARC/1.1\nWARC-Type: conversion\nX: one\n two\ncontent-length: 1\n\na\n\n\n\n"
    content += b"WARC/1.1\nContent-Length: 0\n\n"
    (tmp_path / "a.warc").write_bytes(content)

    first, second = read_records(SourceFile(f"{tmp_path}/a.warc", "a.warc"))

    assert first.headers == {"warc-type": "conversion", "x": "one two", "content-length": "1"}
    assert (first.content, second.content) == (b"a", b"")
