"""One turn on a terminal while it happens: agents at work, their calls, and the text as it is streamed."""

import time
from threading import Event as Signal
from threading import RLock, Thread
from types import TracebackType

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from sestet.cli.show.answer import print_end
from sestet.cli.show.findings import LiveFindings, print_finding
from sestet.cli.show.history import print_doubts
from sestet.cli.show.progress import print_progress
from sestet.core.clean import clean
from sestet.core.event import (
    END_OF_TURN,
    ApprovalDecided,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    OutputStreamed,
    TextStreamed,
    ToolCalled,
    TurnPaused,
    TurnStarted,
)
from sestet.core.words import duration
from sestet.services.turn_text import is_in_doubt

_REFRESHES = 10
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
#: Lines of the terminal that the streamed text leaves free.
_SPARE_LINES = 4
#: How many lines of a command's output are shown while it runs.
_OUTPUT_LINES = 6
#: Enough to fill any terminal: only the end of a long text is wrapped again at each refresh.
_TAIL = 8_000


class TurnView:
    """Prints the lines that stay, and below them a region that shows the present state until the turn ends.

    The answer is printed once, when it is whole; the region that streamed it is gone by then.
    """

    def __init__(self, console: Console, root: str, *, markdown: bool, findings: bool = True) -> None:
        """``findings``: show what a specialist found also if it is not the answer."""
        self._console = console
        self._root = root
        self._markdown = markdown
        self._asked = ""
        self._findings = LiveFindings() if findings else None
        self._region = _Region(root)
        self._live = _LiveRegion(self._region, console)
        #: Agents at work, by delegation.
        self._at_work: dict[str, str] = {}
        #: Pieces of the replies that are still coming, by delegation.
        self._coming: dict[str, list[str]] = {}
        self._doubts: list[Event] = []

    def __enter__(self) -> "TurnView":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, event: Event) -> None:
        """Bring the screen up to date with one more event."""
        with self._live.lock:
            self._show(event)

    def _show(self, event: Event) -> None:
        for found in self._findings.before(event) if self._findings else ():
            # The region has shown the same text while it was streamed.
            self._region.pieces = []
            print_finding(self._console, found, whole=False)
        if isinstance(event, TurnStarted):
            self._asked = event.text
        elif isinstance(event, TurnPaused):
            # The questions that follow say what the turn waits for.
            self._live.stop()
            self._console.print()
        elif isinstance(event, END_OF_TURN):
            self._live.stop()
            print_end(self._console, event, markdown=self._markdown, unfinished=self._region.text)
            print_doubts(self._console, self._doubts)
            self._console.print()
        else:
            print_progress(self._console, event, self._asked)
            self._follow(event)

    def _follow(self, event: Event) -> None:
        place = event.delegation_id
        if is_in_doubt(event):
            self._doubts.append(event)
        if place and not isinstance(event, DelegationStarted | DelegationFinished | ApprovalDecided):
            # A resumed turn does not repeat the events that started its delegations.
            self._at_work.setdefault(place, event.author)
        if isinstance(event, OutputStreamed):
            if len(self._at_work) < 2:
                self._region.output = (self._region.output + event.text)[-_TAIL:]
            return
        if isinstance(event, TextStreamed):
            pieces = self._coming.setdefault(place, [])
            pieces.append(event.text)
            # Two texts at once cannot be read, so only the names of their agents are shown.
            if len(self._at_work) < 2:
                self._region.pieces = pieces
            return
        if isinstance(event, ModelCalled):
            # Its text stays on the screen until something follows, so that an answer does not flicker.
            self._coming.pop(place, None)
            return
        self._region.pieces, self._region.output = [], ""
        if isinstance(event, DelegationStarted):
            self._at_work[place] = event.agent
        elif isinstance(event, DelegationFinished):
            self._at_work.pop(place, None)
        self._region.status = ", ".join(self._at_work.values()) or self._root
        if isinstance(event, ToolCalled):
            self._region.status += f" · {event.call.name}"


class _LiveRegion:
    """Draws the region again and again, but never while a line that stays is printed.

    Rich's own thread would draw between the two halves of a print: the look at what to erase, and the
    writing. The spinner then remained before the printed line.
    """

    def __init__(self, region: "_Region", console: Console) -> None:
        #: Held by everybody who prints.
        self.lock = RLock()
        self._live = Live(region, console=console, auto_refresh=False, transient=True)
        self._stopped = Signal()
        self._thread = Thread(target=self._refresh, daemon=True)

    def start(self) -> None:
        with self.lock:
            self._live.start()
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        with self.lock:
            self._live.stop()

    def _refresh(self) -> None:
        while not self._stopped.wait(1 / _REFRESHES):
            with self.lock:
                if self._live.is_started:
                    self._live.refresh()


class _Region:
    """The region below. A refreshing thread draws it, so a value is replaced whole or only added to."""

    def __init__(self, status: str) -> None:
        self.status = status
        self.pieces: list[str] = []
        #: What a running command has printed.
        self.output = ""
        self._started = time.monotonic()

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(clean(self.text[-_TAIL:]).strip("\n"))
        if text:
            yield Text()
            lines = text.wrap(console, options.max_width)
            yield from lines[-max(1, options.size.height - _SPARE_LINES) :]
            yield Text()
        for line in clean(self.output).strip("\n").split("\n")[-_OUTPUT_LINES:] if self.output else ():
            yield Text(f"    {line}", style="dim", no_wrap=True, overflow="ellipsis")
        seconds = int(time.monotonic() - self._started)
        status = f" {clean(self.status)} · {duration(seconds)}" if seconds else f" {clean(self.status)}"
        yield Text.assemble("  ", (self._frame(), "cyan"), (status, "dim"), no_wrap=True, overflow="ellipsis")

    def _frame(self) -> str:
        return FRAMES[int(time.monotonic() * _REFRESHES) % len(FRAMES)]
