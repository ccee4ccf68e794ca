"""Setting up with a person at the terminal, and without one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sestet.cli.setting_up.attempt import attempt, attempt_both_ways
from sestet.cli.setting_up.choices import Choice, choose
from sestet.cli.setting_up.trial import REQUEST, Trial
from sestet.cli.show.clean import clean
from sestet.cli.show.console import align, print_json
from sestet.cli.show.history import PROMPT
from sestet.cli.show.progress import progress_line
from sestet.core.errors import PersonError
from sestet.core.event import DelegationStarted, Event, ToolFinished

if TYPE_CHECKING:
    from rich.console import Console


def print_choices(console: "Console", choices: Sequence[Choice]) -> None:
    """The choices, numbered."""
    from rich.text import Text

    rows = [
        (
            Text(f"{number:>3}", style="bold cyan"),
            Text(clean(choice.model or choice.provider)),
            Text(clean(choice.place)),
            Text(clean(choice.note), style="dim"),
        )
        for number, choice in enumerate(choices, 1)
    ]
    for line in align(rows):
        console.print(line, no_wrap=True, overflow="ellipsis")


def ask_and_set_up(console: "Console", file: Path, choices: Sequence[Choice], leave: str = "") -> str | None:
    """Until a choice works, or the person leaves. ``leave`` is what Enter means; empty: the first choice.

    None: a choice works. Else what they said instead of one, which only counts where they may leave.
    """
    first = not leave
    while True:
        _note(console, f"\n{_heading(choices)}\n", "bold")
        print_choices(console, choices)
        default = choices[0].id if first else ""
        console.print()
        said = _ask(f"Which? Enter: {default or leave or 'leave it as it is'} ")
        if said is None or not (said or default):
            return ""
        try:
            choice = choose(choices, said or default)
        except PersonError as error:
            if leave and not said.isdecimal():
                return said
            _note(console, str(error), "yellow")
            continue
        if choice.open and (name := _ask(f"Which model of theirs? Enter: {choice.model} ")):
            choice = choice._replace(model=name)
        first = False
        if _try(console, file, choice):
            return None


def _heading(choices: Sequence[Choice]) -> str:
    if len(choices) == 1:
        return "No model was found on this machine, and no key. Start a server or set a key, then come back."
    return "There is this to choose from:"


def _try(console: "Console", file: Path, choice: Choice) -> bool:
    from sestet.cli.show.turn import TurnView
    from sestet.cli.talk.keyboard import quiet_keyboard

    if choice.absent:
        from sestet.cli.models import fetch_model

        if not fetch_model(choice.model):
            return False
    price = ", which your account pays" if "apiKey" in choice.entry else ""
    _note(console, f"\nTrying {choice.id} with one turn{price}: “{REQUEST}”. Ctrl-C stops it.")

    def watch(choice: Choice) -> Trial:
        with TurnView(console, "orchestrator", markdown=bool(choice.model)) as view, quiet_keyboard():
            return attempt(file, choice, view.show)

    choice, trial = attempt_both_ways(choice, watch, lambda text: _note(console, text, "yellow"))
    if trial.problem:
        _note(console, f"It does not work. {trial.problem}", "red")
    else:
        _note(console, f"Ready: {_facts(trial, choice)}", "bold green")
    if trial.way_out:
        _note(console, f"→ {trial.way_out}", "yellow")
    if trial.warning:
        _note(console, f"And mind: {trial.warning}", "yellow")
    if trial.problem:
        return False
    _note(console, f"Written to {_short(file)}. 'sestet doctor' looks after it.\n")
    return True


def set_up_without_asking(
    file: Path, choices: Sequence[Choice], wanted: str, model: str, *, as_json: bool
) -> int:
    """For scripts: one attempt, on stderr what happens, on stdout what came of it."""
    choice = choose(choices, wanted, model)

    def show(event: Event) -> None:
        if not as_json and (line := progress_line(event, REQUEST)):
            typer.echo(line.text, err=True)

    def tell(text: str) -> None:
        if not as_json:
            typer.echo(text, err=True)

    choice, trial = attempt_both_ways(choice, lambda each: attempt(file, each, show), tell)
    if as_json:
        print_json(_described(file, choice, trial))
        return 1 if trial.problem else 0
    if trial.problem:
        told = (trial.answer, f"It does not work. {trial.problem}", trial.way_out and f"→ {trial.way_out}")
        typer.echo(clean("\n".join(filter(None, told))), err=True)
    else:
        typer.echo(f"ready: {_facts(trial, choice)}")
        typer.echo(f"written to {file}")
    if trial.warning:
        typer.echo(f"warning: {clean(trial.warning)}", err=True)
    return 1 if trial.problem else 0


def _described(file: Path, choice: Choice, trial: Trial) -> dict[str, object]:
    usage = trial.usage
    return {
        "ready": not trial.problem,
        "choice": choice.id,
        "tool_calls": choice.entry.get("toolCalls", "native"),
        "file": str(file),
        "answer": trial.answer,
        "problem": trial.problem,
        "way_out": trial.way_out,
        "warning": trial.warning,
        "context": trial.context,
        "delegations": [event.agent for event in trial.events if isinstance(event, DelegationStarted)],
        "tools": [event.call.name for event in trial.events if isinstance(event, ToolFinished)],
        "model_calls": trial.model_calls,
        "milliseconds": round(trial.milliseconds),
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "dollars": usage.nano_dollars / 10**9,
    }


def _facts(trial: Trial, choice: Choice) -> str:
    agents = [event.agent for event in trial.events if isinstance(event, DelegationStarted)]
    tools = [event.call.name for event in trial.events if isinstance(event, ToolFinished)]
    used = trial.usage.input_tokens + trial.usage.output_tokens
    how = " with calls in text" if "toolCalls" in choice.entry else ""
    facts = [
        f"{choice.id}{how} asked {' and '.join(agents) or 'nobody'}, which called {', '.join(tools)}",
        f"{trial.model_calls} model calls",
        f"{trial.milliseconds / 1000:.1f} s",
        *([f"{used:,} tokens"] if used else []),
        _price(trial.usage.nano_dollars, choice),
    ]
    return " · ".join(facts)


def _price(nano_dollars: int, choice: Choice) -> str:
    if nano_dollars:
        return f"${nano_dollars / 10**9:.4f}"
    return "price not on the list" if "apiKey" in choice.entry else "free"


def _ask(question: str) -> str | None:
    """What the person writes; None: they want to leave."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import FormattedText

    session: PromptSession[str] = PromptSession()
    try:
        return session.prompt(FormattedText([("", question), ("bold ansicyan", PROMPT)])).strip()
    except (EOFError, KeyboardInterrupt):
        return None


def _note(console: "Console", text: str, style: str = "dim") -> None:
    from rich.text import Text

    console.print(Text(clean(text), style=style))


def _short(file: Path) -> str:
    home = Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
