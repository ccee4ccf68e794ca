"""What happens in a turn, each fact as one line for the person."""

import json
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sestet.cli.show.clean import one_line
from sestet.core.event import (
    AgentNudged,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    OutcomeKind,
    ToolCalled,
    ToolFinished,
)
from sestet.core.message import ToolCall

if TYPE_CHECKING:
    from rich.console import Console

_ARGUMENT_WIDTH = 60
_TEXT_WIDTH = 200
_STYLES = {"quiet": "dim", "warning": "yellow"}

Tone: TypeAlias = Literal["quiet", "warning"]


class Line(NamedTuple):
    text: str
    tone: Tone = "quiet"


_OUTCOMES: dict[OutcomeKind, str] = {
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
    "empty_request": "was asked again: its request was empty",
    "wrong_name": "was asked again: it had named an agent that does not exist",
    "no_tools": "was asked again: it had called a tool that it does not have",
}


def progress_line(event: Event, asked: str = "") -> Line | None:
    """The line for one fact, or None when there is nothing to say. ``asked`` is what the person wrote."""
    if isinstance(event, DelegationStarted):
        # Passed on word for word, as it often is, it need not be read twice.
        request = "" if event.request.strip() == asked.strip() else event.request
        return Line(f"→ {event.agent}{_after_colon(request)}")
    if isinstance(event, DelegationFinished) and event.outcome != "ok":
        return Line(f"← {event.agent} {_OUTCOMES[event.outcome]}{_after_colon(event.cause)}", "warning")
    if isinstance(event, ToolCalled):
        return Line(f"{event.author} · {call_text(event.call)}")
    if isinstance(event, ToolFinished) and event.outcome == "error":
        return Line(f"{event.author} · {event.call.name} failed{_after_colon(event.text)}", "warning")
    if isinstance(event, ToolFinished) and event.outcome != "ok":
        how = f"was {event.outcome.replace('_', ' ')}{_after_colon(event.text)}"
        return Line(f"{event.author} · {call_text(event.call)} {how}", "warning")
    if isinstance(event, AgentNudged):
        return Line(f"{event.author} {_NUDGES[event.reason]}")
    if isinstance(event, ModelCalled) and event.calls and event.text.strip():
        return Line(f"{event.author}: {one_line(event.text, _TEXT_WIDTH)}")
    return None


def print_progress(console: "Console", event: Event, asked: str = "") -> None:
    """The line for one fact on a terminal."""
    from rich.text import Text

    if line := progress_line(event, asked):
        text = Text(f"  {line.text}", style=_STYLES[line.tone], overflow="ellipsis")
        # What went wrong is worth a second line; the rest is cut at the edge.
        console.print(text, no_wrap=line.tone == "quiet")


def call_text(call: ToolCall) -> str:
    """``fs_read path=README.md``"""
    arguments = (f"{one_line(name, 30)}={_argument(value)}" for name, value in call.arguments.items())
    return " ".join((one_line(call.name, 64), *arguments))


def _argument(value: object) -> str:
    if isinstance(value, str) and value and not any(c.isspace() or c in "\"'=" for c in value):
        return one_line(value, _ARGUMENT_WIDTH)
    return one_line(json.dumps(value, ensure_ascii=False), _ARGUMENT_WIDTH)


def _after_colon(text: str) -> str:
    text = one_line(text, _TEXT_WIDTH)
    return f": {text}" if text else ""
