"""A read that takes long goes on beside the turns."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import httpx2
import pytest

import sestet
from sestet.storage.extractions import ExtractionStore
from sestet.storage.file_changes import FileChangeStore
from tests.server.served import Served, serving
from tests.server.test_conversations import to_operator
from tests.server.test_sessions import talk

#: A read that never ends would otherwise hold the tests for ever.
_PATIENCE = 20.0
_Read: TypeAlias = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]


async def order_of(
    served: Served, store: type, method: str, read: _Read, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What ended first: a turn, or a read whose query takes until the turn has ended."""
    order: list[str] = []
    begun, may_end = asyncio.Event(), Event()
    loop, query = asyncio.get_running_loop(), getattr(store, method)

    def slow(*values: Any, **named: Any) -> object:  # Any: as the query takes them
        loop.call_soon_threadsafe(begun.set)
        may_end.wait(_PATIENCE)
        return query(*values, **named)

    async def answer() -> None:
        async with served.client() as client:
            assert (await read(client)).status_code == 200
        order.append("read")

    monkeypatch.setattr(store, method, slow)
    reading = asyncio.create_task(answer())
    await begun.wait()
    await talk(served, "other", "hi")
    order.append("turn")
    may_end.set()
    await reading
    return order


async def test_a_slow_read_of_proposals_does_not_hold_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, "Hello!") as served:
        order = await order_of(
            served,
            ExtractionStore,
            "open_proposals",
            lambda client: client.get("/api/graph/proposals"),
            monkeypatch,
        )

    assert order == ["turn", "read"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_slow_undo_does_not_hold_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    write = sestet.ToolCall("fs_write", {"path": "tea.txt", "text": "green"})
    replies = (to_operator("write"), write, "Written.", "Hello!")
    async with serving(tmp_path / "home", *replies) as served, served.client() as client:
        await talk(served, "s1", "write green into tea.txt")
        (changes,) = (await client.get("/api/changes")).json()["changes"]
        path = f"/api/changes/{changes['id']}/undo"
        order = await order_of(
            served, FileChangeStore, "require_set", lambda client: client.request(method, path), monkeypatch
        )

    assert order == ["turn", "read"]
