"""The last line of a turn: what it used, and what was changed, sent and paid, from the journal alone."""

from sestet.cli.show.clean import one_line, reveal
from sestet.cli.show.turn_summary import End
from sestet.core.event import TurnFinished, TurnPaused
from sestet.core.words import money

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


def effects_text(end: End) -> str:
    """``changed: notes.txt · sent: bob@example.org``; empty if an earlier version recorded the turn."""
    if end.effects is None:
        return ""
    told = [
        f"{word}: {_named(items)}" for field, word in _WORDS.items() if (items := getattr(end.effects, field))
    ]
    line = " · ".join(told) or "changed: nothing"
    return f"so far {line}" if isinstance(end, TurnPaused) else line


def usage_text(end: End) -> str:
    """``1,310 tokens · $0.0042``; empty if nobody counted any."""
    if isinstance(end, TurnPaused):
        return ""
    tokens, dollars = end.usage.input_tokens + end.usage.output_tokens, end.usage.nano_dollars / 1e9
    return " · ".join((f"{tokens:,} tokens" if tokens else "", money(dollars) if dollars else "")).strip(" ·")


def _named(items: tuple[str, ...]) -> str:
    shown = ", ".join(one_line(reveal(item), _WIDTH) for item in items[:_MOST_NAMED])
    more = len(items) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def claim_warning(end: End) -> str:
    """The warning about an answer that claims an effect which the journal does not have; else empty."""
    if not isinstance(end, TurnFinished) or not end.unsupported:
        return ""
    kinds = " and ".join(end.unsupported)
    return f"⚠ The answer says that something was {kinds}. In this turn nothing was."
