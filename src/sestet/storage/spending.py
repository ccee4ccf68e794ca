"""What model calls have used: sums for each day, kind of work, session, agent and model.

The sums contain the calls of the journal up to a mark. The journal moves the mark once in many calls, so a
turn pays little for the sums, and a report reads only the few events after the mark. A deleted session leaves
its sums here, without its id.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.event import ModelCalled
from sestet.core.message import whole
from sestet.core.model import Usage
from sestet.core.record import DecodeError, Record, ValidationError, convert, from_json
from sestet.core.words import day
from sestet.storage.database import Database, Rows

#: A call of an agent in a turn, or one of the kinds of background work.
Work: TypeAlias = Literal["turn", "observe", "reflect", "extract", "embed"]
Grouping: TypeAlias = Literal["session", "agent", "model", "day", "month"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)

_ADD = """UPDATE spending SET calls = calls + ?, input_tokens = input_tokens + ?,
        output_tokens = output_tokens + ?, cached_tokens = cached_tokens + ?,
        estimated_tokens = estimated_tokens + ?, unpriced_tokens = unpriced_tokens + ?,
        nano_dollars = nano_dollars + ?
    WHERE day = ? AND work = ? AND session_id = ? AND agent = ? AND model = ?"""
_BEGIN = "INSERT INTO spending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SUMS = """coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cached_tokens), 0), coalesce(sum(estimated_tokens), 0), coalesce(sum(unpriced_tokens), 0),
    coalesce(sum(nano_dollars), 0)"""
#: How many calls of one process are added at once.
_CALLS_AT_ONCE = 100
#: More than all calls use.
_MOST_USED = 2**53
#: Events are read in the order of their ids; another order would read the whole journal.
_NEW_CALLS = f"""SELECT events.id, session_id, author, at, data
    FROM events CROSS JOIN turns ON turns.id = turn_id
    WHERE events.id > coalesce((SELECT event_id FROM spending_mark), 0) AND kind = '{ModelCalled.kind}'
    ORDER BY events.id"""  # noqa: S608 - a kind of event
_COLUMNS = """day, work, session_id, agent, model, calls, input_tokens, output_tokens, cached_tokens,
    estimated_tokens, unpriced_tokens, nano_dollars"""
#: The sums with further ones, which come as a list of lists in JSON.
_SPENT = f"""WITH spent ({_COLUMNS}) AS (SELECT {_COLUMNS} FROM spending UNION ALL
    SELECT {", ".join(f"json_extract(value, '$[{n}]')" for n in range(_COLUMNS.count(",") + 1))}
    FROM json_each(?))"""  # noqa: S608 - from above
#: Day, work, session, agent, model.
_Key: TypeAlias = tuple[str, Work, str, str, str]
#: The columns that make a group. SQL takes no column as a parameter.
_GROUPS: dict[Grouping, str] = {
    "session": "session_id",
    "agent": "agent",
    "model": "model",
    "day": "day",
    "month": "substr(day, 1, 7)",
}


class Spent(NamedTuple):
    """A sum over model calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    #: The part of the input tokens that a vendor had cached.
    cached_tokens: int = 0
    #: For calls whose tokens nobody counted.
    estimated_tokens: int = 0
    #: Tokens of calls whose price is unknown: the dollars do not contain them.
    unpriced_tokens: int = 0
    nano_dollars: int = 0

    @property
    def dollars(self) -> float:
        return self.nano_dollars / 1e9

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self.estimated_tokens


class SpentBy(NamedTuple):
    """The sum of one group; ``name`` is a session, an agent, a model, a day or a month."""

    name: str
    work: Work
    spent: Spent


class SpendingRow(NamedTuple):
    """The sum of one day, kind of work, session, agent and model."""

    day: str
    work: Work
    session: str
    agent: str
    model: str
    spent: Spent


class Period(NamedTuple):
    """Days as ``2026-05-31``, both included."""

    since: str
    until: str


ALL_TIME = Period("", "9999-12-31")


class _Call(Record):
    """The fields of ``ModelCalled`` that cost something."""

    model: str
    usage: Usage
    estimated_tokens: int = 0
    free: bool = False

    @property
    def estimate(self) -> int:
        """Estimates of a free call are left out: they are there for limits, and cost nothing."""
        return 0 if self.free else self.estimated_tokens

    @property
    def tokens(self) -> int:
        return self.usage.input_tokens + self.usage.output_tokens + self.estimate


class _NewCalls(NamedTuple):
    sums: dict[_Key, Spent]
    #: The id of the last event, for the mark; 0: there is none.
    last: int


class SpendingStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._until_sums = 0

    def on_called(self, calls: int) -> None:
        """Inside the transaction that writes the events of some calls: add them up now and then.

        The first call of a process adds those that earlier processes have left.
        """
        self._until_sums -= calls
        if self._until_sums < 0:
            self._until_sums = _CALLS_AT_ONCE
            self._add_new_calls()

    def add_work(self, work: Work, model: str, usage: Usage, at: float, *, free: bool = False) -> None:
        """Add a call of the background work, which belongs to no session."""
        call = _Call(model, usage, free=free)
        if call.tokens or usage.nano_dollars:
            with self._database.join_transaction():
                self._add((day(at), work, "", "", model), _sum([call]))

    def _add_new_calls(self) -> None:
        """Inside a transaction."""
        new = self._new_calls()
        for key, spent in new.sums.items():
            self._add(key, spent)
        if new.last:
            self._database.execute("INSERT OR REPLACE INTO spending_mark VALUES (1, ?)", (new.last,))

    def _new_calls(self) -> _NewCalls:
        """The calls after the mark, as sums. A damaged event is left out, so that the others count."""
        calls: dict[_Key, list[_Call]] = {}
        last = 0
        for event_id, session_id, agent, at, data in self._database.execute(_NEW_CALLS):
            last, call = event_id, _call_in(data)
            if call is not None and (call.tokens or call.usage.nano_dollars):
                calls.setdefault((day(at), "turn", session_id, agent, whole(call.model)), []).append(call)
        return _NewCalls({key: _sum(each) for key, each in calls.items()}, last)

    def _add(self, key: _Key, spent: Spent) -> None:
        """Inside a transaction. Most sums exist, and an update costs half of an insert with a conflict."""
        if not self._database.execute(_ADD, (*spent, *key)).rowcount:
            self._database.execute(_BEGIN, (*key, *spent))

    def on_day(self, wanted: str) -> Spent:
        return self.total(Period(wanted, wanted))

    def total(self, period: Period = ALL_TIME, *, background: bool = False) -> Spent:
        """The sum of everything, or of the background work alone."""
        row = self._read(
            f"SELECT {_SUMS} FROM spent WHERE day BETWEEN ? AND ? AND (work <> 'turn' OR NOT ?)",  # noqa: S608 - from above
            (*period, background),
        ).only()
        return Spent(*row)

    def by(self, grouping: Grouping, period: Period = ALL_TIME) -> list[SpentBy]:
        """The sum of each group. Sessions and agents have no part in the background work: it is apart."""
        name = _GROUPS[grouping]
        work = "work" if grouping in ("session", "agent") else "'turn'"
        rows = self._read(
            f"""SELECT {name}, {work}, {_SUMS} FROM spent WHERE day BETWEEN ? AND ?
               GROUP BY 1, 2 ORDER BY 1, 2""",  # noqa: S608 - from above
            tuple(period),
        )
        return [SpentBy(name, work, Spent(*sums)) for name, work, *sums in rows]

    def rows(self) -> list[SpendingRow]:
        """Everything, in the order of days."""
        key = "day, work, session_id, agent, model"
        rows = self._read(f"SELECT {key}, {_SUMS} FROM spent GROUP BY {key} ORDER BY {key}")  # noqa: S608 - from above
        return [
            SpendingRow(day, work, session, agent, model, Spent(*sums))
            for day, work, session, agent, model, *sums in rows
        ]

    def _read(self, query: str, values: Sequence[str | bool] = ()) -> Rows:
        """Run a query on ``spent``: the sums with the calls that are not added yet. Nothing is written."""
        with self._database.snapshot():
            new = json.dumps([(*key, *spent) for key, spent in self._new_calls().sums.items()])
            return self._database.execute(f"{_SPENT} {query}", (new, *values))

    def without_price(self, period: Period = ALL_TIME) -> list[SpentBy]:
        """The models whose price was unknown, those with the most tokens first."""
        found = [each for each in self.by("model", period) if each.spent.unpriced_tokens]
        return sorted(found, key=lambda each: -each.spent.unpriced_tokens)

    def leave_session(self, session_id: str) -> None:
        """Inside the transaction that deletes the session, before that: keep its sums without its id."""
        self._add_new_calls()
        rows = self._database.execute(
            "DELETE FROM spending WHERE session_id = ? AND session_id <> '' RETURNING *", (session_id,)
        )
        for on, work, _, agent, model, *sums in rows:
            self._add((on, work, "", agent, model), Spent(*sums))


def _call_in(data: str) -> _Call | None:
    try:
        return from_json(data, type=_Call)
    except (DecodeError, UnicodeError):
        # NaN and half characters in a model's arguments: only this reader accepts them.
        with suppress(ValueError, RecursionError, ValidationError):
            return convert(json.loads(data), _Call)
    return None


def _sum(calls: Sequence[_Call]) -> Spent:
    used = [call.usage for call in calls]
    sums = (
        sum(each.input_tokens for each in used),
        sum(each.output_tokens for each in used),
        sum(each.cached_tokens for each in used),
        sum(call.estimate for call in calls),
        sum(call.tokens for call in calls if not (call.free or call.usage.nano_dollars)),
        sum(each.nano_dollars for each in used),
    )
    # One wrong number must not keep a table of whole numbers from being written.
    return Spent(len(calls), *(min(max(each, 0), _MOST_USED) for each in sums))
