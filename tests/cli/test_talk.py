"""Inside a conversation: sessions, slash commands, and what is shown of agents."""

import io
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from rich.console import Console

import sestet
from sestet import ScriptedModel
from sestet.cli.show.tree import print_tree
from sestet.cli.talk.conversation import Talk
from sestet.cli.talk.slash import COMMANDS, run_slash
from sestet.cli.talk.terminal import converse, greet
from sestet.core.errors import PersonError
from sestet.core.event import Stamp, TurnCancelled, TurnStarted
from sestet.core.tool import Tool
from sestet.services.sessions import find_session, last_session, name_session, new_session_id
from tests.cli.typist import Typist


@pytest_asyncio.fixture
async def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Talk]:
    monkeypatch.chdir(tmp_path)
    console = Console(
        file=io.StringIO(), width=100, force_terminal=True, color_system=None, legacy_windows=False
    )
    async with sestet.open({}, model=ScriptedModel(), home=tmp_path / "data") as app:
        yield Talk(app, console, new_session_id(app.journal))


def shown(talk: Talk) -> str:
    assert isinstance(talk.console.file, io.StringIO)
    return talk.console.file.getvalue()


async def ask(talk: Talk, session_id: str, text: str, answer: str) -> None:
    talk.app.models.default = ScriptedModel([answer])
    async for _ in talk.app.run_turn(session_id, text):
        pass


async def test_a_conversation_ends_when_the_person_leaves(talk: Talk) -> None:
    talk.app.models.default = ScriptedModel(["Hello!"])
    person = Typist("hello", "  ", "/exit", "never read")
    await converse(talk, person)
    assert "Hello!" in shown(talk)
    assert list(person.lines) == ["never read"]
    await converse(talk, person)


async def test_a_path_is_a_message_and_not_a_command(talk: Talk) -> None:
    assert run_slash(talk, "/etc/hosts what is this?") is None
    assert run_slash(talk, "what is /help?") is None
    assert shown(talk) == ""


async def test_a_command_that_does_not_exist_names_the_nearest(talk: Talk) -> None:
    assert run_slash(talk, "/sesions") is True
    assert "there is no command '/sesions'; did you mean '/sessions'?" in shown(talk)
    assert run_slash(talk, "/zzz") is True
    assert "there is no command '/zzz'; /help lists the commands" in shown(talk)


async def test_help_names_every_command(talk: Talk) -> None:
    assert run_slash(talk, "/help") is True
    assert all(command.usage in shown(talk) for command in COMMANDS.values())


async def test_agents_are_shown_as_a_tree(talk: Talk) -> None:
    assert run_slash(talk, "/agents") is True
    assert "├── operator" in shown(talk)
    assert "fs_list" in shown(talk)


async def test_a_session_is_left_and_taken_up_again(talk: Talk) -> None:
    first = talk.session_id
    await ask(talk, first, "what about tea?", "Tea is good.")
    assert run_slash(talk, "/new") is True
    assert talk.session_id != first
    assert run_slash(talk, "/history") is True
    assert "nothing was said yet" in shown(talk)
    assert run_slash(talk, f"/resume {first.rpartition('-')[2]}") is True
    assert talk.session_id == first
    assert f"session {first} · 1 turn" in shown(talk)
    assert "Tea is good." in shown(talk)
    assert run_slash(talk, "/sessions") is True
    assert "what about tea?" in shown(talk).rpartition(first)[2]


async def test_resume_without_a_name_takes_the_last_other_session(talk: Talk) -> None:
    assert run_slash(talk, "/resume") is True
    assert "there is no other session yet" in shown(talk)
    await ask(talk, "older", "one", "1")
    await ask(talk, "newer", "two", "2")
    talk.session_id = "newer"
    assert run_slash(talk, "/resume") is True
    assert talk.session_id == "older"


async def test_a_session_that_does_not_exist_leaves_everything_as_it_is(talk: Talk) -> None:
    before = talk.session_id
    assert run_slash(talk, "/resume nowhere") is True
    assert talk.session_id == before
    assert "there is no session 'nowhere'" in shown(talk)


async def test_the_greeting_says_which_session_and_which_model(talk: Talk) -> None:
    talk.app.warnings = ("the tool 'x' belongs to no agent",)
    greet(talk)
    assert f"session {talk.session_id} (new) · model scripted" in shown(talk)
    assert "sestet docs models" not in shown(talk)
    assert "the tool 'x' belongs to no agent" in shown(talk)


async def test_a_long_answer_is_recalled_in_part(talk: Talk) -> None:
    await ask(talk, talk.session_id, "count", "\n".join(map(str, range(1, 31))))
    greet(talk)
    assert "… 24 more lines" in shown(talk)


async def test_a_stopped_turn_is_recalled_as_such(talk: Talk) -> None:
    talk.app.journal.append(TurnStarted(Stamp(talk.session_id, "t1", 1, "user", "", 1.0), "count"))
    talk.app.journal.append(TurnCancelled(Stamp(talk.session_id, "t1", 2, "user", "", 2.0)))
    greet(talk)
    assert shown(talk).rstrip().endswith("count\nStopped.")


async def test_session_names(talk: Talk) -> None:
    journal = talk.app.journal
    assert re.fullmatch(r"\d{8}-[0-9a-f]{4}", new_session_id(journal))
    assert last_session(journal) is None
    await ask(talk, "20261115-aaaa", "one", "1")
    await ask(talk, "20261116-aaaa", "two", "2")
    await ask(talk, "20261116-bbbb", "three", "3")
    assert name_session(journal, "bbbb") == "20261116-bbbb"
    assert find_session(journal, "aaaa") is None, "two sessions end so"
    assert name_session(journal, "mine") == "mine"
    newest = last_session(journal)
    assert newest is not None
    assert newest.id == "20261116-bbbb"
    for wrong in ("", "a b", "../x", "x" * 65, "a\x1b[31m"):
        with pytest.raises(PersonError, match="cannot be the name of a session"):
            name_session(journal, wrong)


async def test_a_turn_that_never_ended_is_shown_as_such(talk: Talk) -> None:
    # Only its beginning was written, as a killed process leaves it.
    talk.app.journal.append(TurnStarted(Stamp(talk.session_id, "t1", 1, "user", "", 1.0), "lost words"))
    run_slash(talk, "/history")
    assert "lost words" in shown(talk)
    assert "This turn has not ended." in shown(talk)


async def test_tools_without_an_owner_are_loud_and_agents_without_tools_quiet(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    async with sestet.open(
        {"browser": {"enabled": False}}, home=tmp_path, tools=[Tool("weather_get")]
    ) as app:
        print_tree(console, app)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    (loud,) = (line for line in lines if "weather_get" in line)
    assert "\x1b[1;31m" in loud
    (quiet,) = (line for line in lines if "navigator" in line)
    assert "\x1b[2mnavigator  not created: it has no tool here" in quiet
