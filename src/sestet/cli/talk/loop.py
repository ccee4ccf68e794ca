"""The conversation in a terminal: ask for a line, run it as a command or a turn, until the person leaves."""

from sestet.cli.show.history import print_question
from sestet.cli.talk.deciding import run_turn
from sestet.cli.talk.slash import run_slash
from sestet.cli.talk.state import Person, Talk
from sestet.core.errors import PersonError


async def converse(talk: Talk, person: Person, first: str = "") -> None:
    """Until the person leaves, or a command says that it is over."""
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
        except PersonError as error:
            talk.note(f"{error}\n", "yellow")
