"""Fills a database with the amount of data that years make, directly in SQL."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from bench.retrieval.quality import read_notes, read_queries
from sestet.config.settings import EmbeddingSettings
from sestet.services.embedding.embedder import Embedder, choose_embedders
from sestet.services.embedding.local_embedder import LocalEmbedder
from sestet.storage.database import Database
from sestet.storage.vectors import VectorStore

_VOCABULARY = 20_000
_SENTENCES_A_PASSAGE = 4
_BATCH = 512
#: Words that stand in many facts of a person; a query with them has tens of thousands of hits.
_OFTEN = ("friend", "house", "garden", "doctor", "project", "holiday", "kitchen", "meeting")
_FORMS = (
    "My {often} {a} has a {b} and a {c}.",
    "I {a} my {often} near the {b} with {c}.",
    "The {often} of {a} is {b}, not {c}.",
)


class Words:
    """Words with the frequencies of a language: few are in every text, most are rare."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - the same words in every run
        letters = random.Random(0)  # noqa: S311 - as above
        syllables = [f"{a}{b}" for a in "bdfgklmnprstvz" for b in "aeiou"]
        self._words = ["".join(letters.choices(syllables, k=3)) + "n" for _ in range(_VOCABULARY)]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))

    def take(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def fact(self) -> str:
        a, b, c = self.take(3)
        return self._chance.choice(_FORMS).format(often=self._chance.choice(_OFTEN), a=a, b=b, c=c)

    def question(self) -> str:
        """A message with two frequent words of memories and two of any frequency."""
        one, other = self._chance.sample(_OFTEN, 2)
        a, b = self.take(2)
        return f"What did I say about the {one} and the {other} of {a} near the {b}?"


def fill_memories(path: Path, count: int) -> None:
    """Facts with their vectors; a few of them are replaced."""
    database, words = Database(path), Words()
    with database.transaction():
        database.execute_many(
            """INSERT INTO memories (text, session_id, turn_id, created_at, untrusted, private)
               VALUES (?, 's', 't', ?, 0, 0)""",
            ((words.fact(), 1.7e9 + number) for number in range(count)),
        )
        database.execute(
            "INSERT INTO superseded SELECT id, id + 1, 0 FROM memories WHERE id % 10 = 0 AND id < ?", (count,)
        )
        database.execute("DELETE FROM extractions")
    _random_vectors(database)
    database.close()


def fill_passages(path: Path, count: int) -> None:
    """Knowledge of sentences from the quality set, with real vectors."""
    database, chance = Database(path), random.Random(1)  # noqa: S311 - as above
    notes, words = read_notes(), Words()
    sentences = [part for note in notes for part in note.text.split(". ") if len(part) > 20]
    with database.transaction():
        database.execute_many(
            """INSERT INTO knowledge (key, content, category, session_id, turn_id, created_at, updated_at,
               untrusted, private) VALUES (?, ?, 'note', '', '', 0, 0, 0, 0)""",
            (
                (
                    f"{notes[n % len(notes)].title} {n}",
                    ". ".join((words.fact(), *chance.sample(sentences, _SENTENCES_A_PASSAGE))),
                )
                for n in range(count)
            ),
        )
        database.execute("DELETE FROM extractions")
    best, table, store = _best(), LocalEmbedder(), VectorStore(database)
    size = len(best.embed(["one"])[0])
    for batch in _batches(database):
        # The encoder would take half an hour. Vectors of the table lie in clusters too; zeros fill them up.
        vectors = (vector.ljust(size, b"\0") for vector in table.embed([text for _, text in batch]))
        store.add(best.space, [(id, vector) for (id, _), vector in zip(batch, vectors, strict=True)])
    database.close()


def _best() -> Embedder:
    embedders = choose_embedders(EmbeddingSettings())
    assert embedders is not None
    return embedders.best


def questions(count: int) -> list[str]:
    """Questions of the quality set, each with two words that stand in many passages."""
    chance = random.Random(2)  # noqa: S311 - as above
    taken = chance.sample([query.query for query in read_queries()], count)
    return [f"{question} {' '.join(chance.sample(_OFTEN, 2))}" for question in taken]


def _batches(database: Database) -> Iterator[Sequence[tuple[int, str]]]:
    after = 0
    while rows := database.execute(
        "SELECT id, title || char(10) || text FROM passages WHERE id > ? ORDER BY id LIMIT ?", (after, _BATCH)
    ):
        yield [(id, text) for id, text in rows]
        after = rows[-1][0]


def _random_vectors(database: Database) -> None:
    """Vectors for texts that no figure looks for by meaning, without the time of a model."""
    import numpy

    best = _best()
    dimension, space = len(best.embed(["one"])[0]) // 4, best.space
    chance = numpy.random.default_rng(1)
    for batch in _batches(database):
        vectors = chance.standard_normal((len(batch), dimension), dtype=numpy.float32)
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
        with database.transaction():
            database.execute_many(
                "INSERT INTO vectors VALUES (?, ?, ?)",
                [(id, space, vector.tobytes()) for (id, _), vector in zip(batch, vectors, strict=True)],
            )


def megabytes(path: Path) -> int:
    return round(sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6)
