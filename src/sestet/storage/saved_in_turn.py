"""Removes the lessons, versions of entries and told graph facts that one turn has saved."""

from collections.abc import Callable

from sestet.storage.database import Database
from sestet.storage.knowledge import KnowledgeStore


class SavedInTurn:
    """The rows of one turn."""

    def __init__(self, database: Database, turn_id: str) -> None:
        self._database = database
        self._turn_id = turn_id

    def remove(self, is_unwanted: Callable[[str], bool]) -> list[str]:
        """Inside a transaction: remove the rows whose text is unwanted; return their names."""
        return [
            *self._remove_lessons(is_unwanted),
            *self._remove_versions(is_unwanted),
            *self._remove_facts(is_unwanted),
        ]

    def _remove_lessons(self, is_unwanted: Callable[[str], bool]) -> list[str]:
        rows = self._database.execute(
            "SELECT id, trigger || ' ' || fix || ' ' || cause FROM learnings WHERE turn_id = ?",
            (self._turn_id,),
        )
        unwanted = [number for number, text in rows if is_unwanted(text)]
        for number in unwanted:
            self._database.execute("DELETE FROM learnings WHERE id = ?", (number,))
        return [f"lesson {number}" for number in unwanted]

    def _remove_facts(self, is_unwanted: Callable[[str], bool]) -> list[str]:
        """Told facts only: an extracted one is removed with the text that it was extracted from."""
        rows = self._database.execute(
            """SELECT id, subject || ' ' || replace(predicate, '_', ' ') || ' ' || object FROM triples
               WHERE turn_id = ? AND collection = ''""",
            (self._turn_id,),
        )
        unwanted = [number for number, text in rows if is_unwanted(text)]
        for number in unwanted:
            self._database.execute("DELETE FROM triples WHERE id = ?", (number,))
        return [f"graph fact {number}" for number in unwanted]

    def _remove_versions(self, is_unwanted: Callable[[str], bool]) -> list[str]:
        rows = self._database.execute(
            """SELECT knowledge_id, key, knowledge_versions.version,
                   key || ' ' || knowledge_versions.content || ' ' || knowledge_versions.tags
               FROM knowledge_versions JOIN knowledge ON knowledge.id = knowledge_id
               WHERE knowledge_versions.turn_id = ?""",
            (self._turn_id,),
        )
        names: list[str] = []
        for entry_id, key, version, text in rows:
            if is_unwanted(text):
                self._remove_version(entry_id, key, version)
                names.append(f"version {version} of the entry '{key}'")
        return names

    def _remove_version(self, entry_id: int, key: str, version: int) -> None:
        """Remove a version; the latest of the others takes its place, and without others the entry goes."""
        others = self._database.execute(
            "SELECT max(version) FROM knowledge_versions WHERE knowledge_id = ? AND version <> ?",
            (entry_id, version),
        )
        knowledge = KnowledgeStore(self._database)
        present = knowledge.get(key)
        if (latest := others.only()[0]) is None:
            knowledge.forget(key)
            return
        if present is not None and present.version == version:
            knowledge.restore(key, latest)
        self._database.execute(
            """UPDATE knowledge_versions SET previous =
                   (SELECT previous FROM knowledge_versions WHERE knowledge_id = ? AND version = ?)
               WHERE knowledge_id = ? AND previous = ?""",
            (entry_id, version, entry_id, version),
        )
        self._database.execute(
            "DELETE FROM knowledge_versions WHERE knowledge_id = ? AND version = ?", (entry_id, version)
        )
