"""Asks the person about the calls of a turn that need approval, then goes on with the turn."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from sestet.cli.show.history import print_doubts
from sestet.cli.show.question import print_approval
from sestet.cli.show.turn_view import TurnView
from sestet.cli.talk.conversation import Person, Talk
from sestet.cli.talk.keyboard import quiet_keyboard
from sestet.cli.talk.turns import Show, follow_resumed, follow_turn
from sestet.cli.talk.unfinished import open_questions
from sestet.cli.vault_prompts import type_held_value
from sestet.core.errors import PersonError
from sestet.core.event import TurnCancelled, TurnPaused
from sestet.services.approvals import Decision, Question, Scope, arguments_of, when_free
from sestet.services.sessions import TurnRow
from sestet.services.turn_text import End
from sestet.services.vault.vault import held_key


class _Answer(NamedTuple):
    words: str
    decision: Decision
    scope: Scope = "once"


_CHOICES = {
    "y": _Answer("once", "approve"),
    "s": _Answer("this session", "approve", "session"),
    "a": _Answer("always", "approve", "always"),
    "n": _Answer("no", "deny"),
}
_ONLY_ONCE = {key: choice for key, choice in _CHOICES.items() if choice.scope == "once"}
_VIEW = "v"
_LATER = "The turn waits for you: /approvals shows the calls, /continue goes on; outside: 'sestet approvals'."


async def run_turn(talk: Talk, person: Person, text: str) -> None:
    """Run a turn, with the questions to the person in it."""
    end = await _shown(talk, person, partial(follow_turn, talk.app, talk.session_id, text))
    if isinstance(end, TurnPaused):
        turn = talk.app.journal.turn(end.stamp.turn_id)
        assert turn is not None  # it has just been written
        await continue_turn(turn, talk, person)


async def continue_turn(turn: TurnRow, talk: Talk, person: Person) -> None:
    """Ask about the open calls and go on, until the turn ends or the person leaves a call open."""
    while await _decide(talk, person, turn):
        end = await _shown(talk, person, partial(follow_resumed, talk.app, turn))
        if not isinstance(end, TurnPaused):
            return
    talk.note(_LATER, "yellow")
    talk.console.print()


async def abandon_turn(turn: TurnRow, talk: Talk, _: Person) -> None:
    """End a turn without going on with it."""
    doubts = await talk.app.abandon_turn(turn.id)
    talk.note("The turn is given up.")
    print_doubts(talk.console, doubts)
    talk.console.print()


async def _shown(talk: Talk, person: Person, follow: Callable[[Show], Awaitable[End]]) -> End:
    """Show a turn while it runs."""
    own_words = not talk.is_builtin
    view = TurnView(talk.console, talk.app.root.name, markdown=own_words, findings=own_words)
    try:
        with view, quiet_keyboard():
            end = await follow(view.show)
    except PersonError:
        # Such as Ctrl-C while the turn waited for another one.
        person.take_back()
        raise
    if isinstance(end, TurnCancelled):
        person.take_back()
    return end


async def _decide(talk: Talk, person: Person, turn: TurnRow) -> bool:
    """Ask about each open call of a turn, one after the other; False when the person leaves it open."""
    questions = open_questions(talk.app, turn.id)
    for number, question in enumerate(questions, 1):
        if len(questions) > 1:
            talk.note(f"question {number} of {len(questions)}", "bold")
        choice = await _ask(talk, person, question)
        if choice is None:
            return False
        try:
            await when_free(partial(talk.app.decide, question.id, choice.decision, choice.scope))
        except PersonError as error:
            # The question was decided elsewhere or expired while it was shown here.
            talk.note(str(error), "yellow")
    return True


async def _has_typed(talk: Talk, question: Question) -> bool:
    """Let the person type the value that the call needs; False: they did not."""
    tool = next((tool for tool in talk.app.tools if tool.name == question.tool), None)
    if tool is None or not tool.typed:
        return True
    name = str(arguments_of(question)[tool.typed])
    try:
        key = held_key(question.turn_id, name)
        await asyncio.to_thread(type_held_value, talk.app.vault, key, name)
    except PersonError as error:
        talk.note(f"  {error}", "yellow")
        return False
    talk.console.print()
    return True


async def _ask(talk: Talk, person: Person, question: Question) -> _Answer | None:
    tool = talk.app.standing_tool(question)
    is_cut = print_approval(talk.console, question, tool)
    choices = _CHOICES if tool else _ONLY_ONCE
    words = {key: choice.words for key, choice in choices.items()}
    if is_cut:
        words[_VIEW] = "view all"
    prompt = "  ".join(f"[{key}] {word}" for key, word in words.items())
    while (answer := await person.choose(f"  {prompt} ")) is not None:
        key = answer.strip().lower()
        if key in choices:
            talk.console.print()
            if choices[key].decision == "approve" and not await _has_typed(talk, question):
                continue
            return choices[key]
        if key == _VIEW and is_cut:
            print_approval(talk.console, question, tool, whole=True)
        else:
            talk.note(f"  {', '.join(words)}: one of these, then Enter; Ctrl-C leaves it open")
    return None
