"""How well stored passages are found, and how little where there is no answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sestet.config.settings import EmbeddingSettings
from sestet.core.errors import PersonError
from sestet.evals.sets import parse_object, read_lines
from sestet.services.embedding.index import EmbeddingIndex, open_embedding
from sestet.services.embedding.noise import only_near
from sestet.services.retrieval import Retrieval
from sestet.storage.database import Database
from sestet.storage.graph import GraphStore
from sestet.storage.passages import PassageStore, SearchScope

#: How many passages a search may show.
LIMIT = 5
#: The kind of all questions together.
ALL = "all"
_SHIPPED = Path(__file__).parent / "sets" / "retrieval.jsonl"
_SAMPLE = '{"id": "a", "title": "", "text": "…"}, and then {"question": "…", "passages": ["a"], "kind": "…"}'
#: Takes a question, returns the ids of passages, best first.
_Search = Callable[[str], Awaitable[Sequence[str]]]


class SetPassage(NamedTuple):
    id: str
    title: str
    text: str


class Question(NamedTuple):
    """A question and the ids of the passages that answer it; none if there is no answer."""

    question: str
    passages: tuple[str, ...]
    kind: str = ""


class RetrievalSet(NamedTuple):
    name: str
    passages: tuple[SetPassage, ...]
    questions: tuple[Question, ...]


class Recall(NamedTuple):
    """The shares of questions with an answer in the first place, and among the shown passages."""

    n: int
    at_1: float
    at_5: float


class RetrievalFigures(NamedTuple):
    set_name: str
    passages: int
    questions: int
    #: The model of the vectors; empty without one.
    space: str
    #: Search → kind → recall.
    recall: Mapping[str, Mapping[str, Recall]]
    #: The number of questions without an answer, and how many passages each search shows for one.
    unanswered: int
    shown: Mapping[str, float]
    #: Questions whose answer both searches together do not show.
    missed: tuple[Question, ...]


def read_retrieval_set(file: Path | None = None) -> RetrievalSet:
    """The passages and questions of a file, or of the shipped set; errors name the file and the line."""
    file = file or _SHIPPED
    passages: dict[str, SetPassage] = {}
    questions: list[Question] = []
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        row = parse_object(line)
        if isinstance(row, str):
            raise PersonError(f"{file}, line {number}: {row}")
        match row:
            case {"id": str(id), "title": str(title), "text": str(text)}:
                if id in passages:
                    raise PersonError(f"{file}, line {number}: the id {id!r} stands there twice")
                passages[id] = SetPassage(id, title, text)
            case {"question": str(question), "passages": list(ids)}:
                known = tuple(str(id) for id in ids)
                if unknown := [id for id in known if id not in passages]:
                    raise PersonError(f"{file}, line {number}: there is no passage {unknown[0]!r} above it")
                questions.append(Question(question, known, str(row.get("kind", ""))))
            case _:
                raise PersonError(f"{file}, line {number}: expected a line such as {_SAMPLE}")
    if not questions:
        raise PersonError(f"{file}: the set has no questions; its lines are such as {_SAMPLE}")
    return RetrievalSet(file.name, tuple(passages.values()), tuple(questions))


async def try_retrieval(
    material: RetrievalSet,
    settings: EmbeddingSettings,
    watch: Callable[[int, int, str], None] | None = None,
) -> RetrievalFigures:
    """Store the passages in a database of its own, and ask every question by each search."""
    with TemporaryDirectory() as folder:
        database = Database(Path(folder) / "sestet.db")
        try:
            _store(database, material.passages)
            embedding = open_embedding(settings, database)
            if embedding:
                await embedding.catch_up()
            return await _ask_all(material, _searches(database, embedding), embedding, watch)
        finally:
            database.close()


def describe_figures(figures: RetrievalFigures) -> dict[str, object]:
    """The figures as JSON."""
    recall = {
        search: {kind: found._asdict() for kind, found in kinds.items()}
        for search, kinds in figures.recall.items()
    }
    return {
        "eval": "retrieval",
        "set": figures.set_name,
        "space": figures.space or None,
        "passages": figures.passages,
        "questions": figures.questions,
        "recall": recall,
        "unanswered": {"n": figures.unanswered, "shown": dict(figures.shown)},
        "missed": [question._asdict() for question in figures.missed],
    }


def _store(database: Database, passages: Sequence[SetPassage]) -> None:
    with database.transaction():
        database.execute_many(
            "INSERT INTO passages VALUES (NULL, 'documents', ?, ?, ?, ?, '', 0, 0, '[]', 0)",
            [(number, one.title, one.text, one.id) for number, one in enumerate(passages)],
        )


def _searches(database: Database, embedding: EmbeddingIndex | None) -> dict[str, _Search]:
    passages, scope = PassageStore(database), SearchScope(("documents",))

    def by(retrieval: Retrieval) -> _Search:
        async def search(question: str) -> list[str]:
            return [found.source for found in (await retrieval.retrieve(question, LIMIT)).passages]

        return search

    searches = {"words": by(Retrieval(passages))}
    if embedding is None:
        return searches

    def by_vectors(index: EmbeddingIndex, *, is_near: bool) -> _Search:
        async def search(question: str) -> list[str]:
            found = await index.nearest(question, LIMIT, scope.holds)
            kept = (only_near(found) if is_near else found)[:LIMIT]
            rows = passages.get(one.passage_id for one in kept)
            return [rows[one.passage_id].source for one in kept]

        return search

    return {
        **searches,
        "vectors": by_vectors(embedding, is_near=False),
        "hybrid": by(Retrieval(passages, GraphStore(database), embedding)),
        "near": by_vectors(embedding, is_near=True),
    }


async def _ask_all(
    material: RetrievalSet,
    searches: Mapping[str, _Search],
    embedding: EmbeddingIndex | None,
    watch: Callable[[int, int, str], None] | None,
) -> RetrievalFigures:
    hits: dict[str, dict[str, list[tuple[bool, bool]]]] = {search: {} for search in searches}
    shown = dict.fromkeys(searches, 0)
    missed: list[Question] = []
    for number, question in enumerate(material.questions):
        if watch:
            watch(number, len(material.questions), question.question)
        for name, search in searches.items():
            found = await search(question.question)
            if not question.passages:
                shown[name] += len(found)
                continue
            hit = bool(found) and found[0] in question.passages, not set(found).isdisjoint(question.passages)
            for kind in dict.fromkeys((ALL, question.kind or ALL)):
                hits[name].setdefault(kind, []).append(hit)
            if name == "hybrid" and not hit[1]:
                missed.append(question)
    unanswered = sum(not question.passages for question in material.questions)
    return RetrievalFigures(
        material.name,
        len(material.passages),
        len(material.questions),
        embedding.space if embedding else "",
        {name: {kind: _recall(found) for kind, found in kinds.items()} for name, kinds in hits.items()},
        unanswered,
        {name: count / unanswered for name, count in shown.items()} if unanswered else {},
        tuple(missed),
    )


def _recall(hits: Sequence[tuple[bool, bool]]) -> Recall:
    n = len(hits)
    return Recall(n, sum(first for first, _ in hits) / n, sum(among for _, among in hits) / n)
