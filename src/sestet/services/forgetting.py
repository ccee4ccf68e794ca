"""Forgetting: a row with everything that was made of it, and if the person wants that, what was said."""

from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.core.record import Values, record
from sestet.services.memory.catalog import MemoryCatalog, MemoryItem, split_id
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore
from sestet.storage.journal import Journal
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.redaction import Redaction


@record
class ForgottenMemory(Values):
    """What is gone, and what is not."""

    item: MemoryItem
    #: The ids of rows that came from the same words, or rested on them.
    with_it: tuple[str, ...]
    #: The ids of older facts that it had replaced, and that count again.
    counts_again: tuple[str, ...]
    #: Whether the conversation in which it was said still holds it.
    still_said: bool


class Forgetting:
    """Removes rows. Index, vectors and the facts of the graph that were read out of a row go with it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ledger = MemoryCatalog(database)
        self._journal = Journal(database)
        self._redaction = Redaction(database)

    def forget(self, wanted: str, *, everywhere: bool = False, asked_in: str = "") -> ForgottenMemory:
        """All of it or nothing. ``everywhere``: also what was said in its turn, and its words elsewhere.

        ``asked_in``: the turn that asks for it, which repeats the words and is not to be observed either.
        """
        item = self._ledger.require(wanted)
        turns = self._turns_of(item)
        if everywhere:
            self._refuse_open(turns)
        with self._database.transaction():
            gone = self._derived(item, turns)
            for other in gone:
                self._remove(other)
            self._redaction.blank_recalled(frozenset(gone))
            # What was not observed yet would come back tomorrow.
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
        """Overwrite what the file still holds of removed rows; False while another process has it open."""
        return self._database.wipe_deleted()

    def _turns_of(self, item: MemoryItem) -> list[str]:
        """The turns in which it was said, as far as there are any; a summary was said in none."""
        if item.sort == "reflection":
            return []
        turns = (
            self._ledger.observations.turns_of(split_id(item.id)[1])
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
        """The row, the observations of the same words, and whatever rests on any of them."""
        waiting = [item.id]
        if item.sort == "fact":
            waiting += [
                f"o{number}" for turn_id in turns for number in self._ledger.observations.seen_in(turn_id)
            ]
            waiting += self._ledger.quoting(item.text)
        gone: dict[str, None] = {}
        while waiting:
            name = waiting.pop()
            other = self._ledger.get(name)
            if other is None or name in gone:
                continue
            gone[name] = None
            waiting += other.used_by if other.sort != "fact" else ()
        return list(gone)

    def _remove(self, name: str) -> None:
        sort, number = split_id(name)
        if sort == "fact":
            self._ledger.memories.remove(number)
        elif sort == "observation":
            self._ledger.observations.remove_observation(number)
        else:
            self._ledger.observations.remove_reflection(number)


class UnwantedEntries(NamedTuple):
    """What is to be forgotten: an entry, or a lesson, or the documents at one of the paths."""

    key: str = ""
    learning: int | None = None
    paths: tuple[str, ...] = ()


class ForgottenEntries(NamedTuple):
    names: list[str]
    #: False: another process has the file open, which still holds traces.
    wiped: bool


def forget_entries(database: Database, unwanted: UnwantedEntries) -> ForgottenEntries:
    """Remove it with its history, its passages and their vectors, and wipe its traces from the file."""
    names: list[str] = []
    if unwanted.key and KnowledgeStore(database).forget(unwanted.key):
        names.append(unwanted.key)
    if unwanted.learning is not None and LearningStore(database).forget(unwanted.learning):
        names.append(f"lesson {unwanted.learning}")
    documents = DocumentStore(database)
    for path in filter(None, dict.fromkeys(unwanted.paths)):
        names += (below for below in documents.paths_below(path) if documents.remove(below))
    return ForgottenEntries(names, database.wipe_deleted() if names else True)
