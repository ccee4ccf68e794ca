"""The first lines of a conversation: where one is, who answers, and what is wrong."""

from sestet.cli.opening import has_warned
from sestet.cli.show.history import count_turns, print_recalled, read_turns
from sestet.cli.talk.session import find_session
from sestet.cli.talk.state import Talk
from sestet.cli.talk.turns import SMALL
from sestet.cli.talk.unfinished import print_unfinished
from sestet.models.offline import OfflineModel

_RECALLED_TURNS = 3


def greet(talk: Talk) -> None:
    row = find_session(talk.app.journal, talk.session_id)
    state = count_turns(row.turns) if row else "new"
    talk.note(f"Sestet · session {talk.session_id} ({state}) · model {talk.app.model.name} · /help", "bold")
    if isinstance(talk.app.model, OfflineModel):
        talk.note("This is the small built-in model; 'sestet setup' finds a real one (docs/models.md).")
    if talk.app.is_small:
        talk.note(SMALL, "yellow")
    for warning in talk.app.warnings:
        if not has_warned(warning):
            talk.note(warning, "yellow")
    recall(talk)
    print_unfinished(talk)
    talk.console.print()


def recall(talk: Talk) -> None:
    """A look at the last things said in the session."""
    print_recalled(talk.console, read_turns(talk.app.journal, talk.session_id, _RECALLED_TURNS))
