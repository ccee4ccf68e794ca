"""The one stream of everything: events of all sessions, changes by others, and readers that are too slow."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import sestet
from sestet.detached.news import News
from sestet.services.session_deletion import SessionDeletion
from sestet.storage.clipping import LONGEST
from sestet.storage.database import Database
from sestet.storage.session_log import SessionLog
from tests.server.served import SETTINGS, Served, serving
from tests.server.test_conversations import events, exec_send, send, to_operator
from tests.server.test_journal import LONG, exec_log
from tests.server.test_sessions import talk

#: Only a bound, for a message that never comes.
PATIENCE = 20.0
Messages: TypeAlias = AsyncGenerator[dict[str, Any]]


@asynccontextmanager
async def following(served: Served, token: str | None = None) -> AsyncGenerator[Messages]:
    """A reader of everything, which is connected."""
    async with (
        asyncio.timeout(PATIENCE),
        served.client(token) as client,
        client.stream("GET", "/api/stream") as response,
    ):
        reader = events(response)
        hello = await anext(reader)
        assert (hello["kind"], hello["version"]) == ("hello", sestet.__version__)
        assert hello["started_at"] > 0
        yield reader


async def until(reader: Messages, kind: str, session: str) -> list[dict[str, Any]]:
    """Everything up to a message of a kind about a session."""
    seen: list[dict[str, Any]] = []
    async for message in reader:
        seen.append(message)
        if (message["kind"], message["session"]) == (kind, session):
            return seen
    raise AssertionError(f"the stream ended before {kind} of {session}")


async def test_a_reader_gets_the_events_of_every_session_as_the_journal_has_them(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "one", "two") as served,
        following(served, served.new_token("read")) as reader,
    ):
        await send(served, "s1", "a")
        first = await until(reader, "turn_finished", "s1")
        await send(served, "s2", "b")
        second = await until(reader, "turn_finished", "s2")
        async with served.client() as client:
            recorded = (await client.get("/api/sessions/s2/journal")).json()["events"]

    assert {message["session"] for message in first} == {"s1"}
    assert [each for each in second if each in recorded] == recorded


async def test_long_texts_are_cut(tmp_path: Path) -> None:
    replies = (to_operator("read"), sestet.ToolCall("exec_log", {}), "Read.")
    async with serving(tmp_path, *replies, tools=[exec_log]) as served, following(served) as reader:
        await send(served, "s1", "read the log")
        *_, finished = await until(reader, "tool_finished", "s1")

    assert (len(finished["text"]), finished["clipped"]) == (LONGEST, {"text": len(LONG)})


async def test_a_queued_message_a_new_title_and_a_deletion_are_told(tmp_path: Path) -> None:
    async with serving(tmp_path, "one") as served, served.client() as client, following(served) as reader:
        await send(served, "s1", "a")
        assert (await anext(reader))["kind"] == "session_changed"
        await until(reader, "turn_finished", "s1")
        await client.patch("/api/sessions/s1", json={"title": "tea"})
        renamed = await anext(reader)
        await client.delete("/api/sessions/s1")
        deleted = await anext(reader)

    assert renamed == {"kind": "session_changed", "session": "s1"}
    assert deleted == {"kind": "session_deleted", "session": "s1"}


async def test_a_turn_that_is_given_up_is_told(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        turn = await talk(served, "s1", "send a note to carol")
        async with following(served) as reader:
            await client.post(f"/api/turns/{turn}/abandon")
            told = await anext(reader)

    assert told == {"kind": "session_changed", "session": "s1"}


async def test_sessions_that_another_process_changes_are_told_and_no_others(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as served:
        await talk(served, "quiet", "a")
        await talk(served, "renamed", "b")
        model = sestet.ScriptedModel(["three"])
        async with (
            following(served) as reader,
            sestet.open(SETTINGS, model=model, home=tmp_path) as other,
        ):
            async with aclosing(other.run_turn("theirs", "c")) as turn:
                async for _ in turn:
                    pass
            theirs = await until(reader, "session_changed", "theirs")
            other.journal.rename_session("renamed", "tea")
            renamed = await until(reader, "session_changed", "renamed")
            row = other.journal.session("theirs")
            assert row
            await SessionDeletion(other.database).delete(row, with_memories=False)
            deleted = await until(reader, "session_deleted", "theirs")

    told = [*theirs, *renamed, *deleted]
    assert {message["session"] for message in told} == {"theirs", "renamed"}


async def test_own_events_are_not_told_again_as_a_change_of_another_process(tmp_path: Path) -> None:
    async with serving(tmp_path, "one") as served, following(served) as reader:
        news = served.server.host.turns.feeds.news
        await send(served, "s1", "a")
        await until(reader, "turn_finished", "s1")
        await news.look()
        news.changed("s2")
        told = await anext(reader)

    assert told == {"kind": "session_changed", "session": "s2"}


async def test_a_reader_that_is_too_slow_is_let_go_and_the_others_miss_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.detached.news._HELD", 3)
    news = News(SessionLog(database := Database(tmp_path / "sestet.db")))
    async with asyncio.timeout(PATIENCE), aclosing(news.follow()) as slow, aclosing(news.follow()) as quick:
        await anext(slow)
        await anext(quick)
        got = 0
        for number in range(10):
            news.changed(f"s{number}")
            got += len(await anext(quick))
        rest = [messages async for messages in slow]
    database.close()

    assert (got, rest) == (10, [])
    assert not news.readers


async def test_messages_held_for_readers_have_a_bound_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sestet.detached.news._HELD_BYTES", 1000)
    news = News(SessionLog(database := Database(tmp_path / "sestet.db")))
    async with asyncio.timeout(PATIENCE), aclosing(news.follow()) as slow:
        await anext(slow)
        for number in range(100):
            news.changed(f"s{number}")
        assert [messages async for messages in slow] == []
    database.close()


async def test_a_token_that_only_talks_does_not_follow_everything(tmp_path: Path) -> None:
    async with (
        serving(tmp_path) as served,
        served.client(served.new_token("chat")) as client,
        client.stream("GET", "/api/stream") as refused,
    ):
        assert refused.status_code == 403
