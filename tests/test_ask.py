"""``app.ask``: one message, one answer; and what the library refuses as a message or a session id."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import sestet
from sestet.core.agent import TRANSFER
from sestet.core.errors import PersonError
from sestet.core.model import Usage
from sestet.services.sessions import name_session


async def test_ask_returns_the_answer_of_a_whole_turn(tmp_path: Path) -> None:
    reply = sestet.ModelReply("Boil water.", usage=Usage(input_tokens=7, output_tokens=3))
    async with sestet.open({}, model=sestet.ScriptedModel([reply]), home=tmp_path) as app:
        answer = await app.ask("how do I make tea?", "kitchen")

        assert (answer.text, str(answer), answer.outcome) == ("Boil water.", "Boil water.", "finished")
        assert (answer.session_id, answer.agent, answer.usage) == ("kitchen", "orchestrator", reply.usage)
        assert app.journal.turn(answer.turn_id) is not None


async def test_ask_without_a_session_begins_a_new_one_each_time(tmp_path: Path) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(["One.", "Two."]), home=tmp_path) as app:
        first, second = await app.ask("hello"), await app.ask("hello")

    assert first.session_id != second.session_id


async def test_ask_names_the_calls_that_were_denied_or_wait(tmp_path: Path) -> None:
    @sestet.tool(risk="guarded", reads=(), effect="local", recovery="keyed", targets=("path",))
    async def fs_touch(path: str) -> str:
        """Make an empty file."""
        return path

    transfer = sestet.ToolCall(TRANSFER, {"agent_name": "operator", "request": "make a.txt", "reply": True})
    touch = sestet.ToolCall("fs_touch", {"path": "a.txt"})
    model = sestet.ScriptedModel([transfer, touch, "It was denied.", transfer, touch])
    async with sestet.open({}, model=model, home=tmp_path, tools=[fs_touch]) as app:
        denied = await app.ask("make a.txt")
        waits = await app.ask("make a.txt", can_ask=True)

        assert (denied.outcome, denied.denied, denied.waiting_for) == ("finished", ("fs_touch",), ())
        assert (waits.outcome, waits.text, waits.denied) == ("paused", "", ())
        assert waits.waiting_for == tuple(question.id for question in app.approvals.pending())


async def test_ask_says_why_a_turn_failed(tmp_path: Path) -> None:
    settings = {"limits": {"modelCalls": 1}}
    transfer = sestet.ToolCall(TRANSFER, {"agent_name": "planner", "request": "plan tea"})
    async with sestet.open(settings, model=sestet.ScriptedModel([transfer]), home=tmp_path) as app:
        answer = await app.ask("plan tea")

    assert answer.outcome == "failed"
    assert answer.text.startswith("I could not answer: ")


@pytest.mark.parametrize(
    ("session_id", "text", "problem"),
    [
        ("s1", 5, "the message must be a text (str), not int"),
        ("s1", b"hello", "the message must be a text (str), not bytes"),
        ("s1", None, "the message must be a text (str), not NoneType"),
        (7, "hello", "the session id must be a text (str), not int"),
    ],
)
async def test_a_message_or_a_session_id_that_is_no_text_is_a_type_error_at_once(
    tmp_path: Path, session_id: Any, text: Any, problem: str
) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(), home=tmp_path) as app:
        with pytest.raises(TypeError, match=re.escape(problem)):
            app.run_turn(session_id, text)
        with pytest.raises(TypeError, match=re.escape(problem)):
            await app.ask(text, session_id)


@pytest.mark.parametrize("name", ["", "a session", "../x", "a" * 65, "last", "tea\n"])
async def test_the_library_takes_the_names_of_sessions_that_the_command_line_takes(
    tmp_path: Path, name: str
) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(), home=tmp_path) as app:
        with pytest.raises(PersonError, match="session"):
            app.run_turn(name, "hello")
        if name != "last":
            with pytest.raises(PersonError, match="session"):
                name_session(app.journal, name)


async def test_a_session_of_an_earlier_version_keeps_its_odd_name(tmp_path: Path) -> None:
    async with sestet.open({}, model=sestet.ScriptedModel(["One."]), home=tmp_path) as app:
        await app.ask("hello", "plain")
    with sqlite3.connect(tmp_path / "sestet.db") as connection:
        connection.execute("UPDATE sessions SET id = 'a session'")
        connection.execute("UPDATE turns SET session_id = 'a session'")
    connection.close()

    async with sestet.open({}, model=sestet.ScriptedModel(["Two."]), home=tmp_path) as app:
        assert (await app.ask("hello again", "a session")).text == "Two."
