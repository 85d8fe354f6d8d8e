import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.sourcing.markup import visible_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<h1>A&amp;B</h1><p>one <b>two</b><br>three", "A&B\none two\nthree"),
        ("<p>one\n   two</p>\n\n<p></p><p> three </p>", "one two\nthree"),
        ("<title>no</title><body>yes", "yes"),
        ("<head><title>no</title></head><body>yes", "yes"),
        ("<html><head><title>no</title><body>yes", "yes"),
        ("a<script>if (a < b) { x('</p>') }</script><style>p {}</style>b", "ab"),
        ("<nav><ul><li>menu</ul></nav>text", "text"),
        ("<div><nav>menu never closed</div>text", "text"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1\n2\n3"),
        ("<pre>def f():\n    return  1\n\n# end</pre>", "def f():\n    return  1\n# end"),
        ("x<!-- gone -->y<?php gone ?>z", "xyz"),
        ("&lt;b&gt; &eacute; &#x1F600; &nbsp;", "<b> é 😀 \xa0"),
        ("<p>a</b></p></div>b", "a\nb"),
        ("no markup at all", "no markup at all"),
        ("", ""),
        ("<div><button>Click</button><svg><text>no</text></svg>yes</div>", "yes"),
        ("one</pre>  two", "one\ntwo"),
    ],
)
def test_a_page_gives_the_lines_that_its_reader_sees(markup, text):
    assert visible_text(markup) == text


@settings(deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["one", "two", "<p>", "</p>", "<div>", "</div>", "<b>", "</li>", "<br>", "&amp;"])
    )
)
def test_no_visible_word_is_lost_or_moved_whatever_the_nesting(words):
    text = visible_text(" ".join(words))

    assert text.split() == [word.replace("&amp;", "&") for word in words if not word.startswith("<")]


@settings(deadline=None)
@given(markup=st.text(alphabet="<>/!-&;abpre script=\"'\n", max_size=80))
def test_any_text_is_read_without_an_error(markup):
    assert isinstance(visible_text(markup), str)


def test_elements_that_are_never_closed_do_not_make_a_page_slow():
    assert visible_text("<div>" * 50_000 + "deep" + "</p>" * 50_000) == "deep"
