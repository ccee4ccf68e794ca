"""What model calls have used: sums for each day, kind of work, session, agent and model.

The journal adds to the sums in the transaction that writes the event of a call, so a report needs no scan of
the journal. A session that is deleted leaves its sums here, without its id.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, get_args

from sestet.core.event import ModelCalled
from sestet.core.model import Usage
from sestet.core.words import day
from sestet.storage.database import Database

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


class SpendingStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add_calls(self, calls: Iterable[ModelCalled]) -> None:
        """Inside the transaction that writes their events."""
        for call in calls:
            stamp, spent = call.stamp, _spent(call.usage, call.estimated_tokens, free=call.free)
            if spent.tokens or spent.nano_dollars:
                self._add((day(stamp.at), "turn", stamp.session_id, stamp.author, call.model), spent)

    def add_work(self, work: Work, model: str, usage: Usage, at: float, *, free: bool = False) -> None:
        """Add a call of the background work, which belongs to no session."""
        spent = _spent(usage, free=free)
        if spent.tokens or spent.nano_dollars:
            with self._database.join_transaction():
                self._add((day(at), work, "", "", model), spent)

    def _add(self, key: _Key, spent: Spent) -> None:
        """Inside a transaction. Most sums exist, and an update costs half of an insert with a conflict."""
        if not self._database.execute(_ADD, (*spent, *key)).rowcount:
            self._database.execute(_BEGIN, (*key, *spent))

    def on_day(self, wanted: str) -> Spent:
        return self.total(Period(wanted, wanted))

    def total(self, period: Period = ALL_TIME, *, background: bool = False) -> Spent:
        """The sum of everything, or of the background work alone."""
        row = self._database.execute(
            f"SELECT {_SUMS} FROM spending WHERE day BETWEEN ? AND ? AND (work <> 'turn' OR NOT ?)",  # noqa: S608 - from above
            (*period, background),
        ).only()
        return Spent(*row)

    def by(self, grouping: Grouping, period: Period = ALL_TIME) -> list[SpentBy]:
        """The sum of each group. Sessions and agents have no part in the background work: it is apart."""
        name = _GROUPS[grouping]
        work = "work" if grouping in ("session", "agent") else "'turn'"
        rows = self._database.execute(
            f"""SELECT {name}, {work}, {_SUMS} FROM spending WHERE day BETWEEN ? AND ?
               GROUP BY 1, 2 ORDER BY 1, 2""",  # noqa: S608 - from above
            tuple(period),
        )
        return [SpentBy(name, work, Spent(*sums)) for name, work, *sums in rows]

    def rows(self) -> list[SpendingRow]:
        """Everything, in the order of days."""
        rows = self._database.execute("SELECT * FROM spending ORDER BY day, work, session_id, agent, model")
        return [
            SpendingRow(day, work, session, agent, model, Spent(*sums))
            for day, work, session, agent, model, *sums in rows
        ]

    def without_price(self, period: Period = ALL_TIME) -> list[SpentBy]:
        """The models whose price was unknown, those with the most tokens first."""
        found = [each for each in self.by("model", period) if each.spent.unpriced_tokens]
        return sorted(found, key=lambda each: -each.spent.unpriced_tokens)

    def leave_session(self, session_id: str) -> None:
        """Inside the transaction that deletes the session: keep its sums without its id."""
        rows = self._database.execute(
            "DELETE FROM spending WHERE session_id = ? AND session_id <> '' RETURNING *", (session_id,)
        )
        for on, work, _, agent, model, *sums in rows:
            self._add((on, work, "", agent, model), Spent(*sums))


def _spent(usage: Usage, estimated: int = 0, *, free: bool) -> Spent:
    """One call. Estimates of a free call are left out: they are there for limits, and cost nothing."""
    estimated = 0 if free else estimated
    tokens = usage.input_tokens + usage.output_tokens + estimated
    counted = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, estimated)
    return Spent(1, *counted, 0 if free or usage.nano_dollars else tokens, usage.nano_dollars)
