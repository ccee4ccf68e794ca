"""The conversation in a terminal: ask for a line, run it as a command or a turn, until the person leaves."""

from sestet.app import App
from sestet.cli.assistant import has_warned
from sestet.cli.show.console import open_console
from sestet.cli.show.history import print_question
from sestet.cli.talk.approval import run_turn
from sestet.cli.talk.conversation import Person, Talk
from sestet.cli.talk.keyboard import PromptLine
from sestet.cli.talk.slash import COMMANDS, run_slash
from sestet.cli.talk.turns import SMALL
from sestet.cli.talk.unfinished import print_unfinished
from sestet.config import data_directory
from sestet.core.errors import PersonError
from sestet.core.pages import page
from sestet.models.offline import OfflineModel
from sestet.services.sessions import find_session
from sestet.services.turn_text import count_turns


async def talk_at_terminal(app: App, session_id: str, first: str = "") -> None:
    """Talk until the person leaves; ``first`` is a message that they have written already, if any."""
    talk = Talk(app, open_console(), session_id)
    greet(talk)
    await converse(talk, PromptLine(data_directory(), COMMANDS, app.journal.scanner.clean), first)


def greet(talk: Talk) -> None:
    """The first lines: the session, the model, warnings, the last turns, and unfinished turns."""
    row = find_session(talk.app.journal, talk.session_id)
    state = count_turns(row.turns) if row else "new"
    talk.note(f"Sestet · session {talk.session_id} ({state}) · model {talk.app.model.name} · /help", "bold")
    if isinstance(talk.app.model, OfflineModel):
        talk.note(f"The built-in model answers; for a real one: 'sestet setup', {page('models')}")
    if talk.app.is_small:
        talk.note(SMALL, "yellow")
    for warning in talk.app.warnings:
        if not has_warned(warning):
            talk.note(f"warning: {warning}", "yellow")
    talk.recall()
    print_unfinished(talk)
    talk.console.print()


async def converse(talk: Talk, person: Person, first: str = "") -> None:
    """Talk until the person leaves or a command ends the conversation."""
    if first:
        print_question(talk.console, first)
    while (text := first or await person.write()) is not None:
        first = ""
        if not text.strip():
            continue
        then = run_slash(talk, text)
        if then is False:
            return
        try:
            if then is None:
                await run_turn(talk, person, text)
            elif then is not True:
                await then(talk, person)
            if warning := talk.app.budget and talk.app.budget.warning():
                talk.note(f"warning: {warning}\n", "yellow")
        except PersonError as error:
            talk.note(f"{error}\n", "yellow")
