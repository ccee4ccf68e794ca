"""The conversation in a terminal: ask for a line, run it as a command or a turn, until the person leaves."""

from collections.abc import Awaitable, Callable

from sestet.cli.show.turn import TurnView
from sestet.cli.talk.keyboard import quiet_keyboard
from sestet.cli.talk.slash import run_slash
from sestet.cli.talk.state import Talk
from sestet.cli.talk.turns import follow_turn

AskLine = Callable[[], Awaitable[str | None]]


async def converse(talk: Talk, ask_line: AskLine) -> None:
    """Until ``ask_line`` gives None, or a command says that it is over."""
    while (text := await ask_line()) is not None:
        if not text.strip():
            continue
        goes_on = run_slash(talk, text)
        if goes_on is None:
            with quiet_keyboard(), TurnView(talk.console, talk.app.root.name, markdown=talk.markdown) as view:
                await follow_turn(talk.app, talk.session_id, text, view.show)
        elif not goes_on:
            return
