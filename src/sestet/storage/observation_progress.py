"""How far each session was observed, and a log of the background work."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sestet.core.event import Event, TurnFinished, TurnStarted, TurnSteered
from sestet.core.label import CLEAN, PIPED, Label
from sestet.core.model import Usage
from sestet.core.record import Record
from sestet.storage.database import Database
from sestet.storage.forgettings import Forgettings
from sestet.storage.journal import Journal

Stage: TypeAlias = Literal["observe", "reflect"]

_KINDS = (TurnStarted.kind, TurnSteered.kind, TurnFinished.kind)
_OPEN = ("running", "paused")
#: A model that has answered so often without any text is not asked again.
MOST_EMPTY_REPLIES = 3
_CHUNK = 50


class EndedTurn(NamedTuple):
    """A turn as the observer reads it: message, reply, and the label of both."""

    id: str
    number: int
    words: str
    reply: str
    label: Label
    #: Whether the person wrote the message.
    mine: bool = True


class Unobserved(Record):
    """The next turns of a session to observe, and the mark at which they were read."""

    session_id: str
    mark: int
    #: The mark after these turns.
    upto: int
    turns: tuple[EndedTurn, ...]
    #: Turns up to that mark that have not ended; they are observed after their end.
    passed_over: tuple[str, ...]
    #: Turns that were passed over earlier and have ended since.
    late: tuple[str, ...]
    #: The last forgetting when they were read.
    forgetting: int


class WorkSum(Record):
    """Totals of the background work."""

    runs: int
    usage: Usage
    #: The error of the latest run; empty if it succeeded.
    problem: str


class ObservationProgress:
    """A mark for each session: the number of its last observed turn.

    The mark is stored, not derived from observations: a turn may yield no observation.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._forgettings = Forgettings(database)

    def sessions_waiting(self) -> list[str]:
        """Sessions with turns after their mark, however few. Callers' sessions are never observed."""
        rows = self._database.execute(
            """SELECT id FROM sessions WHERE id NOT GLOB 'caller:*'
                   AND (SELECT max(number) FROM turns WHERE session_id = sessions.id)
                   > coalesce((SELECT number FROM observed WHERE session_id = sessions.id), 0)
               UNION SELECT session_id FROM passed_over ORDER BY 1"""
        )
        return [session_id for (session_id,) in rows]

    def mark(self, session_id: str) -> int:
        """The number of the last turn that was observed or passed over."""
        row = self._database.execute(
            "SELECT number FROM observed WHERE session_id = ?", (session_id,)
        ).fetchone()
        return row[0] if row else 0

    def may_have(self, session_ids: Sequence[str], characters: int) -> list[str]:
        """The sessions that may have that many unobserved characters. A cheap check after every turn."""
        # Two paths, so that the text stays JSON: as a value of its own it would end at a zero character.
        rows = self._database.execute(
            """SELECT value FROM json_each(?)
               LEFT JOIN observed ON observed.session_id = value
               WHERE value IN (SELECT session_id FROM passed_over) OR
                   (SELECT max(number) FROM turns WHERE session_id = value)
                       > coalesce(observed.number, 0) + ? OR
                   (SELECT coalesce(sum(length(
                        iif(json_valid(data), json_extract(data, '$.text', '$.nothing'), data))), 0) FROM log
                    WHERE log.session_id = value AND log.number > coalesce(observed.number, 0)
                    AND kind IN ('turn_started', 'turn_finished')) >= ?""",
            # The texts of many turns are not counted here: that would take too long.
            (json.dumps(session_ids), _CHUNK, characters),
        )
        return [session_id for (session_id,) in rows]

    def unobserved(self, session_id: str, characters: int) -> Unobserved | None:
        """The oldest unobserved turns with that many characters; None while there are fewer."""
        # Read first: what is forgotten while the turns are read counts as forgotten after that.
        forgetting = self._forgettings.last()
        mark = upto = self.mark(session_id)
        late = self._late(session_id)
        after = self._turns_after(session_id, mark)
        still_open = {turn_id: number for turn_id, number, state in after if state in _OPEN}
        numbers = {turn_id: number for turn_id, number, state in after if state not in _OPEN}
        turns = [self._late_turn(turn_id) for turn_id in late]
        size = sum(map(_size, turns))
        for start in range(mark, max(numbers.values(), default=mark), _CHUNK):
            if size >= characters:
                break
            events = self._journal.session_events(session_id, _KINDS, _CHUNK, start + _CHUNK + 1)
            for turn in _turns(events, numbers):
                if size >= characters:
                    break
                turns.append(turn)
                size += _size(turn)
                upto = turn.number
        if size < characters:
            return None
        passed_over = tuple(turn_id for turn_id, number in still_open.items() if number < upto)
        return Unobserved(session_id, mark, upto, tuple(turns), passed_over, tuple(late), forgetting)

    def last_forgetting(self) -> int:
        return self._forgettings.last()

    def is_outdated(self, batch: Unobserved) -> bool:
        """Inside a transaction: whether something was forgotten since the turns were read."""
        return self._forgettings.last() != batch.forgetting

    def move_mark(self, batch: Unobserved) -> bool:
        """Inside a transaction: move the mark past the batch; False if another process has moved it."""
        if self.mark(batch.session_id) != batch.mark or not set(batch.late) <= set(
            self._late(batch.session_id)
        ):
            return False
        self._database.execute(
            """INSERT INTO observed VALUES (?, ?)
               ON CONFLICT (session_id) DO UPDATE SET number = excluded.number""",
            (batch.session_id, batch.upto),
        )
        for turn_id in batch.late:
            self._database.execute(
                "DELETE FROM passed_over WHERE session_id = ? AND turn_id = ?", (batch.session_id, turn_id)
            )
        for turn_id in batch.passed_over:
            self._database.execute("INSERT INTO passed_over VALUES (?, ?)", (batch.session_id, turn_id))
        return True

    def waiting(self) -> tuple[int, int]:
        """The number of observed turns, and of waiting ones."""
        observed, waiting = self._database.execute(
            """SELECT coalesce(sum(number <= mark), 0) - (SELECT count(*) FROM passed_over),
                      coalesce(sum(number > mark), 0) + (SELECT count(*) FROM passed_over)
               FROM (SELECT turns.number, coalesce(observed.number, 0) AS mark
                     FROM turns LEFT JOIN observed ON observed.session_id = turns.session_id)"""
        ).only()
        return observed, waiting

    def log(
        self,
        stage: Stage,
        made_by: str,
        made: int,
        usage: Usage,
        problem: str = "",
        *,
        is_empty: bool = False,
    ) -> None:
        """Log one run: the rows it made and its usage, or its problem.

        ``is_empty``: the problem is that the model answered without any text.
        """
        self._database.execute(
            "INSERT INTO memory_work VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                stage,
                made_by,
                made,
                usage.input_tokens,
                usage.output_tokens,
                usage.nano_dollars,
                time.time(),
                problem,
                is_empty,
            ),
        )

    def empty_replies(self, stage: Stage, made_by: str) -> int:
        """How often this model has answered without any text since it last did the work."""
        (number,) = self._database.execute(
            """SELECT count(*) FROM memory_work WHERE empty AND stage = ? AND made_by = ?
               AND id > coalesce((SELECT max(id) FROM memory_work
                                  WHERE stage = ? AND made_by = ? AND problem = ''), 0)""",
            (stage, made_by, stage, made_by),
        ).only()
        return number

    def given_up(self) -> list[tuple[Stage, str]]:
        """The work that the last model of each stage is no longer asked for, and that model."""
        rows = self._database.execute("SELECT stage, made_by, max(id) FROM memory_work GROUP BY stage")
        return [
            (stage, made_by)
            for stage, made_by, _ in rows
            if self.empty_replies(stage, made_by) >= MOST_EMPTY_REPLIES
        ]

    def failures(self, stage: Stage) -> tuple[int, float]:
        """The number of failed runs in a row, and the time of the last one."""
        number, at = self._database.execute(
            """SELECT count(*), coalesce(max(at), 0) FROM memory_work WHERE stage = ? AND problem <> ''
               AND id > coalesce((SELECT max(id) FROM memory_work WHERE stage = ? AND problem = ''), 0)""",
            (stage, stage),
        ).only()
        return number, at

    def work_sum(self) -> WorkSum:
        runs, read, written, dollars = self._database.execute(
            """SELECT count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
                      coalesce(sum(nano_dollars), 0) FROM memory_work"""
        ).only()
        last = self._database.execute("SELECT problem FROM memory_work ORDER BY id DESC LIMIT 1").fetchone()
        return WorkSum(runs, Usage(read, written, dollars), last[0] if last else "")

    def _turns_after(self, session_id: str, mark: int) -> list[tuple[str, int, str]]:
        """The turns after a mark. Forgotten turns are left out, so they are not observed later."""
        return self._database.execute(
            """SELECT id, number, state FROM turns WHERE session_id = ? AND number > ?
               AND id NOT IN (SELECT turn_id FROM forgotten_turns) ORDER BY number""",
            (session_id, mark),
        )

    def _late(self, session_id: str) -> list[str]:
        rows = self._database.execute(
            """SELECT turn_id FROM passed_over JOIN turns ON turns.id = turn_id
               WHERE passed_over.session_id = ? AND state NOT IN ('running', 'paused')
               AND id NOT IN (SELECT turn_id FROM forgotten_turns) ORDER BY number""",
            (session_id,),
        )
        return [turn_id for (turn_id,) in rows]

    def _late_turn(self, turn_id: str) -> EndedTurn:
        row = self._journal.turn(turn_id)
        assert row is not None  # passed_over refers to it
        (turn,) = _turns(self._journal.events_of(turn_id), {turn_id: row.number})
        return turn


def _turns(events: Iterable[Event], numbers: Mapping[str, int]) -> list[EndedTurn]:
    """The turns in ``numbers``; a turn without a reply still has its message."""
    turns: dict[str, EndedTurn] = {}
    for event in events:
        turn_id = event.stamp.turn_id
        if isinstance(event, TurnStarted) and turn_id in numbers:
            label = CLEAN if event.mine else PIPED
            turns[turn_id] = EndedTurn(turn_id, numbers[turn_id], event.text, "", label, event.mine)
        elif isinstance(event, TurnSteered) and turn_id in numbers:
            turn = turns[turn_id]
            label = turn.label if event.mine else turn.label | PIPED
            words, mine = f"{turn.words}\n\n{event.text}", turn.mine and event.mine
            turns[turn_id] = turn._replace(words=words, label=label, mine=mine)
        elif isinstance(event, TurnFinished) and turn_id in numbers:
            label = turns[turn_id].label | event.label
            turns[turn_id] = turns[turn_id]._replace(reply=event.text, label=label)
    return list(turns.values())


def _size(turn: EndedTurn) -> int:
    return len(turn.words) + len(turn.reply)
