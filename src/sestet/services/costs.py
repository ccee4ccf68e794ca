"""A report of what was spent: sums by session, agent, model, day or month, with names for people."""

import time
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cached_property
from typing import Literal, TypeAlias

from sestet.config import Settings
from sestet.config.settings import BackgroundSettings
from sestet.core.record import Record
from sestet.core.words import day
from sestet.services.background_budget import BackgroundBudget
from sestet.storage.journal import Journal
from sestet.storage.spending import (
    ALL_TIME,
    GROUPINGS,
    Grouping,
    Period,
    SpendingRow,
    SpendingStore,
    Spent,
    SpentBy,
    Work,
)

__all__ = [
    "ALL_TIME",
    "GROUPINGS",
    "Costs",
    "CostsReport",
    "CostsRow",
    "Grouping",
    "Period",
    "SpendingRow",
    "Spent",
]

#: What a row is about: something with a name, sessions that were deleted, or work between turns.
RowKind: TypeAlias = Literal["named", "deleted", "background"]

_ALL = 1_000_000
_BACKGROUND: dict[Work, str] = {
    "observe": "observing",
    "reflect": "reflecting",
    "extract": "reading for facts",
    "embed": "embedding",
}


class CostsRow(Record):
    name: str
    kind: RowKind
    spent: Spent
    #: Of a session.
    title: str = ""


class CostsReport(Record):
    by: Grouping
    period: Period
    #: Days and months in their order; else the dearest first.
    rows: tuple[CostsRow, ...]
    total: Spent
    #: The part of the total that no turn used.
    background: Spent
    #: Models whose price was unknown: their tokens are in no sum of dollars.
    without_price: tuple[SpentBy, ...]


class Costs:
    """Reads sums, and of the journal only the latest calls, so it is quick with years of data."""

    def __init__(self, spending: SpendingStore, journal: Journal) -> None:
        self._spending = spending
        self._journal = journal

    def report(self, by: Grouping, period: Period) -> CostsReport:
        rows = list(self._rows(by, self._spending.by(by, period)))
        if by not in ("day", "month"):
            rows.sort(key=lambda row: (-row.spent.nano_dollars, -row.spent.tokens, row.name))
        return CostsReport(
            by,
            period,
            tuple(rows),
            self._spending.total(period),
            self._spending.total(period, background=True),
            tuple(self._spending.without_price(period)),
        )

    def rows(self) -> list[SpendingRow]:
        """Every sum that is kept."""
        return self._spending.rows()

    def today(self) -> Spent:
        return self._spending.on_day(day(time.time()))

    def this_month(self) -> Spent:
        month = day(time.time())[:7]
        return self._spending.total(Period(f"{month}-01", f"{month}-31"))

    def background_today(self, settings: BackgroundSettings) -> str:
        """What work between turns has used today, and of how much."""
        budget = BackgroundBudget(self._spending, settings)
        return budget.describe(budget.used_today())

    def in_all(self) -> Spent:
        return self._spending.total()

    def _rows(self, by: Grouping, sums: Iterable[SpentBy]) -> Iterable[CostsRow]:
        background = Spent()
        for name, work, spent in sums:
            if work == "turn":
                yield self._named(by, name, spent)
            elif by == "agent":
                yield CostsRow(_BACKGROUND[work], "background", spent)
            else:
                background = Spent(*map(sum, zip(background, spent, strict=True)))
        if background.calls:
            yield CostsRow("background work", "background", background)

    def _named(self, by: Grouping, name: str, spent: Spent) -> CostsRow:
        if by == "session":
            return (
                CostsRow(name, "named", spent, self._titles.get(name, ""))
                if name
                else CostsRow("deleted sessions", "deleted", spent)
            )
        return CostsRow(name, "named", spent)

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {row.id: row.title for row in self._journal.sessions(_ALL)}


def describe_costs(report: CostsReport, today: Spent, settings: Settings) -> dict[str, object]:
    """The whole report as JSON."""
    since, until = report.period
    limit, background = settings.limits.dollars_per_day, settings.background
    return {
        "by": report.by,
        "since": since or None,
        "until": None if until == ALL_TIME.until else until,
        "rows": [
            {"name": row.name, "kind": row.kind, "title": row.title, **_described(row.spent)}
            for row in report.rows
        ],
        "total": _described(report.total),
        "background": _described(report.background),
        "price_unknown": [
            {"model": each.name, "tokens": each.spent.unpriced_tokens} for each in report.without_price
        ],
        "today": {**_described(today), "limit_dollars": limit or None},
        "background_limits": {
            "tokens_per_day": background.tokens_per_day or None,
            "dollars_per_day": background.dollars_per_day or None,
        },
    }


def _described(spent: Spent) -> dict[str, object]:
    return {**spent._asdict(), "dollars": spent.dollars}


def last_days(days: int) -> Period:
    """The last days, with today."""
    today = date.fromisoformat(day(time.time()))
    try:
        first = (today - timedelta(days=days - 1)).isoformat()
    except OverflowError:
        first = ALL_TIME.since
    return Period(first, today.isoformat())
