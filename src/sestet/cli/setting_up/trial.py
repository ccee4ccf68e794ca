"""One real delegated turn with a model: whether it works is seen before anybody says so."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from sestet import app
from sestet.cli.setting_up.choices import Choice
from sestet.cli.show.answer import End, last_words
from sestet.cli.talk.turns import follow_turn
from sestet.config import Settings
from sestet.core.errors import PersonError
from sestet.core.event import (
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    ToolFinished,
    TurnCancelled,
    TurnFinished,
)
from sestet.core.model import Usage
from sestet.core.record import replace
from sestet.models.servers import ENOUGH_CONTEXT, Server, look_at

REQUEST = "list the files here"
#: What is there to be found, so that an answer can be told from a guess.
_FILE_NAME = "green-tea.txt"
_NEARLY = 0.75
_STOPPED = "You stopped it."
_NO_TOOLS = "choose a model that can call tools"

#: Follows a turn on the screen; the model's own text is Markdown.
Show = Callable[[Event], None]


class Trial(NamedTuple):
    """What came of it. ``problem`` is empty when the model works."""

    events: Sequence[Event] = ()
    problem: str = ""
    way_out: str = ""
    #: What the server says that the model reads, now that it is loaded.
    context: int | None = None
    #: What the person should know besides.
    warning: str = ""

    @property
    def usage(self) -> Usage:
        return sum((event.usage for event in self.events if isinstance(event, ModelCalled)), Usage())

    @property
    def model_calls(self) -> int:
        return sum(isinstance(event, ModelCalled) for event in self.events)

    @property
    def calls_no_tools(self) -> bool:
        """It answers, but not as it should."""
        return bool(self.problem and self.answer)

    @property
    def answer(self) -> str:
        return last_words(end) if self.events and isinstance(end := self.events[-1], TurnFinished) else ""

    @property
    def milliseconds(self) -> float:
        return (self.events[-1].stamp.at - self.events[0].stamp.at) * 1000 if self.events else 0.0


def try_out(settings: Settings, choice: Choice, show: Show) -> Trial:
    """Let the operator list a directory made for this: nothing of the person's is touched or sent."""
    # What goes wrong is told below, and need not be logged to the terminal as well.
    logging.getLogger("sestet").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as place:
        (Path(place) / _FILE_NAME).write_text("Two minutes at 80 degrees.\n", encoding="utf-8")
        try:
            with contextlib.chdir(place):
                events, end = asyncio.run(_run(_for_a_trial(settings), Path(home), show))
        except KeyboardInterrupt:
            # Before the turn could take it as its own.
            return Trial(problem=_STOPPED)
    if isinstance(end, TurnCancelled):
        return Trial(events, _STOPPED)
    return _judged(choice, events, end, flat=not settings.agent.multi_agent)


async def _run(settings: Settings, home: Path, show: Show) -> tuple[list[Event], End]:
    events: list[Event] = []

    def follow(event: Event) -> None:
        events.append(event)
        show(event)

    async with app.open(settings, home=home) as opened:
        opened.models.warm_up()
        return events, await follow_turn(opened, "setup", REQUEST, follow, can_ask=False)


def _for_a_trial(settings: Settings) -> Settings:
    """The same agents, tools and prompts, but no other model that helps out, and no work behind the turn."""
    return replace(
        settings,
        agent=replace(settings.agent, fallback=()),
        a2a=replace(settings.a2a, enabled=False),
        graph=replace(settings.graph, extraction="off"),
        observational_memory=replace(settings.observational_memory, observe_tokens=10**9),
    )


def _judged(choice: Choice, events: Sequence[Event], end: End, *, flat: bool) -> Trial:
    server = look_at(choice.server.root) if choice.server else None
    context = server.context_of(choice.model) if server else None
    too_small = _too_small(server, choice.model)
    problem = _problem(events, end, flat=flat)
    if not problem:
        return Trial(events, context=context, warning=too_small)
    if too_small and _is_nearly_full(events, context or 0):
        # A prompt that is cut off at its beginning explains everything else.
        return Trial(events, problem, too_small, context)
    return Trial(events, problem, _way_out(server, choice, end), context, too_small)


def _is_nearly_full(events: Sequence[Event], context: int) -> bool:
    """Whether a call filled what the model reads; a server that counts nothing may have cut it off too."""
    read = [event.usage.input_tokens for event in events if isinstance(event, ModelCalled)]
    return max(read, default=0) > context * _NEARLY or not any(read)


def _way_out(server: Server | None, choice: Choice, end: End) -> str:
    if server and server.find(choice.model) is None:
        names = ", ".join(model.name for model in server.models)
        return f"{server.kind.name} has {names}" if names else f"give {server.kind.name} a model first"
    if _failed(end):
        return ""
    return server.kind.tool_calls if server else _NO_TOOLS


def _failed(end: End) -> bool:
    return not isinstance(end, TurnFinished)


def _problem(events: Sequence[Event], end: End, *, flat: bool) -> str:
    """Why it does not work; empty: a specialist was asked, and found the file."""
    delegated = flat or any(isinstance(event, DelegationStarted) for event in events)
    found = any(
        isinstance(event, ToolFinished) and event.outcome == "ok" and _FILE_NAME in event.text
        for event in events
    )
    if delegated and found and isinstance(end, TurnFinished):
        return ""
    if _failed(end):
        cause = last_words(end).removeprefix("I could not answer: ")
        return cause[:1].upper() + cause[1:]
    causes = [event.cause for event in events if isinstance(event, DelegationFinished) and event.cause]
    if causes:
        return f"The specialist could not do it: {causes[-1]}"
    if not delegated:
        return "It answered by itself instead of asking a specialist: it does not call tools."
    return "The specialist answered without looking: it does not call tools."


def _too_small(server: Server | None, model: str) -> str:
    if server is None or not server.lacks_context(model):
        return ""
    reads = f"it reads only {server.context_of(model):,} tokens at a time"
    return f"{reads}, and work with tools needs {ENOUGH_CONTEXT:,}: {server.more_context(model)}"


def refuse(error: PersonError) -> Trial:
    """The same for settings with which no turn can be run."""
    return Trial(problem=str(error), way_out="set what this names, or choose another model")
