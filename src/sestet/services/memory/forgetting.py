"""Forgetting: a row with everything that was made of it, and if the person wants that, what was said."""

from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.services.memory.ledger import Item, Ledger, split_id
from sestet.storage.database import Database
from sestet.storage.journal import Journal
from sestet.storage.redaction import Redaction
from sestet.storage.traces import wipe_traces


class Forgotten(Record):
    """What is gone, and what is not."""

    item: Item
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
        self._ledger = Ledger(database)
        self._journal = Journal(database)
        self._redaction = Redaction(database)

    def forget(self, wanted: str, *, everywhere: bool = False, asked_in: str = "") -> Forgotten:
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
        return Forgotten(item, tuple(g for g in gone if g != item.id), again, bool(turns) and not everywhere)

    def scrub(self) -> bool:
        """Overwrite what the file still holds of removed rows; False while another process has it open."""
        return wipe_traces(self._database)

    def _turns_of(self, item: Item) -> list[str]:
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

    def _derived(self, item: Item, turns: list[str]) -> list[str]:
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
