"""The tokens and dollars that work between turns may use in one day."""

import time

from sestet.config.settings import BackgroundSettings
from sestet.core.words import day
from sestet.storage.spending import Period, SpendingStore, Spent


class BackgroundBudget:
    """Counts all processes on this database. A call that has begun is never cut off."""

    def __init__(self, spending: SpendingStore, settings: BackgroundSettings) -> None:
        self._spending = spending
        self._settings = settings

    def used_today(self) -> Spent:
        today = day(time.time())
        return self._spending.total(Period(today, today), background=True)

    def has_room(self) -> bool:
        """Whether the work may ask a model again today."""
        return not self.problem(self.used_today())

    def problem(self, used: Spent) -> str:
        """Which limit is reached; empty if none is."""
        tokens, dollars = self._settings.tokens_per_day, self._settings.dollars_per_day
        if tokens and used.tokens >= tokens:
            return f"background.tokensPerDay ({tokens:,}) is reached"
        if dollars and used.dollars >= dollars:
            return f"background.dollarsPerDay (${dollars:,.2f}) is reached"
        return ""

    def describe(self, used: Spent) -> str:
        """What was used today, and of how much."""
        tokens, dollars = self._settings.tokens_per_day, self._settings.dollars_per_day
        of_tokens = f" of {tokens:,}" if tokens else ""
        of_dollars = f" of ${dollars:,.2f}" if dollars else ""
        return f"{used.tokens:,}{of_tokens} tokens, ${used.dollars:,.4f}{of_dollars}"
