"""The steps of ``sestet setup`` at a terminal; each returns whether a model was tried and written."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer
from rich.console import Console

from sestet.app import App
from sestet.cli.assistant import run
from sestet.cli.models import fetch_model
from sestet.cli.setup_prompts import LeftError, ask, note, pick
from sestet.cli.setup_vault import offer_vault
from sestet.cli.show.console import shorten_home
from sestet.cli.show.turn_view import TurnView
from sestet.cli.talk.keyboard import quiet_keyboard
from sestet.cli.talk.turns import follow_turn
from sestet.config.edit import own_file
from sestet.config.installation import install_command
from sestet.config.vendors import LOCAL, VENDORS
from sestet.core.errors import ModelError, PersonError
from sestet.core.event import Event
from sestet.core.masking import mask_address
from sestet.models.files.catalogue import catalogue
from sestet.models.files.download import in_megabytes
from sestet.models.servers import Server, is_own
from sestet.setup.choices import (
    Choice,
    can_run_local,
    is_in_force,
    known_providers,
    missing_package,
    server_choices,
    vendor_choice,
    why_no_key,
)
from sestet.setup.server_address import KeyWantedError, find_server
from sestet.setup.trial import REQUEST, SESSION, STOPPED, Trial, attempt, attempt_both_ways, models_of


def type_key(console: Console, file: Path) -> bool:
    """Ask for a vendor and its key, which is hidden and goes only into the person's own settings."""
    names = {vendor.name: vendor_id for vendor_id, vendor in VENDORS.items()}
    missing = {vendor.name: needed for vendor in VENDORS.values() if (needed := missing_package(vendor))}
    # The command that installs it may be long, and is said when it is wanted.
    notes = dict.fromkeys(missing, "needs a package that is not installed")
    name = pick(console, "Whose key do you have?", list(names), notes=notes, others=False)
    if not name:
        return False
    if name in missing:
        note(console, f"{name} {missing[name]}", "yellow")
        note(console, "→ then start 'sestet setup' again, or choose something else here", "yellow")
        return False
    own = _own_settings(console, file)
    while key := ask(f"The key of {name}, which is not shown. Enter: back ", hidden=True):
        if why := why_no_key(key):
            note(console, why, "yellow")
            continue
        choice = vendor_choice(names[name], known_providers(own), key)
        if (models := _list_models(console, own, choice)) is not None:
            works = _try_until_one_works(console, own, choice, models)
            if works:
                offer_vault(console, own, choice, key)
            return works
    return False


def choose_model(console: Console, file: Path, choice: Choice) -> bool:
    """Choose among the models of a vendor whose key is in the environment."""
    models = _list_models(console, file, choice)
    if models is None:
        note(console, "→ set that variable to a valid key, or type another key here", "yellow")
        return False
    return _try_until_one_works(console, file, choice, models)


def name_server(console: Console, file: Path) -> bool:
    """Ask for the address of a server, and for its key if it wants one."""
    while address := ask("Its address, such as 192.168.1.5:8080. Enter: back "):
        try:
            server, key = _reach(console, address)
        except PersonError as error:
            note(console, str(error), "yellow")
            continue
        if server is None:
            continue
        target = _own_settings(console, file) if key else file
        choices = list(server_choices([server], known_providers(target), key))
        if choices:
            return choose_served(console, target, choices)
        fetch = server.kind.fetch.format(model="NAME")
        note(console, f"{server.kind.name} answers, but it has no model yet: {fetch}", "yellow")
    return False


def _reach(console: Console, address: str) -> tuple[Server | None, str]:
    """The server and the key that it wants; no server when the person does not give the key."""
    note(console, f"Looking for a model server at {mask_address(address)} …")
    try:
        return find_server(address), ""
    except KeyWantedError as error:
        wanted = error
    if wanted.address.startswith("http://") and not is_own(wanted.address):
        note(console, f"Nothing is encrypted on the way to {wanted.address}, the key neither.", "yellow")
    note(console, str(wanted), "yellow")
    while key := ask("Its key, which is not shown. Enter: back ", hidden=True):
        if why := why_no_key(key):
            note(console, why, "yellow")
            continue
        try:
            return find_server(wanted.address, key), key
        except KeyWantedError as error:
            note(console, str(error), "yellow")
    return None, ""


def choose_served(console: Console, file: Path, choices: Sequence[Choice]) -> bool:
    """Choose among the models of one server."""
    served = {choice.model: choice for choice in choices}
    notes = {choice.model: choice.note for choice in choices}
    default = choices[0].model
    while name := pick(console, f"Models of {choices[0].place}", list(served), default, notes):
        if try_choice(console, file, served.get(name) or choices[0]._replace(model=name)):
            return True
    return False


def fetch(console: Console, file: Path) -> bool:
    """Choose a model file of the catalogue, fetch it and use it in this program."""
    if not can_run_local():
        note(console, f"A model in this program needs a package: {install_command('local')}", "yellow")
        note(console, "→ then start 'sestet setup' again, or choose something else here", "yellow")
        return False
    notes = {
        entry.name: f"{in_megabytes(entry.bytes)}, {entry.license}: {entry.about}"
        for entry in catalogue().values()
    }
    name = pick(
        console, "Models that run in this program", list(notes), next(iter(notes)), notes, others=False
    )
    if not name:
        return False
    try:
        if not fetch_model(name):
            return False
    except typer.Abort:
        raise LeftError from None
    except PersonError as error:
        note(console, f"It cannot be fetched. {error}", "red")
        return False
    return try_choice(console, file, Choice(LOCAL, name, "in this program"))


def keep_built_in(console: Console, file: Path, choice: Choice) -> bool:
    """Write nothing when the built-in model answers already."""
    if not is_in_force(file, choice):
        return try_choice(console, file, choice)
    note(console, "The built-in model answers, as before. No settings were written.\n", "bold")
    return True


def try_choice(console: Console, file: Path, choice: Choice) -> bool:
    """Try a choice in one real turn; what works is written."""
    price = ", which your account pays" if "apiKey" in choice.entry else ""
    note(console, f"\nTrying {choice.id} with one turn{price}: “{REQUEST}”. Ctrl-C stops it.")

    def watch(choice: Choice) -> Trial:
        with TurnView(console, "orchestrator", markdown=bool(choice.model)) as view, quiet_keyboard():
            return run_attempt(file, choice, view.show)

    choice, trial = attempt_both_ways(choice, watch, lambda text: note(console, text, "yellow"))
    if trial.problem:
        note(console, trial.verdict, "red")
    else:
        note(console, f"Ready: {trial_facts(trial, choice)}", "bold green")
    if trial.way_out:
        note(console, f"→ {trial.way_out}", "yellow")
    if trial.warning:
        note(console, f"Note: {trial.warning}", "yellow")
    if trial.problem:
        return False
    note(console, f"Written to {shorten_home(str(file))}. 'sestet doctor' checks it.\n")
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


def _own_settings(console: Console, file: Path) -> Path:
    """The person's own settings, which alone hold keys; another file stays as it is."""
    own = own_file().absolute()
    shown = shorten_home(str(own))
    note(console, f"The key goes into {shown}, which only you can read.")
    if file.resolve() != own.resolve():
        note(console, f"{shorten_home(str(file))} stays as it is, and counts instead of it here.", "yellow")
    return own


def _list_models(console: Console, file: Path, choice: Choice) -> list[str] | None:
    """The models of a vendor; none when it cannot be asked, and None when it does not accept the key."""
    note(console, f"Asking {choice.place} for its models …")
    try:
        return models_of(file, choice)
    except ModelError as error:
        note(console, str(error), "yellow")
        return None if error.kind == "auth" else []


def _try_until_one_works(console: Console, file: Path, choice: Choice, models: Sequence[str]) -> bool:
    """Let the person choose until a model works; False: they go back."""
    is_likely = not models or any(name.startswith(choice.model) for name in models)
    default = choice.model if is_likely else ""
    while name := pick(console, f"Models of {choice.place}", models, default):
        if try_choice(console, file, choice._replace(model=name)):
            return True
    return False
