"""``sestet setup`` as a dialogue at the terminal, and the offer of it before the first conversation."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from rich.console import Console
from rich.text import Text

from sestet.app import App
from sestet.cli.assistant import load, run
from sestet.cli.models import fetch_model
from sestet.cli.show.clean import clean
from sestet.cli.show.console import align, open_console, print_line
from sestet.cli.show.history import PROMPT
from sestet.cli.show.turn_view import TurnView
from sestet.cli.talk.keyboard import quiet_keyboard
from sestet.cli.talk.turns import follow_turn
from sestet.config.edit import file_to_edit
from sestet.core.errors import PersonError
from sestet.core.event import Event
from sestet.setup.choices import Choice, choose, find_choices, is_offer_due, mark_offered
from sestet.setup.trial import REQUEST, SESSION, STOPPED, Trial, attempt, attempt_both_ways


def offer_setup(context: typer.Context) -> str:
    """Ask once which model to use, when one is found and none was chosen. Enter: the built-in one.

    An answer that names no choice is returned: it is the person's first message.
    """
    if not is_offer_due(load(context)):
        return ""
    choices = find_choices()
    if not any(choice.is_found for choice in choices):
        # Not marked as offered: there may be a model the next time.
        return ""
    mark_offered()
    console = open_console()
    said = ask_and_set_up(console, file_to_edit().absolute(), choices, leave="go on with the built-in one")
    if said is not None:
        console.print("'sestet setup' asks again whenever you like.\n", style="dim")
    return said or ""


def print_choices(console: Console, choices: Sequence[Choice]) -> None:
    """The choices, numbered."""
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
        print_line(console, line)


def ask_and_set_up(console: Console, file: Path, choices: Sequence[Choice], leave: str = "") -> str | None:
    """Ask until a choice works (None), or the person leaves (what they said instead of a choice).

    ``leave`` says what Enter does; when it is empty, Enter takes the first choice.
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
        if choice.open and (name := _ask(f"Which of its models? Enter: {choice.model} ")):
            choice = choice._replace(model=name)
        first = False
        if _try(console, file, choice):
            return None


def _heading(choices: Sequence[Choice]) -> str:
    if len(choices) == 1:
        return "No model was found on this machine, and no key. Start a server or set a key, then come back."
    return "You can choose:"


def _try(console: Console, file: Path, choice: Choice) -> bool:
    if choice.absent and not fetch_model(choice.model):
        return False
    price = ", which your account pays" if "apiKey" in choice.entry else ""
    _note(console, f"\nTrying {choice.id} with one turn{price}: “{REQUEST}”. Ctrl-C stops it.")

    def watch(choice: Choice) -> Trial:
        with TurnView(console, "orchestrator", markdown=bool(choice.model)) as view, quiet_keyboard():
            return run_attempt(file, choice, view.show)

    choice, trial = attempt_both_ways(choice, watch, lambda text: _note(console, text, "yellow"))
    if trial.problem:
        _note(console, f"It does not work. {trial.problem}", "red")
    else:
        _note(console, f"Ready: {trial_facts(trial, choice)}", "bold green")
    if trial.way_out:
        _note(console, f"→ {trial.way_out}", "yellow")
    if trial.warning:
        _note(console, f"Note: {trial.warning}", "yellow")
    if trial.problem:
        return False
    _note(console, f"Written to {_short(file)}. 'sestet doctor' checks it.\n")
    return True


def run_attempt(file: Path, choice: Choice, show: Callable[[Event], None]) -> Trial:
    """One attempt, in which Ctrl-C stops the turn."""

    async def run_turn(app: App) -> list[Event]:
        events: list[Event] = []

        def keep(event: Event) -> None:
            events.append(event)
            show(event)

        await follow_turn(app, SESSION, REQUEST, keep, can_ask=False)
        return events

    try:
        return run(attempt(file, choice, run_turn))
    except KeyboardInterrupt:
        # Pressed before the turn had begun.
        return STOPPED


def trial_facts(trial: Trial, choice: Choice) -> str:
    """``ollama/qwen3 asked operator, which called fs_list · 3 model calls · 2.1 s · free``"""
    agents = " and ".join(trial.delegations) or "no specialist"
    used = trial.usage.input_tokens + trial.usage.output_tokens
    how = " with calls in text" if "toolCalls" in choice.entry else ""
    facts = [
        f"{choice.id}{how} asked {agents}, which called {', '.join(trial.tools)}",
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
    """What the person writes; None when they want to leave."""
    session: PromptSession[str] = PromptSession()
    try:
        return session.prompt(FormattedText([("", question), ("bold ansicyan", PROMPT)])).strip()
    except (EOFError, KeyboardInterrupt):
        return None


def _note(console: Console, text: str, style: str = "dim") -> None:
    console.print(Text(clean(text), style=style))


def _short(file: Path) -> str:
    home = Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
