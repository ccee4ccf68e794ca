"""The readers: blocks with their headings and places."""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.services.documents.blocks import Block
from sestet.services.documents.readers import read_code, read_html, read_markdown, read_text
from sestet.services.text_encoding import guess_encoding, is_binary

Reader = Callable[[Iterable[str]], Iterator[Block]]

MARKDOWN = """\
Before all headings.

# Guide

Two lines
of one paragraph.

## Install ##

```sh
# not a heading

make setup
```

Title below
===========
- a list
- with items

| a | b |
|---|---|
"""

CODE = '''\
"""A module."""

import os

# What it does.
@decorated
def first(path: str) -> str:
    a = 1

    return a


class Second:
    def method(self):
        pass
}
'''

HTML = """\
<!DOCTYPE html><html><head><title>The page</title><style>p { color: red }</style>
<script>alert("<p>never read</p>")</script></head>
<body><nav><a href="/">Home</a></nav>
<h1>Tea &amp; coffee</h1>
<p>Some <b>strong</b> tea,<br>and <i>more</i>.</p>
<h2>Prices</h2>
<table><tr><td>tea</td><td>2</td></tr><tr><td>coffee</td><td>3</td></tr></table>
<pre>  kept
    as it is</pre>
<svg><text>picture</text></svg>
<p>unclosed
</body></html>
"""


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def test_markdown_has_paragraphs_code_and_headings_with_their_lines() -> None:
    blocks = list(read_markdown(lines(MARKDOWN)))

    assert blocks == [
        Block("Before all headings.", 1),
        Block("# Guide", 3, ("Guide",), "heading"),
        Block("Two lines\nof one paragraph.", 5, ("Guide",)),
        Block("## Install ##", 8, ("Guide", "Install"), "heading"),
        Block("```sh\n# not a heading\n\nmake setup\n```", 10, ("Guide", "Install"), "code"),
        Block("Title below\n===========", 16, ("Title below",), "heading"),
        Block("- a list\n- with items", 18, ("Title below",)),
        Block("| a | b |\n|---|---|", 21, ("Title below",)),
    ]


def test_a_fence_that_never_ends_is_code_to_the_end() -> None:
    assert list(read_markdown(lines("~~~\n# a\n\nb\n```\n"))) == [Block("~~~\n# a\n\nb\n```", 1, (), "code")]


def test_a_heading_of_countless_spaces_is_read_like_any_other() -> None:
    heading = f"# Far{' ' * 60_000}apart #\n"

    blocks = list(read_markdown([heading] * 20))

    assert {block.headings for block in blocks} == {("Far apart",)}
    assert len(blocks) == 20


def test_underlined_titles_of_plain_text_are_headings_in_the_order_of_their_marks() -> None:
    text = "Top\n===\n\none\n\nBelow\n-----\n\ntwo\n\nNext\n====\n\nthree\n"

    blocks = [(block.text, block.headings) for block in read_text(lines(text)) if block.kind == "prose"]

    assert blocks == [("one", ("Top",)), ("two", ("Top", "Below")), ("three", ("Next",))]


def test_code_is_cut_where_something_begins_at_the_margin() -> None:
    blocks = [(block.place, block.headings, block.text.splitlines()[0]) for block in read_code(lines(CODE))]

    assert blocks == [
        (1, (), '"""A module."""'),
        (3, ("import os",), "import os"),
        (5, ("def first(path: str) -> str",), "# What it does."),
        (13, ("class Second",), "class Second:"),
    ]


def test_a_page_is_what_a_person_would_read_of_it() -> None:
    blocks = list(read_html([HTML]))

    assert [(block.text, block.headings, block.kind) for block in blocks] == [
        ("The page", ("The page",), "heading"),
        ("Tea & coffee", ("Tea & coffee",), "heading"),
        ("Some strong tea, and more.", ("Tea & coffee",), "prose"),
        ("Prices", ("Tea & coffee", "Prices"), "heading"),
        ("tea 2", ("Tea & coffee", "Prices"), "prose"),
        ("coffee 3", ("Tea & coffee", "Prices"), "prose"),
        ("  kept\n    as it is", ("Tea & coffee", "Prices"), "code"),
        ("unclosed", ("Tea & coffee", "Prices"), "prose"),
    ]
    assert [block.place for block in blocks] == [1, 4, 5, 6, 7, 7, 8, 11]


def test_a_navigation_that_was_never_closed_does_not_swallow_the_page() -> None:
    blocks = read_html(["<nav><a>Home</a><main><p>The text.</p></main>"])

    assert [block.text for block in blocks] == ["The text."]


@pytest.mark.parametrize("reader", [read_markdown, read_text, read_code, read_html])
@given(text=st.text(alphabet=st.sampled_from("ab .\n#`~=-<>/&;!{}\t\u3042"), max_size=300))
def test_whatever_is_read_no_block_is_empty_and_places_never_go_back(reader: Reader, text: str) -> None:
    blocks = list(reader(lines(text)))

    assert all(block.text.strip() for block in blocks)
    assert all(1 <= block.place <= len(lines(text)) for block in blocks)
    if reader is not read_html:
        assert [block.place for block in blocks] == sorted(block.place for block in blocks)
        assert sum(map(len, lines(text))) >= sum(len(block.text.strip()) for block in blocks)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_text_is_decoded_whatever_it_was_written_with(encoding: str) -> None:
    data = "Käse für 3 €".encode(encoding)

    assert data.decode(guess_encoding(BytesIO(data))) == "Käse für 3 €"
    assert not is_binary(data)
    assert is_binary(b"\x7fELF\0\0")


def test_the_first_letter_that_is_not_ascii_may_be_far_down() -> None:
    data = b"tea\n" * 500_000 + "Käse".encode("latin-1")

    assert guess_encoding(BytesIO(data)) == "cp1252"


def test_a_file_that_has_only_replacement_characters_is_utf8() -> None:
    assert guess_encoding(BytesIO("caf\ufffd".encode())) == "utf-8"
