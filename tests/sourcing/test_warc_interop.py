"""What ``warcio`` writes is read here, what it reads here is read alike, and what it lets pass is refused."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mixle_assets.errors import InputError
from mixle_assets.recipe import Source
from mixle_assets.sourcing.inputs import SourceFile
from mixle_assets.sourcing.sources import Left
from mixle_assets.sourcing.warc import find_documents, read_records

PAGES = ["<p>one", "<body>zwei <b>drei</b> é", "<p>" + "long " * 5000, "<p>四五"]


def chunked(body, size):
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def wrapped(body, wrapping):
    """The body as a server sends it, and the headers that say so."""
    headers = [("Content-Type", "text/html; charset=utf-8")]
    if "gzip" in wrapping:
        body = gzip.compress(body, mtime=0)
        headers.append(("Content-Encoding", "gzip"))
    if "chunked" in wrapping:
        body = chunked(body, 1000)
        headers.append(("Transfer-Encoding", "chunked"))
    return body, headers


def written_by_warcio(path, pages, *, compress, wrapping=()):
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compress)
        records = [writer.create_warcinfo_record(path.name, {"software": "warcio"})]
        for number, page in enumerate(pages):
            body, headers = wrapped(page.encode(), wrapping)
            records.append(
                writer.create_warc_record(
                    f"http://example.org/{number}",
                    "response",
                    payload=io.BytesIO(body),
                    http_headers=StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1"),
                )
            )
        for record in records:
            writer.write_record(record)
            record.raw_stream.close()
    return path


def read_by_warcio(path):
    """Record id and what a browser would show of it."""
    with path.open("rb") as file:
        return [
            (record.rec_headers.get_header("WARC-Record-ID"), record.content_stream().read())
            for record in ArchiveIterator(file)
        ]


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("wrapping", [(), ("gzip",), ("chunked",), ("gzip", "chunked")])
def test_pages_that_warcio_wrote_are_the_documents(tmp_path, compress, wrapping):
    path = written_by_warcio(tmp_path / "a.warc.gz", PAGES, compress=compress, wrapping=wrapping)
    if not compress:
        path = path.rename(tmp_path / "a.warc")

    first, *documents = find_documents(Source(warc=[str(path)]))

    assert first == Left("warcinfo record")
    assert [document["text"] for document in documents] == [
        "one",
        "zwei drei é",
        ("long " * 5000).strip(),
        "四五",
    ]
    theirs = read_by_warcio(path)[1:]
    assert [f"<urn:uuid:{document['id']}>" for document in documents] == [each for each, _ in theirs]
    assert [document["metadata"]["url"] for document in documents][1] == "http://example.org/1"


@settings(deadline=None)
@given(
    blocks=st.lists(st.binary(max_size=300), min_size=1, max_size=5),
    compress=st.booleans(),
)
def test_records_written_by_hand_are_read_as_by_warcio(tmp_path_factory, blocks, compress):
    path = tmp_path_factory.mktemp("archives") / ("a.warc.gz" if compress else "a.warc")
    records = [
        b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:%d>\r\nWARC-Target-URI: urn:x:%d\r\n"
        b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
        % (number, number, len(block), block)
        for number, block in enumerate(blocks)
    ]
    path.write_bytes(b"".join(gzip.compress(record) if compress else record for record in records))

    ours = [
        (record.headers["warc-record-id"], record.content)
        for record in read_records(SourceFile(str(path), path.name))
    ]

    assert ours == read_by_warcio(path)
    assert [content for _, content in ours] == blocks


@pytest.mark.parametrize("compress", [True, False])
def test_an_archive_that_is_cut_short_is_an_error_where_warcio_reads_on(tmp_path, compress):
    name = "a.warc.gz" if compress else "a.warc"
    path = written_by_warcio(tmp_path / name, PAGES[:3], compress=compress)
    path.write_bytes(path.read_bytes()[:-40])

    # The reason why warcio does not read archives here: it gives the first part of a page for the page.
    last = read_by_warcio(path)[-1][1]
    assert len(last) < len(PAGES[2])
    assert PAGES[2].encode().startswith(last)
    with pytest.raises(InputError, match=r"truncated|cut short"):
        list(read_records(SourceFile(str(path), name)))
