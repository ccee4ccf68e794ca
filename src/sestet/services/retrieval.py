"""Finds the passages that answer a question, over everything that was kept."""

from typing import NamedTuple

from sestet.storage.knowledge import KnowledgeStore


class Passage(NamedTuple):
    """A text that was found, where it stands, and how well it fits: more is better."""

    text: str
    collection: str
    source: str
    created_at: float
    score: float


class Retrieval:
    """One question to all collections. Full text over saved knowledge for now: vectors join it here later."""

    def __init__(self, knowledge: KnowledgeStore) -> None:
        self._knowledge = knowledge

    def retrieve(self, query: str, limit: int) -> list[Passage]:
        """The best passages first."""
        return [
            Passage(row.content, "knowledge", row.key, row.updated_at, score)
            for row, score in self._knowledge.search(query, limit)
        ]
