"""``sestet eval retrieval``: the gate on the shipped set, and sets of one's own."""

import asyncio
import json
from pathlib import Path

import pytest

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import PersonError
from sestet.evals.retrieval import (
    ALL,
    Recall,
    RetrievalFigures,
    describe_figures,
    read_retrieval_set,
    try_retrieval,
)

PASSAGE = '{"id": "tea", "title": "Tea", "text": "Green tea steeps for two minutes."}'
KINDS = ("words", "name", "paraphrase", "german", ALL)


@pytest.fixture(scope="module")
def shipped() -> RetrievalFigures:
    return asyncio.run(try_retrieval(read_retrieval_set(), EmbeddingSettings()))


def written(folder: Path, *lines: str) -> Path:
    file = folder / "mine.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_paraphrases_words_and_names_are_found_on_the_shipped_set(shipped: RetrievalFigures) -> None:
    found = shipped.recall["hybrid"]
    assert found["paraphrase"].at_5 >= 0.90
    assert found["words"].at_1 >= 0.95
    assert found["name"].at_1 >= 0.95
    assert found[ALL].at_5 >= 0.83


@pytest.mark.parametrize("kind", KINDS)
def test_both_searches_together_find_no_fewer_than_the_better_one(
    shipped: RetrievalFigures, kind: str
) -> None:
    better = max(shipped.recall[search][kind].at_5 for search in ("words", "vectors"))
    assert shipped.recall["hybrid"][kind].at_5 >= better


def test_little_is_shown_where_there_is_no_answer(shipped: RetrievalFigures) -> None:
    assert shipped.unanswered >= 25
    assert shipped.shown["near"] <= 0.5
    assert shipped.shown["hybrid"] <= 2.7


def test_the_shipped_set_is_whole() -> None:
    material = read_retrieval_set()
    kinds = [question.kind for question in material.questions]
    assert len(material.passages) >= 100
    assert {kind: kinds.count(kind) >= 16 for kind in (*KINDS[:-1], "none")} == dict.fromkeys(
        (*KINDS[:-1], "none"), True
    )
    assert all(bool(question.passages) != (question.kind == "none") for question in material.questions)
    assert len({question.question for question in material.questions}) == len(material.questions)


def test_one_s_own_set_is_tried_with_one_s_own_provider(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        PASSAGE,
        '{"question": "green tea", "passages": ["tea"]}',
        '{"question": "lava", "passages": []}',
    )
    figures = asyncio.run(try_retrieval(read_retrieval_set(file), EmbeddingSettings(provider="none")))
    assert figures.recall == {"words": {ALL: Recall(1, 1.0, 1.0)}}
    assert (figures.space, figures.unanswered, figures.shown) == ("", 1, {"words": 0.0})
    assert json.loads(json.dumps(describe_figures(figures)))["recall"]["words"][ALL]["at_1"] == 1.0


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["{"], "line 1: is not JSON"),
        ([PASSAGE], "the set has no questions"),
        ([PASSAGE, PASSAGE], "line 2: the id 'tea' stands there twice"),
        (['{"question": "a", "passages": ["b"]}'], "line 1: there is no passage 'b' above it"),
        ([PASSAGE, '{"request": "a"}'], "line 2: expected a line such as"),
    ],
)
def test_a_set_that_cannot_be_tried_is_named_with_its_line(
    tmp_path: Path, lines: list[str], error: str
) -> None:
    with pytest.raises(PersonError, match=error):
        read_retrieval_set(written(tmp_path, *lines))
