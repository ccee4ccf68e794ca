"""The progress of a turn: each event as one line for the person."""

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, assert_never

from sestet.cli.show.diff import diff_lines
from sestet.core.clean import one_line, reveal
from sestet.core.event import (
    AgentNudged,
    ApprovalDecided,
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    MemoryRecalled,
    ModelCalled,
    ModelRetried,
    OutcomeKind,
    OutputStreamed,
    PriceUnknown,
    RequestRouted,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
    TurnPaused,
    TurnResumed,
    TurnStarted,
    TurnSteered,
)
from sestet.core.words import duration
from sestet.runtime.reply_text import rejection
from sestet.services.turn_text import call_text, in_doubt_text, refusal_text

if TYPE_CHECKING:
    from rich.console import Console

_ARGUMENT_WIDTH = 60
_TEXT_WIDTH = 200
#: Of a change that nobody was asked about.
_MOST_DIFF_LINES = 12

Tone: TypeAlias = Literal["quiet", "warning", "alarm"]

_STYLES: dict[Tone, str] = {"quiet": "dim", "warning": "yellow", "alarm": "bold red"}


class Line(NamedTuple):
    text: str
    tone: Tone = "quiet"


_OUTCOMES: dict[OutcomeKind, str] = {
    "ok": "answered",
    "rejected": "declined",
    "failed": "failed",
    "timeout": "took too long",
    "over_budget": "ran into a limit",
    "loop": "went in circles",
    "empty": "gave no answer",
    "cancelled": "was stopped",
    "paused": "is waiting",
}
_NUDGES = {
    "silence": "was asked again: it had said nothing",
    "announced": "was asked again: it had announced something and not done it",
}
_SCOPES = {"once": "once", "session": "for this session", "always": "always"}


def progress_line(event: Event, asked: str = "") -> Line | None:
    """The line for one event, or None when it needs none. ``asked`` is the message of the person."""
    match event:
        case DelegationStarted():
            # A request that repeats the person's message word for word is left out.
            request = "" if event.request.strip() == asked.strip() else event.request
            return Line(f"→ {event.agent}{_after_colon(request)}")
        case DelegationFinished(outcome="ok" | "paused"):
            return None
        case DelegationFinished():
            cause = _after_colon(event.for_person or event.cause)
            return Line(f"← {event.agent} {_OUTCOMES[event.outcome]}{cause}", "warning")
        case ToolCalled():
            return Line(f"{event.author} · {call_text(event.call)}")
        case ToolFinished():
            return _finished_line(event)
        case ApprovalRequested():
            what = f"{event.author} · {call_text(event.call)}"
            return Line(f"{what} waits for your decision{_after_colon(reveal(event.reason))}", "warning")
        case ApprovalDecided():
            approved = f"approved, {_SCOPES[event.scope]}" if event.decision == "approve" else "denied"
            return Line(f"you {approved}")
        case AgentNudged():
            return Line(f"{event.author} {_NUDGES[event.reason]}")
        case ModelCalled() if event.calls_left_out:
            number = len(event.calls) + event.calls_left_out
            what = f"asked for {number:,} calls in one reply; {event.calls_left_out:,} of them were left out"
            return Line(f"{event.author} {what}", "warning")
        case ModelCalled():
            may_show = event.calls and rejection(event.text) is None
            said = one_line(event.text, _TEXT_WIDTH) if may_show else ""
            return Line(f"{event.author}: {said}") if said else None
        case TurnSteered():
            return Line(
                f"you added{_after_colon(event.text)}" if event.mine else f"added{_after_colon(event.text)}"
            )
        case MemoryRecalled():
            return Line(f"recalled {', '.join(event.ids)}")
        case RequestRouted():
            return Line(f"routed by code, {event.confidence:.0%} sure")
        case PriceUnknown():
            verb = "does" if len(event.limits) == 1 else "do"
            what = f"{' and '.join(event.limits)} {verb} not hold for {event.model}: its price is unknown"
            return Line(f"{what}; limits.tokens holds for every model", "warning")
        case ModelRetried():
            return Line(f"{event.author} {_next_call(event)}{_after_colon(event.text)}", "warning")
        case TurnResumed():
            return Line("the turn goes on")
        case TextStreamed() | OutputStreamed():
            return None
        case TurnStarted() | TurnFinished() | TurnFailed() | TurnCancelled() | TurnPaused():
            return None
        case _:
            assert_never(event)


def _next_call(event: ModelRetried) -> str:
    if event.next_model != event.model:
        return f"asks {event.next_model} instead of {event.model}"
    return f"asks {event.model} again" + (f" in {duration(round(event.wait))}" if event.wait >= 1 else "")


def _finished_line(event: ToolFinished) -> Line | None:
    match event.outcome:
        case "ok":
            return None
        case "error":
            why = _after_colon(event.for_person or event.text)
            return Line(f"{event.author} · {event.call.name} failed{why}", "warning")
        case "refused" | "denied":
            return Line(f"{event.author} · {call_text(event.call)} · {refusal_text(event)}", "warning")
        case "in_doubt":
            return Line(in_doubt_text(event), "alarm")
        case _:
            assert_never(event.outcome)


def print_progress(console: "Console", event: Event, asked: str = "") -> None:
    """Print the line for one event on a terminal."""
    from rich.padding import Padding
    from rich.text import Text

    if line := progress_line(event, asked):
        text = Text(line.text, style=_STYLES[line.tone], overflow="ellipsis")
        # A warning may wrap; a quiet line is cut at the edge.
        console.print(Padding(text, (0, 0, 0, 2), expand=False), no_wrap=line.tone == "quiet")
    if isinstance(event, ToolCalled) and event.changes:
        for shown in diff_lines(event.changes, _MOST_DIFF_LINES):
            console.print(Text(f"    {shown.text}", style=shown.style), no_wrap=True, overflow="ellipsis")


def _after_colon(text: str) -> str:
    text = one_line(text, _TEXT_WIDTH)
    return f": {text}" if text else ""
