"""What specialists found, where the answer of the turn does not repeat it."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from sestet.core.clean import clean
from sestet.core.event import DelegationFinished, DelegationStarted, Event, TurnFinished
from sestet.services.turn_text import is_finding

#: The lines of a text that a turn shows while it runs; the history shows all of them.
_MOST_LINES = 12
_INDENT = 4


class LiveFindings:
    """The findings of a running turn. Those that may become the answer are held back until that is clear."""

    def __init__(self) -> None:
        #: Delegations whose text goes to the orchestrator, and not to the person.
        self._reported: set[str] = set()
        self._held: list[DelegationFinished] = []

    def before(self, event: Event) -> Iterator[DelegationFinished]:
        """The findings to show before what follows from this event."""
        if isinstance(event, DelegationStarted) and not event.reply:
            self._reported.add(event.delegation_id)
        if is_finding(event):
            if event.delegation_id in self._reported:
                yield event
            else:
                self._held.append(event)
        elif not event.delegation_id:
            # The orchestrator goes on with the findings, unless the turn ends: then they are the answer.
            held, self._held = self._held, []
            if not isinstance(event, TurnFinished):
                yield from held


def print_finding(console: Console, found: DelegationFinished, *, whole: bool = True) -> None:
    """A specialist's text, set back behind the answer of the turn."""
    lines = Text(clean(found.text).strip("\n")).wrap(console, max(1, console.width - _INDENT))
    left = 0 if whole else len(lines) - _MOST_LINES
    shown = [line.plain for line in (lines[:_MOST_LINES] if left > 1 else lines)]
    if left > 1:
        shown.append(f"… {left} more lines: /history shows them")
    console.print(Padding(Text(f"← {clean(found.agent)} answered:", style="dim"), (0, 0, 0, 2), expand=False))
    console.print(Padding(Text("\n".join(shown), style="dim"), (0, 0, 0, _INDENT), expand=False))
