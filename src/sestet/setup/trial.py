"""Tries a model in one real delegated turn, and writes it into the settings when it works."""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sestet import app
from sestet.config import Loaded, Settings, load_settings
from sestet.config.edit import Changes, edit_settings, edited, file_to_edit
from sestet.core.errors import ConfigError, PersonError
from sestet.core.event import (
    END_OF_TURN,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    ToolFinished,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from sestet.core.model import Usage
from sestet.core.record import replace
from sestet.core.words import ended
from sestet.models.choice import check_models
from sestet.models.model_list import list_models
from sestet.models.provider import Endpoint
from sestet.models.servers import ENOUGH_CONTEXT, Server, look_at
from sestet.setup.choices import Choice, is_in_force

REQUEST = "list the files here"
SESSION = "setup"
#: The only file in the directory that is listed: an answer that has it is no guess.
_FILE_NAME = "green-tea.txt"
#: A prompt that fills this share of the context may have been cut off.
_NEARLY = 0.75
_NO_TOOLS = "choose a model that can call tools"
#: More tokens than any session has: nothing is observed.
_QUIET = 10**9
_IN_TEXT = (
    "It answered, but did not list the files. Once more, with calls in text, as small models can make them."
)

#: Runs the turn of a trial and returns its events; a caller may show them, or stop the turn at Ctrl-C.
RunTurn: TypeAlias = Callable[[app.App], Awaitable[Sequence[Event]]]


class Trial(NamedTuple):
    """The result of a trial. ``problem`` is empty when the model works."""

    events: Sequence[Event] = ()
    problem: str = ""
    way_out: str = ""
    #: How many tokens the model reads, as its server says once it is loaded.
    context: int | None = None
    #: What the person should know besides.
    warning: str = ""
    stopped: bool = False
    #: Whether the settings were changed. The built-in model, which answers already, needs none.
    written: bool = False

    @property
    def verdict(self) -> str:
        """The problem for the person. A turn that they stopped says nothing about the model."""
        return self.problem if self.stopped else f"It does not work. {self.problem}"

    @property
    def usage(self) -> Usage:
        return sum((event.usage for event in self.events if isinstance(event, ModelCalled)), Usage())

    @property
    def model_calls(self) -> int:
        return sum(isinstance(event, ModelCalled) for event in self.events)

    @property
    def delegations(self) -> list[str]:
        """The specialists that were asked."""
        return [event.agent for event in self.events if isinstance(event, DelegationStarted)]

    @property
    def tools(self) -> list[str]:
        """The tools that were called."""
        return [event.call.name for event in self.events if isinstance(event, ToolFinished)]

    @property
    def only_answers(self) -> bool:
        """It answers, but not by calling the right tools."""
        return bool(self.problem and self.answer)

    @property
    def answer(self) -> str:
        return end.text if self.events and isinstance(end := self.events[-1], TurnFinished) else ""

    @property
    def milliseconds(self) -> float:
        return (self.events[-1].stamp.at - self.events[0].stamp.at) * 1000 if self.events else 0.0


STOPPED = Trial(problem="You stopped it.", stopped=True)


async def run_quietly(opened: app.App) -> list[Event]:
    """Run the turn of a trial and show nothing."""
    return [event async for event in opened.run_turn(SESSION, REQUEST, can_ask=False)]


def attempt_both_ways(
    choice: Choice, try_it: Callable[[Choice], Trial], tell: Callable[[str], None]
) -> tuple[Choice, Trial]:
    """Try a choice as it is; when the model only answers, once more with calls in text."""
    trial = try_it(choice)
    if trial.only_answers and choice.can_call_in_text:
        tell(_IN_TEXT)
        again = try_it(choice.in_text())
        if not again.problem:
            return choice.in_text(), again
    return choice, trial


async def attempt(file: Path, choice: Choice, run_turn: RunTurn = run_quietly) -> Trial:
    """Try a choice with the settings as they would be, and write them only when it works."""
    changes = choice.changes()
    if not choice.model and not _model_is_set(file):
        del changes["agent", "model"]
    try:
        loaded = settings_with(file, changes)
        check_models(loaded.settings)
        _require_effect(choice, loaded)
        trial = await _try_out(loaded.settings, choice, run_turn)
        if not trial.problem and not _needs_no_change(file, choice):
            edit_settings(file, changes)
            trial = trial._replace(written=True)
    except PersonError as error:
        return Trial(problem=str(error), way_out="set what this names, or choose another model")
    return trial


def _needs_no_change(file: Path, choice: Choice) -> bool:
    """Whether the built-in model answers already. A file that is named but not there is written."""
    is_there = file.exists() or file == file_to_edit(None).absolute()
    return not choice.model and is_there and is_in_force(file, choice)


def _model_is_set(file: Path) -> bool:
    try:
        return file.exists() and bool(load_settings(file).settings.agent.model)
    except ConfigError:
        return True


def settings_with(file: Path, changes: Changes) -> Loaded:
    """The settings as they would be after these changes; nothing is written, since they may hold a key."""
    try:
        text = file.read_bytes().decode("utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{file}: cannot be read: {error}"]) from error
    return load_settings(file, content=edited(text, changes, str(file)).encode())


def models_of(file: Path, choice: Choice) -> list[str]:
    """The models that the provider of a choice offers, asked with the settings as they would be."""
    provider = settings_with(file, choice.changes()).settings.providers[choice.provider]
    return list_models(Endpoint(choice.provider, choice.model, provider))


def _require_effect(choice: Choice, loaded: Loaded) -> None:
    """Raise when an environment variable sets another model: it counts for more than the file."""
    agent = loaded.settings.agent
    if (agent.provider, agent.model) == (choice.provider, choice.model):
        return
    winning = ", ".join(name for name in loaded.overrides if name.startswith("SESTET_AGENT"))
    raise PersonError(
        f"the environment sets another model than this one ({winning}), and counts for more than the file"
    )


async def _try_out(settings: Settings, choice: Choice, run_turn: RunTurn) -> Trial:
    """Let the operator list a directory made for this: nothing of the person's is touched or sent."""
    # The trial reports its errors itself, so they need not be logged to the terminal as well.
    logging.getLogger("sestet").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as place:
        (Path(place) / _FILE_NAME).write_text("Two minutes at 80 degrees.\n", encoding="utf-8")
        with contextlib.chdir(place):
            async with app.open(_for_a_trial(settings), home=home) as opened:
                opened.models.warm_up()
                events = await run_turn(opened)
    if isinstance(events[-1], TurnCancelled):
        return STOPPED._replace(events=events)
    provider = settings.providers.get(choice.provider)
    key = provider.api_key if provider else ""
    return await asyncio.to_thread(_judged, choice, key, events, flat=not settings.agent.multi_agent)


def _for_a_trial(settings: Settings) -> Settings:
    """The same agents, tools and prompts, without a fallback model, rules and background work."""
    return replace(
        settings,
        agent=replace(settings.agent, fallback=(), lead_small_models=False),
        a2a=replace(settings.a2a, enabled=False),
        graph=replace(settings.graph, extraction="off"),
        observational_memory=replace(settings.observational_memory, observe_tokens=_QUIET),
    )


def _judged(choice: Choice, key: str, events: Sequence[Event], *, flat: bool) -> Trial:
    server = look_at(choice.server.root, key) if choice.server else None
    context = server.context_of(choice.model) if server else None
    too_small = _too_small(server, choice.model)
    problem = _problem(events, flat=flat)
    if not problem:
        return Trial(events, context=context, warning=too_small)
    if too_small and _is_nearly_full(events, context or 0):
        # A prompt that was cut off at its beginning explains everything else.
        return Trial(events, problem, too_small, context)
    return Trial(events, problem, _way_out(server, choice, events[-1]), context, too_small)


def _is_nearly_full(events: Sequence[Event], context: int) -> bool:
    """Whether a call filled the model's context, or no call counted its tokens."""
    read = [event.usage.input_tokens for event in events if isinstance(event, ModelCalled)]
    return max(read, default=0) > context * _NEARLY or not any(read)


def _way_out(server: Server | None, choice: Choice, end: Event) -> str:
    if server and server.find(choice.model) is None:
        names = ", ".join(model.name for model in server.models)
        return f"{server.kind.name} has {names}" if names else f"give {server.kind.name} a model first"
    if not isinstance(end, TurnFinished):
        return ""
    return server.kind.tool_calls if server else _NO_TOOLS


def _problem(events: Sequence[Event], *, flat: bool) -> str:
    """Why the model does not work; empty when a specialist was asked and found the file."""
    end = events[-1]
    assert isinstance(end, END_OF_TURN)  # the last event of every turn
    if isinstance(end, TurnFailed):
        return ended(f"{end.detail[:1].upper()}{end.detail[1:]}")
    delegated = flat or any(isinstance(event, DelegationStarted) for event in events)
    found = any(
        isinstance(event, ToolFinished) and event.outcome == "ok" and _FILE_NAME in event.text
        for event in events
    )
    if delegated and found and isinstance(end, TurnFinished):
        return ""
    causes = [event.cause for event in events if isinstance(event, DelegationFinished) and event.cause]
    if causes:
        return f"The specialist could not do it: {causes[-1]}"
    if not delegated:
        return "It answered by itself instead of asking a specialist: it does not call tools."
    if called := [event.call.name for event in events if isinstance(event, ToolFinished)]:
        return f"The specialist called {', '.join(called)}, and did not find the file."
    return "The specialist answered without looking: it does not call tools."


def _too_small(server: Server | None, model: str) -> str:
    if server is None or not server.lacks_context(model):
        return ""
    reads = f"it reads only {server.context_of(model):,} tokens at a time"
    return f"{reads}, and work with tools needs {ENOUGH_CONTEXT:,}: {server.more_context(model)}"


def describe_trial(file: Path, choice: Choice, trial: Trial) -> dict[str, object]:
    """The result of a trial as JSON."""
    usage = trial.usage
    return {
        "ready": not trial.problem,
        "choice": choice.id,
        "tool_calls": choice.entry.get("toolCalls", "native"),
        "file": str(file),
        "written": trial.written,
        "answer": trial.answer,
        "problem": trial.problem,
        "way_out": trial.way_out,
        "warning": trial.warning,
        "context": trial.context,
        "delegations": trial.delegations,
        "tools": trial.tools,
        "model_calls": trial.model_calls,
        "milliseconds": round(trial.milliseconds),
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "dollars": usage.nano_dollars / 10**9,
    }
