"""Removes memories, knowledge entries, lessons and documents for good."""

from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.services.memory.catalog import MemoryCatalog, MemoryItem, split_id
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.redaction import Redaction


class ForgottenMemory(Record):
    """The result of forgetting one memory."""

    item: MemoryItem
    #: Ids of rows that were removed too: from the same words, or based on them.
    with_it: tuple[str, ...]
    #: Ids of older facts that it had replaced and that are current again.
    counts_again: tuple[str, ...]
    #: Whether the conversation in which it was said still contains it.
    still_said: bool


class Forgetting:
    """Removes memories. Triggers remove their index entries, vectors and extracted graph facts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._catalog = MemoryCatalog(database)
        self._journal = Journal(database)
        self._redaction = Redaction(database)

    def forget(self, wanted: str, *, everywhere: bool = False, asked_in: str = "") -> ForgottenMemory:
        """Remove a memory and everything based on it, in one transaction.

        ``everywhere``: also blank the turn in which it was said, and its words wherever they were recorded.
        ``asked_in``: the turn that asks for it; it repeats the words, so it must not be observed either.
        """
        item = self._catalog.require(wanted)
        turns = self._turns_of(item)
        if everywhere:
            self._refuse_open(turns)
        with self._database.transaction():
            gone = self._derived(item, turns)
            for other in gone:
                self._remove(other)
            self._redaction.blank_recalled(frozenset(gone))
            # A turn that is observed later would bring the words back.
            for turn_id in filter(None, (*turns, asked_in)):
                self._database.execute("INSERT OR IGNORE INTO forgotten_turns VALUES (?)", (turn_id,))
            if everywhere:
                for turn_id in turns:
                    self._redaction.blank_turn(turn_id)
                self._redaction.blank_words(item.text)
        again = item.rests_on if item.sort == "fact" else ()
        return ForgottenMemory(
            item, tuple(g for g in gone if g != item.id), again, bool(turns) and not everywhere
        )

    def scrub(self) -> bool:
        """Overwrite removed rows in the file; False while another process has it open."""
        return self._database.wipe_deleted()

    def _turns_of(self, item: MemoryItem) -> list[str]:
        """The existing turns in which it was said; a reflection was said in none."""
        if item.sort == "reflection":
            return []
        turns = (
            self._catalog.observations.turns_of(split_id(item.id)[1])
            if item.sort == "observation"
            else [item.turn_id]
        )
        return [turn_id for turn_id in turns if self._journal.turn(turn_id) is not None]

    def _refuse_open(self, turns: list[str]) -> None:
        for turn_id in turns:
            row = self._journal.turn(turn_id)
            if row is not None and row.state in ("running", "paused"):
                raise PersonError(
                    f"turn {row.number} of session '{row.session_id}' has not ended; "
                    "finish or abandon it first, in 'sestet chat'"
                )

    def _derived(self, item: MemoryItem, turns: list[str]) -> list[str]:
        """The ids of the memory, of observations of the same words, and of all rows based on them."""
        waiting = [item.id]
        if item.sort == "fact":
            waiting += [
                f"o{number}" for turn_id in turns for number in self._catalog.observations.seen_in(turn_id)
            ]
            waiting += self._catalog.quoting(item.text)
        gone: dict[str, None] = {}
        while waiting:
            name = waiting.pop()
            other = self._catalog.get(name)
            if other is None or name in gone:
                continue
            gone[name] = None
            waiting += other.used_by if other.sort != "fact" else ()
        return list(gone)

    def _remove(self, name: str) -> None:
        sort, number = split_id(name)
        if sort == "fact":
            self._catalog.memories.remove(number)
        elif sort == "observation":
            self._catalog.observations.remove_observation(number)
        else:
            self._catalog.observations.remove_reflection(number)


class UnwantedEntries(Record):
    """What to remove: an entry by key, a lesson by id, or the documents at and below some paths."""

    key: str = ""
    learning: int | None = None
    paths: tuple[str, ...] = ()


class ForgottenEntries(Record):
    names: list[str]
    #: False: another process has the file open, so it still contains the deleted text.
    wiped: bool


def forget_entries(database: Database, unwanted: UnwantedEntries) -> ForgottenEntries:
    """Remove entries with history, passages and vectors, and wipe the deleted text from the file."""
    names: list[str] = []
    if unwanted.key and KnowledgeStore(database).forget(unwanted.key):
        names.append(unwanted.key)
    if unwanted.learning is not None and LearningStore(database).forget(unwanted.learning):
        names.append(f"lesson {unwanted.learning}")
    documents = DocumentStore(database)
    for path in filter(None, dict.fromkeys(unwanted.paths)):
        names += (below for below in documents.paths_below(path) if documents.remove(below))
    return ForgottenEntries(names, database.wipe_deleted() if names else True)
