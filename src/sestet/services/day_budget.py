"""The limit of dollars for one day: what is spent of it, and whether another model call is allowed."""

import time

from sestet.core.errors import LimitError
from sestet.core.words import day
from sestet.storage.spending import SpendingStore

#: The part of the limit from which on the person is warned.
_NEAR = 0.8


class DayBudget:
    """Counts every call on this database, of all processes and of the background work.

    The sums are read before each call. A call that runs is never cut off, so a day may end above the limit by
    as many calls as run at that moment.
    """

    def __init__(self, spending: SpendingStore, dollars: float) -> None:
        self._spending = spending
        self._dollars = dollars
        self._warned_on = ""

    def require(self) -> None:
        """Raise ``LimitError`` if today's dollars are used up."""
        if (spent := self._spent_on(day(time.time()))) >= self._dollars:
            raise LimitError(
                f"the limit of ${self._dollars:,.2f} a day (limits.dollarsPerDay) is reached: "
                f"${spent:,.2f} were spent today. Go on tomorrow, or raise the limit in the settings; "
                "'sestet costs' shows what was spent"
            )

    def warning(self) -> str:
        """A line for the person, once a day, when most of the limit is spent; else empty."""
        today = day(time.time())
        spent = self._spent_on(today)
        if today == self._warned_on or spent < _NEAR * self._dollars:
            return ""
        self._warned_on = today
        return (
            f"${spent:,.2f} of the ${self._dollars:,.2f} for today are spent (limits.dollarsPerDay); "
            "'sestet costs' shows on what"
        )

    def _spent_on(self, wanted: str) -> float:
        return self._spending.on_day(wanted).dollars
