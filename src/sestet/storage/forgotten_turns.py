"""Turns that hold forgotten words: Sestet never observes them, and ends the open ones."""

import json
import time
from collections.abc import Collection
from itertools import count

from sestet.core.effects import can_be_in_doubt, effects_of, open_calls, tool_name
from sestet.core.event import Event, Stamp, ToolFinished, TurnCancelled
from sestet.core.label import Label
from sestet.core.record import replace
from sestet.storage.database import Database
from sestet.storage.journal import Journal, TurnRow

#: Nobody knows what such a call did, so nobody knows what it read either.
_UNKNOWN = Label(untrusted=True, private=True, sources=("a turn that was ended by forgetting",))
_IN_DOUBT = "Forgetting ended the turn before '{tool}' had answered, so its effect is in doubt."


class ForgottenTurns:
    """An open turn that goes on would write the words again. After its end, a trigger refuses its rows."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def never_observe(self, turn_ids: Collection[str]) -> None:
        """Inside a transaction: keep the turns from the observer, which would bring the words back."""
        for turn_id in turn_ids:
            self._database.execute("INSERT OR IGNORE INTO forgotten_turns (turn_id) VALUES (?)", (turn_id,))

    def end_open(self, turn_ids: Collection[str], *, later: bool) -> list[TurnRow]:
        """Inside a transaction: end the turns that are still open.

        ``later``: also open turns after one of them in its session, which were shown it as the conversation.
        """
        rows = self._database.execute(
            """SELECT DISTINCT turns.* FROM turns
               JOIN turns AS held ON held.session_id = turns.session_id AND held.number <= turns.number
               WHERE turns.state IN ('running', 'paused') AND (? OR held.id = turns.id)
                   AND held.id IN (SELECT value FROM json_each(?))
               ORDER BY turns.session_id, turns.number""",
            (later, json.dumps(list(turn_ids))),
        )
        ended = [TurnRow(*row) for row in rows]
        for turn in ended:
            self._journal.append_inside(self._last_events(turn))
            self._database.execute("INSERT OR REPLACE INTO forgotten_turns VALUES (?, 1)", (turn.id,))
        return ended

    def _last_events(self, turn: TurnRow) -> list[Event]:
        """A call without a result may have had its effect, and the end of the turn must not hide that."""
        events = list(self._journal.events_of(turn.id))
        seqs, now = count(self._journal.last_seq(turn.id) + 1), time.time()
        doubts: list[Event] = []
        for intent in filter(can_be_in_doubt, open_calls(events).values()):
            stamp = replace(intent.stamp, seq=next(seqs), at=now)
            text = _IN_DOUBT.format(tool=tool_name(intent))
            doubts.append(ToolFinished(stamp, intent.call, "in_doubt", text, 0.0, _UNKNOWN))
        stamp = Stamp(turn.session_id, turn.id, next(seqs), "user", "", now)
        return [*doubts, TurnCancelled(stamp, effects_of((*events, *doubts)))]
