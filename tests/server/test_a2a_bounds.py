"""What a caller over A2A may use, and where their tasks may be told about."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.types import Message, Part, Role, TaskPushNotificationConfig
from a2a.utils.errors import A2AError, InvalidParamsError, UnsupportedOperationError

import sestet
from sestet.core.errors import PersonError
from sestet.server.a2a.callers import CallerLimits, Callers
from sestet.services.sessions import last_session, name_session, require_session
from sestet.services.tokens import Tokens
from sestet.storage.accepted_messages import AcceptedMessages
from sestet.storage.callers import CallerStore
from sestet.storage.database import Database
from tests.server.a2a_client import DONE, a2a_client, ask, message
from tests.server.served import serving


class Told:
    """A server that takes notifications, and answers with any status."""

    def __init__(self) -> None:
        self.place = ""
        self.got = asyncio.Queue[tuple[str, dict[str, Any]]]()

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator["Told"]:
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        async with server:
            self.place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield self

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
        body = await reader.readexactly(int(length.partition(":")[2]))
        await self.got.put((head, json.loads(body)))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()


def settings(*hosts: str) -> dict[str, object]:
    return {"a2a": {"server": {"enabled": True, "pushHosts": list(hosts)}}}


async def test_an_allowed_host_is_told_how_a_task_goes(tmp_path: Path) -> None:
    async with (
        Told().listening() as told,
        serving(tmp_path, "Done.", settings=settings(told.place)) as served,
        a2a_client(served, served.new_token("a2a"), streaming=False) as client,
    ):
        request = message("hi")
        config = TaskPushNotificationConfig(url=f"http://{told.place}/hook", token="T-1")
        request.configuration.task_push_notification_config.CopyFrom(config)
        task = await ask(client, request)
        async with asyncio.timeout(20):
            got = [await told.got.get() for _ in range(3)]

    assert task.status.state == DONE
    assert all("x-a2a-notification-token: T-1" in head for head, _ in got)
    assert {body["statusUpdate"]["taskId"] for _, body in got if "statusUpdate" in body} == {task.id}
    ends = [body["statusUpdate"]["status"]["state"] for _, body in got if "statusUpdate" in body]
    assert sorted(ends) == ["TASK_STATE_COMPLETED", "TASK_STATE_WORKING"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://allowed.example.evil/",
        "http://allowed.example@evil.example/",
        "https://allowed.example:8443/",
        "file:///etc/passwd",
        "http://[",
    ],
)
async def test_no_other_host_is_told(tmp_path: Path, url: str) -> None:
    async with serving(tmp_path, settings=settings("allowed.example")) as served:
        async with a2a_client(served, served.new_token("a2a")) as client:
            request = message("hi")
            request.configuration.task_push_notification_config.CopyFrom(TaskPushNotificationConfig(url=url))
            with pytest.raises(InvalidParamsError, match="does not allow this host"):
                await ask(client, request)

        assert served.app.journal.sessions(9) == []


@pytest.mark.parametrize(
    ("limits", "context", "told"),
    [
        (CallerLimits(open_tasks=2), "new", "2 of your tasks are open"),
        (CallerLimits(conversations_a_day=1), "new", "1 contexts within a day"),
        (CallerLimits(tasks_in_conversation=2), "first", "this context has had 2 tasks"),
        (CallerLimits(), "x" * 201, "at most 200 characters"),
    ],
    ids=["open", "a day", "tasks", "name"],
)
async def test_a_caller_is_bounded(tmp_path: Path, limits: CallerLimits, context: str, told: str) -> None:
    database = Database(tmp_path / "sestet.db")
    tokens, store = Tokens(database), CallerStore(database)
    token = tokens.find(tokens.new("peer", "a2a"))
    assert token is not None
    callers, accepted = Callers(store, limits), AcceptedMessages(database)

    def send(context_id: str, message_id: str) -> str:
        sent = Message(role=Role.ROLE_USER, message_id=message_id, parts=[Part(text="hi")])
        sent.context_id = context_id
        session_id = callers.session_for(token, sent)
        facts = (f"turn {message_id}", session_id, message_id, "hi")
        accepted.add(*facts, mine=False, can_ask=True, agent="", caller="peer")
        return session_id

    first = send("first", "m1")
    assert send("first", "m2") == first
    # The same message again is nothing new.
    assert send("first", "m2") == first
    with pytest.raises(A2AError, match=told) as refused:
        send(context, "m3")
    database.close()
    assert isinstance(refused.value, (UnsupportedOperationError, InvalidParamsError))


async def test_the_sessions_of_a_caller_go_with_their_rows(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello.", settings=settings("127.0.0.1:1")) as served:
        async with a2a_client(served, served.new_token("a2a")) as client, served.client() as owner:
            request = message("hi")
            config = TaskPushNotificationConfig(url="http://127.0.0.1:1/")
            request.configuration.task_push_notification_config.CopyFrom(config)
            await ask(client, request)
            (row,) = served.app.journal.sessions(9)
            await owner.delete(f"/api/sessions/{row.id}")
        tables = ("caller_sessions", "push_targets", "accepted_messages")
        left = [served.app.database.execute(f"SELECT * FROM {table}") for table in tables]  # noqa: S608

    assert left == [[], [], []]


async def test_a_callers_sessions_are_not_observed(tmp_path: Path) -> None:
    memory = {"observationalMemory": {"enabled": True, "observeTokens": 50}}
    long = "The tea of the caller is green. " * 40
    async with sestet.open(memory, model=sestet.ScriptedModel([long, long]), home=tmp_path) as app:
        async for _ in app.runner.run_turn("caller:1", long, caller="peer"):
            pass
        await app.ask(long, "own")
    database = Database(tmp_path / "sestet.db")
    observed = [name for (name,) in database.execute("SELECT session_id FROM observed")]
    database.close()

    assert observed == ["own"]


async def test_a_revoked_caller_is_told_nothing_more(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello.", settings=settings("127.0.0.1:1")) as served:
        async with a2a_client(served, served.new_token("a2a", "peer")) as client:
            request = message("hi")
            config = TaskPushNotificationConfig(url="http://127.0.0.1:1/")
            request.configuration.task_push_notification_config.CopyFrom(config)
            task = await ask(client, request)
        store = CallerStore(served.app.database)
        before = store.targets(task.id)
        served.server.host.tokens.revoke("peer")

        assert len(before) == 1
        assert store.targets(task.id) == []


async def test_the_owner_does_not_talk_where_others_read_by_mistake(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Yours.", "Theirs.", "A program's."])
    async with sestet.open({}, model=model, home=tmp_path) as app:
        await app.ask("hello", "own")
        async for _ in app.runner.run_turn("caller:1", "hello", caller="peer"):
            pass
        async for _ in app.runner.run_turn("mcp-work", "hello", mine=False):
            pass
        last = last_session(app.journal)

        assert last is not None
        assert [last.id, name_session(app.journal, "last"), require_session(app.journal, "last").id] == (
            ["own"] * 3
        )
        # An MCP client chose the name 'work', and the person does not mean its conversation.
        assert name_session(app.journal, "work") == "work"
        for name in ("mcp-work", "mcp-notes", "caller:1"):
            with pytest.raises(PersonError, match="they read what is said in it"):
                await app.ask("my secret plan", name)
