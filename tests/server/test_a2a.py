"""The A2A server, driven by the kit's own client: discovery, messages, tasks, and whom a caller is not."""

import json
from pathlib import Path

import pytest
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError

import sestet
from sestet.core.event import ApprovalRequested, TurnStarted
from sestet.core.label import CLEAN, Origin
from sestet.core.record import replace
from sestet.storage.journal import Journal
from sestet.storage.memories import MemoryStore
from tests.server.a2a_client import DONE, ON, WAITS, a2a_client, answer_of, ask, message
from tests.server.served import serving
from tests.server.test_conversations import exec_send, to_operator
from tests.server.test_openai import exec_clock
from tests.services.mcp.world import World, program


def started(journal: Journal) -> list[TurnStarted]:
    rows = journal.sessions(99)
    events = [event for row in rows for event in journal.session_events(row.id, ("turn_started",), 99)]
    return [event for event in events if isinstance(event, TurnStarted)]


async def test_the_card_needs_no_token_and_has_a_skill_for_each_specialist(tmp_path: Path) -> None:
    async with serving(tmp_path, settings=ON) as served, served.client("") as client:
        response = await client.get("/.well-known/agent-card.json")
        names = [agent.name for agent in served.app.root.sub_agents]
        tools = [tool.name for tool in served.app.tools]

    card = response.json()
    assert response.status_code == 200
    assert [skill["id"] for skill in card["skills"]] == names
    assert not [tool for tool in tools if tool in response.text]
    assert {each["protocolVersion"] for each in card["supportedInterfaces"]} == {"1.0", "0.3"}
    assert all(each["url"].startswith(served.url) for each in card["supportedInterfaces"])
    assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"


async def test_the_card_tells_nothing_of_the_owners_mcp_servers(tmp_path: Path) -> None:
    entry = replace(program("hostile"), about="the books of my divorce lawyer")
    await World(tmp_path).trust(lawyer=entry)
    server = {"command": entry.command, "args": list(entry.args), "agent": entry.agent, "about": entry.about}
    settings = ON | {"mcpServers": {"lawyer": server}}
    async with serving(tmp_path / "data", settings=settings) as served, served.client("") as client:
        names = [tool.name for tool in served.app.tools]
        card = (await client.get("/.well-known/agent-card.json")).text

    assert "lawyer__look" in names
    assert "lawyer" not in card
    assert "Capabilities: " in card


async def test_without_the_setting_there_is_no_a2a(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        responses = [await client.get("/.well-known/agent-card.json"), await client.post("/a2a", json={})]

    assert [response.status_code for response in responses] == [404, 404]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_message_becomes_a_task_with_an_answer(tmp_path: Path, binding: str, streaming: bool) -> None:
    model = sestet.ScriptedModel(["Hello to you!"], chunk=5)
    async with (
        serving(tmp_path, model=model, settings=ON) as served,
        a2a_client(served, served.new_token("a2a"), binding, streaming=streaming) as client,
    ):
        task = await ask(client, message("hi"))
        again = await client.get_task(GetTaskRequest(id=task.id))

    assert task.status.state == again.status.state == DONE
    assert answer_of(task) == answer_of(again) == "Hello to you!"
    assert len(task.artifacts) == (3 if streaming else 1)
    assert [part.text for part in again.history[0].parts] == ["hi"]


async def test_a_callers_words_are_untrusted_and_their_session_is_their_own(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "one", "two", settings=ON) as served,
        a2a_client(served, served.new_token("a2a", "peer")) as client,
        served.client() as owner,
    ):
        task = await ask(client, message("hi", context_id="demo"))
        more = await ask(client, message("go on", context_id="demo"))
        (first, second) = started(served.app.journal)
        body = {"text": "my PIN is 4711"}
        refused = await owner.post(f"/api/sessions/{first.stamp.session_id}/messages", json=body)

    assert (task.context_id, more.context_id) == ("demo", "demo")
    assert first.stamp.session_id == second.stamp.session_id != "demo"
    assert (first.mine, first.caller, first.label.sources) == (False, "peer", ("the caller peer",))
    assert refused.status_code == 400
    assert "a caller's session" in refused.json()["error"]["message"]


async def test_a_message_that_is_sent_again_is_the_same_task(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "once", settings=ON) as served,
        a2a_client(served, served.new_token("a2a")) as client,
    ):
        tasks = [await ask(client, message("hi", message_id="m1")) for _ in range(2)]

    assert tasks[0].id == tasks[1].id
    assert [answer_of(task) for task in tasks] == ["once", "once"]


async def test_a_caller_cannot_see_anybody_elses_tasks(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "for me", "for you", settings=ON) as served,
        a2a_client(served, served.new_token("a2a", "me")) as mine,
        a2a_client(served, served.new_token("a2a", "you")) as yours,
    ):
        task = await ask(mine, message("hi", context_id="shared"))
        other = await ask(yours, message("hi", context_id="shared"))
        for request in (
            yours.get_task(GetTaskRequest(id=task.id)),
            yours.cancel_task(CancelTaskRequest(id=task.id)),
            anext(yours.subscribe(SubscribeToTaskRequest(id=task.id))),
            ask(yours, message("more", task_id=task.id)),
        ):
            with pytest.raises(TaskNotFoundError):
                await request
        listed = await yours.list_tasks(ListTasksRequest())
        sessions = {event.stamp.session_id for event in started(served.app.journal)}

    assert [each.id for each in listed.tasks] == [other.id]
    assert len(sessions) == 2


async def test_a_token_for_a2a_opens_nothing_else(tmp_path: Path) -> None:
    async with serving(tmp_path, settings=ON) as served:
        token = served.new_token("a2a")
        async with served.client(token) as caller, served.client(served.new_token("chat")) as chat:
            paths = ("/api/sessions", "/api/approvals", "/api/stream", "/metrics", "/v1/models")
            closed = [(await caller.get(path)).status_code for path in paths]
            talk = await caller.post("/api/sessions", json={"text": "hi"})
            refused = await chat.post("/a2a", json={})
            async with served.client("") as nobody:
                unknown = [(await nobody.post(path, json={})).status_code for path in ("/a2a", "/")]

    assert set(closed) == {403}
    assert (talk.status_code, refused.status_code) == (403, 403)
    assert unknown == [401, 401]
    assert "--scope a2a" in refused.json()["error"]["way_out"]


async def test_the_owner_decides_about_a_callers_call(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Sent.")
    async with (
        serving(tmp_path, *replies, tools=[exec_send], settings=ON) as served,
        a2a_client(served, served.new_token("a2a", "peer")) as client,
        served.client() as owner,
    ):
        task = await ask(client, message("send a note to carol"))
        (question,) = (await owner.get("/api/approvals")).json()["approvals"]
        waiting = client.subscribe(SubscribeToTaskRequest(id=task.id))
        assert (await anext(waiting)).task.status.state == WAITS
        always = {"decision": "approve", "scope": "always"}
        refused = await owner.post(f"/api/approvals/{question['id']}", json=always)
        await owner.post(f"/api/approvals/{question['id']}", json={"decision": "approve"})
        rest = [update async for update in waiting]
        done = await client.get_task(GetTaskRequest(id=task.id))

    assert task.status.state == WAITS
    assert "owner" in task.status.message.parts[0].text
    assert question["sources"] == ["the caller peer"]
    assert "'peer' asks for it" in question["reason"]
    assert refused.status_code == 400
    assert rest[-1].status_update.status.state == DONE
    assert answer_of(done) == "Sent."


async def test_a_harmless_tool_is_asked_about_too_unless_the_settings_name_it(tmp_path: Path) -> None:
    states = list[TaskState]()
    for number, tools in enumerate(([], ["exec_cl*"])):
        replies = (to_operator("what time is it"), sestet.ToolCall("exec_clock", {}), "It is noon.")
        settings: dict[str, object] = {"a2a": {"server": {"enabled": True, "tools": tools}}}
        async with (
            serving(
                tmp_path / str(number), *replies[: 2 + number], tools=[exec_clock], settings=settings
            ) as served,
            a2a_client(served, served.new_token("a2a")) as client,
        ):
            task = await ask(client, message("what time is it?"))
            states.append(task.status.state)

    assert states == [WAITS, DONE]


async def test_an_answer_that_the_owner_gave_for_good_does_not_hold_for_a_caller(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Sent.")
    async with (
        serving(tmp_path, *replies, *replies[:2], tools=[exec_send], settings=ON) as served,
        a2a_client(served, served.new_token("a2a")) as client,
    ):
        turn = served.app.run_turn("own", "send a note to the usual one", mine=False)
        asked = [event async for event in turn if isinstance(event, ApprovalRequested)]
        served.app.decide(asked[0].approval_id, "approve", "always")
        async for _ in served.app.resume_turn(asked[0].stamp.turn_id):
            pass
        task = await ask(client, message("send a note to carol"))

    assert task.status.state == WAITS


async def test_memories_of_the_owner_are_not_recalled_for_a_caller(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["I do not know.", "It is CANARY."])
    settings = ON | {"observationalMemory": {"enabled": True}}
    async with (
        serving(tmp_path, model=model, settings=settings) as served,
        a2a_client(served, served.new_token("a2a")) as client,
    ):
        MemoryStore(served.app.database).add("My favourite colour is CANARY", Origin("s", "t", CLEAN))
        await ask(client, message("what is my favourite colour?"))
        await served.app.ask("what is my favourite colour?")

    assert ["CANARY" in str(request) for request in model.requests] == [False, True]


async def test_a_task_is_cancelled_once(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with (
        serving(tmp_path, *replies, tools=[exec_send], settings=ON) as served,
        a2a_client(served, served.new_token("a2a")) as client,
    ):
        task = await ask(client, message("send a note to carol"))
        cancelled = await client.cancel_task(CancelTaskRequest(id=task.id))
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id))

    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED


async def test_a_task_survives_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, "Noted.", settings=ON) as served:
        token = served.new_token("a2a")
        async with a2a_client(served, token) as client:
            task = await ask(client, message("hi"))
    async with serving(tmp_path, settings=ON) as served, a2a_client(served, token) as client:
        again = await client.get_task(GetTaskRequest(id=task.id))
        listed = await client.list_tasks(ListTasksRequest(include_artifacts=True))

    assert (again.status.state, answer_of(again)) == (DONE, "Noted.")
    assert [answer_of(each) for each in listed.tasks] == ["Noted."]


@pytest.mark.parametrize("path", ["/", "/a2a"])
async def test_a_client_of_version_0_3_is_answered_too(tmp_path: Path, path: str) -> None:
    sent = {"messageId": "m1", "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "hi"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": sent}}
    async with (
        serving(tmp_path, "Hello!", settings=ON) as served,
        served.client(served.new_token("a2a")) as client,
    ):
        answer = (await client.post(path, json=body)).json()["result"]
        query = {"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"id": answer["id"]}}
        again = (await client.post(path, json=query)).json()["result"]

    assert (answer["kind"], answer["status"]["state"]) == ("task", "completed")
    assert answer["artifacts"][0]["parts"][0]["text"] == "Hello!"
    assert again["status"]["state"] == "completed"


async def test_what_cannot_be_done_is_told_without_a_stack(tmp_path: Path) -> None:
    def request(method: str, **params: object) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    picture = {"messageId": "m", "role": "ROLE_USER", "parts": [{"url": "http://x/y.png"}]}
    long = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x" * 33_000}]}
    push = {"taskId": "t", "url": "http://127.0.0.1:1/"}
    async with (
        serving(tmp_path, settings=ON) as served,
        served.client(served.new_token("a2a"), **{"A2A-Version": "1.0"}) as client,
    ):
        bodies: tuple[object, ...] = (
            request("SendMessage", message=picture),
            request("SendMessage", message=long),
            request("GetTask", id="nothing"),
            request("CreateTaskPushNotificationConfig", **push),
            request("Nonsense"),
            [],
        )
        answers = [(await client.post("/a2a", json=body)).json() for body in bodies]

    assert [answer["error"]["code"] for answer in answers] == [-32005, -32602, -32001, -32003, -32601, -32600]
    assert "33,000 characters" in answers[1]["error"]["message"]
    assert "Traceback" not in json.dumps(answers)
