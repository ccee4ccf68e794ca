"""Chunks: the limits of their size, and where they are cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestet.services.documents.blocks import Block, BlockKind
from sestet.services.documents.chunks import LEAST_WORDS, MOST_WORDS, OVERLAP_WORDS, count_words, cut_chunks
from sestet.services.documents.readers import read_markdown

from .papers import words

# The overlap with the chunk before and trailing headings may add a few words.
ROOM = MOST_WORDS + OVERLAP_WORDS


def markdown(text: str) -> list[str]:
    return [chunk.text for chunk in cut_chunks(read_markdown(text.splitlines(keepends=True)))]


def test_short_sections_share_a_chunk_and_long_ones_do_not() -> None:
    text = f"# A\n\n{words(50)}\n\n# B\n\n{words(90)}\n\n# C\n\n{words(40)}\n"
    chunks = list(cut_chunks(read_markdown(text.splitlines(keepends=True))))

    assert [(chunk.headings, chunk.place) for chunk in chunks] == [(("A",), 1), (("C",), 9)]
    assert "# B" in chunks[0].text


def test_a_heading_goes_with_what_follows_it() -> None:
    chunks = markdown(f"# A\n\n{words(100)}\n\n## B\n\n{words(250)}\n")

    assert chunks[0] == f"# A\n\n{words(100)}"
    assert chunks[1].startswith("## B")


def test_prose_that_goes_on_repeats_its_last_sentence_and_no_more() -> None:
    sentences = [f"Sentence number {number} says nothing new at all here." for number in range(60)]
    first, second = markdown(" ".join(sentences))

    last = first.rsplit(". ", 1)[-1]
    assert second.startswith(last)
    assert second.count(last) == 1
    assert count_words(last) <= OVERLAP_WORDS


def test_a_sentence_is_not_cut_where_that_can_be_avoided() -> None:
    for chunk in markdown(words(1_000)):
        assert chunk.endswith(".")
        assert count_words(chunk) <= ROOM


def test_code_in_fences_stays_whole_where_it_fits() -> None:
    code = "```\n" + "\n\n".join(f"line {number}" for number in range(100)) + "\n```"
    chunks = markdown(f"{words(200)}\n\n{code}\n\n{words(200)}\n")

    assert code in chunks


def test_code_that_does_not_fit_is_cut_at_an_empty_line_and_keeps_its_indentation() -> None:
    code = "".join(f"def f{number}():\n    return {number} + 1\n\n" for number in range(200))
    blocks = [Block(code, 1, ("module",), "code")]
    chunks = list(cut_chunks(blocks))

    assert len(chunks) > 2
    assert all(chunk.text.startswith("def f") for chunk in chunks)
    assert [chunk.place % 3 for chunk in chunks] == [1] * len(chunks)


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "語" * 50_000, "a " * 20_000, "a\n" * 20_000, "語。" * 20_000]
)
def test_text_without_places_to_cut_is_cut_all_the_same(text: str) -> None:
    chunks = list(cut_chunks([Block(text, 1)]))

    assert all(count_words(chunk.text) <= ROOM for chunk in chunks)
    assert len(re.sub(r"\s", "", text)) <= sum(len(re.sub(r"\s", "", chunk.text)) for chunk in chunks)


def test_a_chunk_of_pages_is_where_its_first_page_is() -> None:
    pages = [Block("\n".join([words(20)] * 10), number) for number in (1, 2, 3)]

    assert [chunk.place for chunk in cut_chunks(pages, by_page=True)] == [1, 2, 3]


KINDS: list[BlockKind] = ["prose", "code", "heading"]


@given(
    st.lists(
        st.builds(
            Block,
            st.text(alphabet="ab. \n", min_size=1, max_size=3_000).filter(str.strip),
            st.just(1),
            st.sampled_from([(), ("A",), ("A", "B")]),
            st.sampled_from(KINDS),
        ),
        max_size=8,
    )
)
def test_no_word_is_lost_and_no_chunk_is_too_long(blocks: list[Block]) -> None:
    chunks = list(cut_chunks(blocks))
    letters = sum(len(re.sub(r"\s", "", block.text)) for block in blocks)

    assert all(count_words(chunk.text) <= ROOM + len(blocks) for chunk in chunks)
    assert sum(len(re.sub(r"\s", "", chunk.text)) for chunk in chunks) >= letters
    assert all(chunk.text.strip() for chunk in chunks)
    assert LEAST_WORDS < MOST_WORDS
