"""The commands inside a conversation, which begin with a slash."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, TypeAlias

from rich.text import Text

from sestet.cli.show.console import align, print_line
from sestet.cli.show.history import print_sessions, print_turns
from sestet.cli.show.question import print_approval
from sestet.cli.show.tree import print_tree
from sestet.cli.talk.approval import abandon_turn, continue_turn
from sestet.cli.talk.conversation import Person, Talk
from sestet.cli.talk.undo import undo_last_turn
from sestet.cli.talk.unfinished import open_questions, pick_unfinished, print_unfinished
from sestet.cli.vault_prompts import unlock
from sestet.core.errors import PersonError
from sestet.core.schema import suggest
from sestet.services.sessions import (
    find_session,
    last_session,
    new_session_id,
    read_turns,
    rename_session,
    require_session,
)
from sestet.services.turn_text import count_turns

# A path is no command: '/etc/hosts' has another slash.
_COMMAND = re.compile(r"/(?P<name>[\w-]*)(?:\s+(?P<argument>.*))?", re.DOTALL)

#: Work that takes a while, or has to ask the person.
Action: TypeAlias = Callable[[Talk, Person], Awaitable[None]]


class SlashCommand(NamedTuple):
    #: Takes the conversation and the text after the name. False ends the conversation; an action is run next.
    run: Callable[[Talk, str], bool | Action]
    usage: str
    help: str


def run_slash(talk: Talk, text: str) -> bool | Action | None:
    """Run a command. False ends the conversation, an action is done next; None: the text is no command."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    try:
        goes_on = _find(f"/{found['name']}").run(talk, (found["argument"] or "").strip())
    except PersonError as error:
        talk.note(str(error), "yellow")
        goes_on = True
    if goes_on is True:
        talk.console.print()
    return goes_on


def _find(name: str) -> SlashCommand:
    if name not in COMMANDS:
        near = suggest(name, COMMANDS) or "; /help lists the commands"
        raise PersonError(f"there is no command '{name}'{near}")
    return COMMANDS[name]


def _help(talk: Talk, _: str) -> bool:
    rows = [(Text(f"  {command.usage}"), Text(command.help, style="dim")) for command in COMMANDS.values()]
    keys = (
        (Text("  Ctrl-C"), Text("stop the turn; at the prompt, clear the line, twice: leave", style="dim")),
        (Text("  Ctrl-D"), Text("leave", style="dim")),
    )
    for line in align([*rows, *keys]):
        print_line(talk.console, line)
    return True


def _agents(talk: Talk, _: str) -> bool:
    print_tree(talk.console, talk.app)
    return True


def _sessions(talk: Talk, _: str) -> bool:
    rows = talk.app.journal.sessions(20)
    if not rows:
        talk.note("there is no session yet")
    print_sessions(talk.console, rows, talk.session_id)
    return True


def _new(talk: Talk, _: str) -> bool:
    talk.session_id = new_session_id(talk.app.journal)
    talk.note(f"session {talk.session_id} (new)")
    return True


def _rename(talk: Talk, title: str) -> bool:
    if find_session(talk.app.journal, talk.session_id) is None:
        raise PersonError("this session is empty: say something first, then give it a title")
    talk.note(f"session {talk.session_id}: {rename_session(talk.app.journal, talk.session_id, title)}")
    return True


def _resume(talk: Talk, wanted: str) -> bool:
    if not wanted:
        row = last_session(talk.app.journal, (talk.session_id,))
        if row is None:
            talk.note("there is no other session yet")
            return True
        wanted = row.id
    row = require_session(talk.app.journal, wanted)
    talk.session_id = row.id
    talk.note(f"session {row.id} · {count_turns(row.turns)}")
    talk.recall()
    return True


def _history(talk: Talk, _: str) -> bool:
    turns = read_turns(talk.app.journal, talk.session_id)
    if not turns:
        talk.note("nothing was said yet")
    print_turns(talk.console, turns, markdown=not talk.is_builtin)
    return True


def _approvals(talk: Talk, _: str) -> bool:
    questions = open_questions(talk.app)
    if not questions:
        talk.note("nothing waits for your decision")
    for question in questions:
        print_approval(talk.console, question, talk.app.standing_tool(question))
    print_unfinished(talk)
    return True


def _continue(talk: Talk, number: str) -> Action:
    turn = pick_unfinished(talk, number)
    if turn.session_id != talk.session_id:
        talk.session_id = turn.session_id
        talk.note(f"session {turn.session_id}")
        talk.recall()
        talk.console.print()
    return partial(continue_turn, turn)


def _abandon(talk: Talk, number: str) -> Action:
    return partial(abandon_turn, pick_unfinished(talk, number))


def _undo(talk: Talk, _: str) -> Action:
    return undo_last_turn


def _unlock(talk: Talk, _: str) -> Action | bool:
    if talk.app.vault.is_unlocked:
        talk.note("the vault is open already")
        return True
    return _unlock_vault


async def _unlock_vault(talk: Talk, _: Person) -> None:
    # The broker asks at the terminal itself: the passphrase never comes into this process.
    await asyncio.to_thread(unlock, talk.app.vault)
    talk.note("The vault is open until this conversation ends.")
    talk.console.print()


def _exit(talk: Talk, _: str) -> bool:
    return False


COMMANDS = {
    "/help": SlashCommand(_help, "/help", "this list"),
    "/agents": SlashCommand(_agents, "/agents", "the agents, and who owns which tools"),
    "/sessions": SlashCommand(_sessions, "/sessions", "the last conversations"),
    "/new": SlashCommand(_new, "/new", "begin a new session"),
    "/resume": SlashCommand(_resume, "/resume ID", "go on in another session, or in the last other one"),
    "/rename": SlashCommand(_rename, "/rename TITLE", "give this session a title of your own"),
    "/history": SlashCommand(_history, "/history", "everything that happened in this session"),
    "/approvals": SlashCommand(_approvals, "/approvals", "the calls that wait for your decision"),
    "/continue": SlashCommand(_continue, "/continue N", "decide and go on with a turn that has not ended"),
    "/abandon": SlashCommand(_abandon, "/abandon N", "give up a turn that has not ended"),
    "/undo": SlashCommand(_undo, "/undo", "put the files back as they were before the last turn here"),
    "/unlock": SlashCommand(_unlock, "/unlock", "open the vault, with your passphrase"),
    "/exit": SlashCommand(_exit, "/exit", "leave"),
    "/quit": SlashCommand(_exit, "/quit", "leave, too"),
}
