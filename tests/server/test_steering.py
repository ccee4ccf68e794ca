"""Words are added to a running turn over HTTP, and refused with the way out for any other turn."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import sestet
from sestet.core.model import ModelItem, ModelRequest
from tests.server.served import serving
from tests.server.test_conversations import exec_send, read_turn, send, to_operator


class PatientModel(sestet.ScriptedModel):
    """Gives its first reply when it may."""

    def __init__(self, *replies: str) -> None:
        super().__init__(list(replies))
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.asked.set()
        await self.may_answer.wait()
        async for item in super().stream(request):
            yield item


async def test_words_reach_a_running_turn_once(tmp_path: Path) -> None:
    model = PatientModel("Five books.", "Two books.")
    async with serving(tmp_path, model=model) as served, served.client() as client:
        turn = (await send(served, "s1", "list the books"))["turn"]
        await model.asked.wait()
        words = {"text": "only the German ones", "key": "k"}
        first = await client.post(f"/api/turns/{turn}/steer", json=words)
        again = await client.post(f"/api/turns/{turn}/steer", json=words)
        model.may_answer.set()
        seen = await read_turn(served, turn)
        later = await client.post(f"/api/turns/{turn}/steer", json=words)

    assert [answer.status_code for answer in (first, again, later)] == [200, 200, 200]
    assert first.json()["state"] == "running"
    assert [event["text"] for event in seen if event["kind"] == "turn_steered"] == ["only the German ones"]
    assert seen[-1]["text"] == "Two books."


async def test_a_turn_that_does_not_run_answers_with_the_way_out(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "bob"}))
    async with serving(tmp_path, *replies, "Hello!", tools=[exec_send]) as served, served.client() as client:
        paused = (await send(served, "s1", "send a note to bob"))["turn"]
        await read_turn(served, paused)
        ended = (await send(served, "s2", "hi"))["turn"]
        await read_turn(served, ended)
        answers = [
            await client.post(f"/api/turns/{turn}/steer", json={"text": "x"}) for turn in (paused, ended)
        ]
        unknown = await client.post("/api/turns/none/steer", json={"text": "x"})
        empty = await client.post(f"/api/turns/{ended}/steer", json={"text": " "})

    assert [answer.status_code for answer in (*answers, unknown, empty)] == [409, 409, 404, 400]
    waits, over = (answer.json()["error"] for answer in answers)
    assert (waits["message"], "POST /api/approvals" in waits["way_out"]) == (
        "the turn waits for a decision",
        True,
    )
    assert (over["message"], "send it as a message" in over["way_out"]) == (
        "the turn has already finished",
        True,
    )


async def test_a_turn_in_the_queue_and_one_of_a_chosen_specialist_take_no_words(tmp_path: Path) -> None:
    model = PatientModel("one", "two")
    async with serving(tmp_path, model=model) as served, served.client() as client:
        running = (await send(served, "s1", "first", agent="operator"))["turn"]
        queued = (await send(served, "s1", "second"))["turn"]
        await model.asked.wait()
        answers = [
            await client.post(f"/api/turns/{turn}/steer", json={"text": "x"}) for turn in (running, queued)
        ]
        model.may_answer.set()
        await read_turn(served, queued)

    assert [answer.status_code for answer in answers] == [409, 409]
    chosen, waiting = (answer.json()["error"]["message"] for answer in answers)
    assert "answers this turn alone" in chosen
    assert waiting == "the turn has not begun"


async def test_a_token_that_only_reads_adds_no_words(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(served.new_token("read")) as client:
        answer = await client.post("/api/turns/none/steer", json={"text": "x"})
    assert answer.status_code == 403


async def test_a_turn_that_answers_a_caller_takes_no_words_of_the_owner(tmp_path: Path) -> None:
    model = PatientModel("Hello.")
    async with serving(tmp_path, model=model) as served, served.client() as client:
        turn = served.server.host.turns.accept("caller:1", "hi", caller="peer").turn_id
        await model.asked.wait()
        added = await client.post(f"/api/turns/{turn}/steer", json={"text": "our code is 1234"})
        model.may_answer.set()
        await read_turn(served, turn)

    assert added.status_code == 409
    assert "somebody else" in added.json()["error"]["message"]
