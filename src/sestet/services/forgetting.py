"""Removes memories, knowledge entries, lessons and documents for good."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.services.memory.catalog import MemoryCatalog, MemoryItem, split_id
from sestet.storage.apart import read_apart
from sestet.storage.database import Database
from sestet.storage.documents import DocumentStore
from sestet.storage.event_redaction import EventRedaction
from sestet.storage.file_changes import FileChangeStore
from sestet.storage.forgetting_scan import ForgettingScan, Watch
from sestet.storage.forgettings import Forgettings, Wipe
from sestet.storage.forgotten_turns import ForgottenTurns
from sestet.storage.forgotten_words import ForgottenWords
from sestet.storage.journal import Journal, TurnRow
from sestet.storage.knowledge import KnowledgeStore
from sestet.storage.learnings import LearningStore
from sestet.storage.lock_wait import when_free
from sestet.storage.memories import shared_words
from sestet.storage.row_redaction import RowRedaction
from sestet.storage.saved_in_turn import SavedInTurn

#: What to tell the person about a wipe that is not done; it is tried again by itself.
UNWIPED: dict[Wipe, str] = {
    "in_use": "another process is using the file: traces stay in it until Sestet, 'sestet doctor' or another "
    "'forget' finds the file unused and wipes them",
    "no_room": "the disk is full: the rows are deleted, and their traces are wiped once there is room",
    "failed": "the file could not be rewritten and still holds traces; the next start of Sestet tries again",
}
#: A text that was saved in the same turn as a fact counts as made of it if it shares this part of its words.
_MADE_OF_IT = 0.5
_FEWEST_CHARACTERS = 3
#: Reading no more events than these takes less time than a thread.
_READ_AT_ONCE = 5_000


class ForgottenMemory(Record):
    """The result of forgetting one memory."""

    #: None: words were forgotten, and not a memory.
    item: MemoryItem | None
    #: Rows that were removed too: from the same words, or based on them. Ids of memories, and names.
    with_it: tuple[str, ...]
    #: Ids of older facts that it had replaced and that are current again.
    counts_again: tuple[str, ...]
    #: Whether the conversation in which it was said still contains it.
    still_said: bool
    #: Turns that had not ended and would have brought the words back; they are ended now.
    ended: tuple[str, ...] = ()


class Consequences(NamedTuple):
    """What would happen if a memory were forgotten."""

    #: The memory, and the rows that would be removed with it.
    goes: tuple[str, ...]
    #: Older facts that would be current again.
    counts_again: tuple[str, ...]
    #: The turns that would still say it.
    turns: tuple[TurnRow, ...]


class FoundWords(NamedTuple):
    """Where the words of a forgetting were found, before anything is changed."""

    text: str
    everywhere: bool
    scan: ForgettingScan
    #: Contents that are kept for an undo, and whether they hold the words.
    kept: Mapping[str, bool]


class Forgetting:
    """Removes memories. Triggers remove their index entries, vectors and extracted graph facts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._catalog = MemoryCatalog(database)
        self._journal = Journal(database)
        self._redaction = EventRedaction(database)
        self._rows = RowRedaction(database)
        self._turns = ForgottenTurns(database, self._journal)
        self._forgettings = Forgettings(database)
        self._changes = FileChangeStore(database)

    def forget(
        self, wanted: str, *, everywhere: bool = False, asked_in: str = "", watch: Watch | None = None
    ) -> ForgottenMemory:
        """Remove a memory and everything based on it: after a long look without a lock, in one transaction.

        ``everywhere``: also blank the turn in which it was said, and its words wherever they were recorded.
        ``asked_in``: the turn that asks for it; it repeats the words, so it must not be observed either.
        """
        item = self._catalog.require(wanted)
        while True:
            found = self.look_for(item.text, everywhere=everywhere, watch=watch)
            if (done := self._forget_found(found, item, asked_in)) is not None:
                return done

    async def forget_soon(self, wanted: str, *, asked_in: str) -> ForgottenMemory:
        """The same in an event loop, which goes on meanwhile: a large journal is read in a thread."""
        item = self._catalog.require(wanted)
        while True:
            if self._journal_is_short():
                found = self.look_for(item.text, everywhere=False)
            else:
                found = await read_apart(
                    self._database, lambda own: Forgetting(own).look_for(item.text, everywhere=False)
                )
            done = await when_free(partial(self._forget_found, found, item, asked_in))
            if done is not None:
                return done

    def look_for(self, text: str, *, everywhere: bool, watch: Watch | None = None) -> FoundWords:
        """Find the words in short reads; nothing waits for them, and nothing is changed."""
        words = ForgottenWords(text)
        scan = ForgettingScan(words)
        kept = self._changes.judge_kept(words.are_in) if everywhere else {}
        scan.read(self._database, watch)
        if everywhere:
            self._redaction.prepare(words, scan)
        return FoundWords(text, everywhere, scan, kept)

    def _journal_is_short(self) -> bool:
        (events,) = self._database.execute("SELECT coalesce(max(rowid), 0) FROM events").only()
        return events <= _READ_AT_ONCE

    def consequences(self, wanted: str) -> Consequences:
        """What would go and stay; blanking the turns too may find the words in more places."""
        item = self._catalog.require(wanted)
        turns = self._turns_of(item)
        gone = self._derived(item.text, item, turns)
        again = tuple(name for name in _replaced_by(item) if name not in gone)
        said = (self._journal.turn(turn) for turn in turns)
        return Consequences(tuple(gone), again, tuple(turn for turn in said if turn is not None))

    def forget_words(self, words: str, watch: Watch | None = None) -> ForgottenMemory:
        """Remove some words wherever they were recorded, whether a memory has them or not."""
        if len(words.strip(" .!?")) < _FEWEST_CHARACTERS:
            raise PersonError(
                f"'{words}' is too short to forget everywhere: use at least {_FEWEST_CHARACTERS} characters"
            )
        while True:
            found = self.look_for(words, everywhere=True, watch=watch)
            if (done := self._forget_found(found, None)) is not None:
                return done

    def _forget_found(
        self, found: FoundWords, item: MemoryItem | None, asked_in: str = ""
    ) -> ForgottenMemory | None:
        """In one short transaction; None: something else was forgotten meanwhile, so look again."""
        text, scan, everywhere = found.text, found.scan, found.everywhere
        words, kept = ForgottenWords(text), list[str]()
        with self._database.transaction(sync=True):
            if not scan.catch_up(self._database):
                return None
            self._forgettings.add()
            turns = self._turns_of(item) if item else []
            # A turn that is observed later would bring the words back.
            unwanted = {*turns, asked_in, *self._redaction.unobserved_with_words(scan)}
            saved, touched = self._blank(found, turns) if everywhere else ([], set(turns))
            gone = self._derived(text, item, touched)
            for other in gone:
                self.remove(other)
            if everywhere:
                self._rows.blank_words(words, scan)
                sets = self._changes.ids_with(touched, words.are_in, found.kept)
                kept = self._changes.delete_rows(sets)
            shown = self._redaction.blank_recalled(frozenset(gone), scan)
            self._turns.never_observe((unwanted | shown) - {""})
            # Without ``everywhere`` a later turn may still read the conversation.
            held = touched | shown if everywhere else touched
            ended = self._turns.end_open(held - {asked_in}, later=everywhere)
        self._changes.kept.remove(kept)
        return ForgottenMemory(
            item,
            (*(name for name in gone if item is None or name != item.id), *saved),
            tuple(name for name in _replaced_by(item) if name not in gone),
            bool(turns) and not everywhere,
            tuple(f"turn {turn.number} of session '{turn.session_id}'" for turn in ended),
        )

    def is_forgotten(self, wanted: str) -> bool:
        """Whether a memory had this id. Ids are never given twice, so this needs no record of what it was."""
        return self._catalog.get(wanted) is None and self._catalog.was_given(wanted)

    def wipe(self) -> Wipe:
        """Overwrite removed rows in the file."""
        return self._forgettings.wipe()

    def _blank(self, found: FoundWords, turns: Sequence[str]) -> tuple[list[str], set[str]]:
        """Blank the turns in which it was said, and its words in all other turns.

        Returns the names of what was removed, and the ids of all turns that held the words.
        """
        saved = self._remove_saved(found.text, turns)
        for turn_id in turns:
            self._redaction.blank_turn(turn_id)
            self._rows.blank_questions(turn_id)
        words = ForgottenWords(found.text)
        return saved, {*turns, *self._redaction.blank_words(words, found.scan, but=turns)}

    def _remove_saved(self, text: str, turns: Sequence[str]) -> list[str]:
        """Remove lessons, entries and graph facts that were saved in the same turns and say the same."""

        def is_made_of_it(saved: str) -> bool:
            return shared_words(text, saved) >= _MADE_OF_IT

        return [
            name for turn_id in turns for name in SavedInTurn(self._database, turn_id).remove(is_made_of_it)
        ]

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

    def _derived(self, text: str, item: MemoryItem | None, turns: Iterable[str]) -> list[str]:
        """The ids of the memory, of observations of these turns or words, and of all rows based on them."""
        waiting = [item.id] if item else []
        if item is None or item.sort == "fact":
            waiting += [
                f"o{number}" for turn_id in turns for number in self._catalog.observations.seen_in(turn_id)
            ]
            waiting += self._catalog.quoting(text)
        return self.with_derived(waiting)

    def with_derived(self, ids: Iterable[str]) -> list[str]:
        """The ids of memories that exist, and of all rows based on them."""
        waiting = list(ids)
        gone: dict[str, None] = {}
        while waiting:
            name = waiting.pop()
            other = self._catalog.get(name)
            if other is None or name in gone:
                continue
            gone[name] = None
            waiting += other.used_by if other.sort != "fact" else ()
        return list(gone)

    def remove(self, name: str) -> None:
        """Inside a transaction: remove one row; recorded prompts keep it until ``blank_recalled``."""
        sort, number = split_id(name)
        if sort == "fact":
            self._catalog.memories.remove(number)
        elif sort == "observation":
            self._catalog.observations.remove_observation(number)
        else:
            self._catalog.observations.remove_reflection(number)


def _replaced_by(item: MemoryItem | None) -> tuple[str, ...]:
    return item.rests_on if item and item.sort == "fact" else ()


class UnwantedEntries(Record):
    """What to remove: an entry by key, a lesson by id, or the documents at and below some paths."""

    key: str = ""
    learning: int | None = None
    paths: tuple[str, ...] = ()


class ForgottenEntries(Record):
    names: list[str]
    #: Whether the file still holds the deleted text, and why.
    wipe: Wipe


def forget_entries(database: Database, unwanted: UnwantedEntries) -> ForgottenEntries:
    """Remove entries with history, passages and vectors, and wipe the deleted text from the file."""
    names: list[str] = []
    forgettings = Forgettings(database)
    with database.transaction(sync=True):
        if unwanted.key and KnowledgeStore(database).forget(unwanted.key):
            names.append(unwanted.key)
        if unwanted.learning is not None and LearningStore(database).forget(unwanted.learning):
            names.append(f"lesson {unwanted.learning}")
        documents = DocumentStore(database)
        for path in filter(None, dict.fromkeys(unwanted.paths)):
            names += (below for below in documents.paths_below(path) if documents.remove(below))
        if names:
            forgettings.add()
    return ForgottenEntries(names, forgettings.wipe() if forgettings.has_traces() else "wiped")


def describe_forgotten(done: ForgottenMemory, wipe: Wipe) -> dict[str, object]:
    """What was forgotten, as JSON."""
    return {
        "forgotten": [*((done.item.id,) if done.item else ()), *done.with_it],
        "counts_again": done.counts_again,
        "still_said": done.still_said,
        "ended": done.ended,
        "scrubbed": wipe == "wiped",
        "wipe": wipe,
    }
