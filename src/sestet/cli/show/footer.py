"""The last line of a turn: what it used, and what was changed, sent and paid, from the journal alone."""

from sestet.core.event import TurnPaused
from sestet.core.words import money
from sestet.services.turn_text import End

#: How many items of each kind are named, and how many characters of each.
_MOST_NAMED, _WIDTH = 4, 60
#: The words before the items, by the field of ``Effects``.
_WORDS = {
    "changed": "changed",
    "sent": "sent",
    "paid": "paid",
    "failed": "tried, failed",
    "in_doubt": "in doubt",
}


def usage_text(end: End) -> str:
    """``1,310 tokens · $0.0042``; empty if nobody counted any."""
    if isinstance(end, TurnPaused):
        return ""
    tokens, dollars = end.usage.input_tokens + end.usage.output_tokens, end.usage.nano_dollars / 1e9
    return " · ".join((f"{tokens:,} tokens" if tokens else "", money(dollars) if dollars else "")).strip(" ·")
