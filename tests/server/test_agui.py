"""AG-UI over HTTP: its own models check every event, its validator and its client judge whole runs."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Event, RunAgentInput, UserMessage
from ag_ui_validate.pytest_plugin import assert_valid_agui
from pydantic import TypeAdapter

import sestet
from sestet.core.errors import ModelError
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta
from tests.server.served import Served, serving
from tests.server.test_conversations import exec_send, to_operator
from tests.server.test_openai import exec_clock

CLIENT = Path(__file__).parent / "agui_client"
EVENT: TypeAdapter[Any] = TypeAdapter(Event)  # Any: a union of every event
Json = dict[str, Any]  # Any: JSON


def run_input(text: str, thread: str = "t1", run: str = "r1", **more: object) -> Json:
    message = UserMessage(id="m1", role="user", content=text)
    given = RunAgentInput(thread_id=thread, run_id=run, messages=[message], tools=[], context=[], state={})
    return given.model_dump(mode="json", by_alias=True) | more


async def run_events(served: Served, body: Json, token: str | None = None) -> list[Json]:
    """The events of one run, each of which the protocol's own models have accepted."""
    async with served.client(token) as client, client.stream("POST", "/agui", json=body) as response:
        assert response.status_code == 200, await response.aread()
        lines = [line.removeprefix("data: ") async for line in response.aiter_lines()]
    found = [json.loads(line) for line in lines if line.startswith("{")]
    for event in found:
        read = EVENT.validate_python(event)
        assert not read.model_extra, event
    assert_valid_agui(found, max_warnings=0)
    return found


def kinds(events: list[Json]) -> list[str]:
    return [event["type"] for event in events]


def one(events: list[Json], kind: str) -> Json:
    (found,) = [event for event in events if event["type"] == kind]
    return found


async def test_an_answer_is_streamed_as_a_message(tmp_path: Path) -> None:
    model = sestet.ScriptedModel(["Hello to you!"], chunk=5)
    async with serving(tmp_path, model=model) as served:
        events = await run_events(served, run_input("hi"))

    assert kinds(events)[:2] == ["RUN_STARTED", "TEXT_MESSAGE_START"]
    assert "".join(each["delta"] for each in events if "delta" in each) == "Hello to you!"
    end = one(events, "RUN_FINISHED")
    assert (end["threadId"], end["runId"], end["outcome"]) == ("t1", "r1", {"type": "success"})
    assert (end["result"]["text"], end["result"]["session"]) == ("Hello to you!", "t1")
    assert end["usage"][0]["model"] == "scripted"
    assert end["usage"][0]["totalTokens"] > 0


async def test_a_run_that_waits_for_its_session_has_begun_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without it, the comment of a quiet stream would bring the first event too.
    monkeypatch.setattr("sestet.server.followed_turn._QUIET_SECONDS", 1000.0)
    called, may_end = asyncio.Event(), asyncio.Event()

    class Waiting:
        name = "waiting"

        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem]:
            called.set()
            await may_end.wait()
            yield ModelReply("Done.")

        async def close(self) -> None:
            pass

    async with serving(tmp_path, model=Waiting()) as served, served.client() as client:
        before = asyncio.create_task(run_events(served, run_input("first", run="r1")))
        await called.wait()
        async with client.stream("POST", "/agui", json=run_input("second", run="r2")) as response:
            lines = response.aiter_lines()
            async with asyncio.timeout(20):
                first = json.loads((await anext(lines)).removeprefix("data: "))
            may_end.set()
            rest = [line async for line in lines]
        await before

    assert (first["type"], first["runId"]) == ("RUN_STARTED", "r2")
    assert "RUN_FINISHED" in rest[-2]


async def test_a_delegation_is_a_sub_agent_with_its_calls_and_words(tmp_path: Path) -> None:
    replies = (to_operator("what time is it"), sestet.ToolCall("exec_clock", {}), "It is noon.")
    async with serving(tmp_path, *replies, tools=[exec_clock]) as served:
        events = await run_events(served, run_input("what time is it?"))

    assert kinds(events) == [
        "RUN_STARTED",
        "SUBAGENT_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "SUBAGENT_FINISHED",
        "RUN_FINISHED",
    ]
    started = one(events, "SUBAGENT_STARTED")
    assert started["name"] == "operator"
    assert {each["subagentRunId"] for each in events[1:-1]} == {started["subagentRunId"]}
    assert one(events, "TEXT_MESSAGE_START")["name"] == "operator"
    assert one(events, "TOOL_CALL_RESULT")["content"] == "noon"


async def test_an_approval_is_an_interrupt_and_a_run_resumes_it(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Sent.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        first = await run_events(served, run_input("send a note to carol"))
        (interrupt,) = one(first, "RUN_FINISHED")["outcome"]["interrupts"]
        answer = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}
        second = await run_events(served, run_input("send a note to carol", run="r2", resume=[answer]))
        async with served.client() as client:
            again = run_input("send a note to carol", run="r3", resume=[answer])
            refused = await client.post("/agui", json=again)

    assert one(first, "SUBAGENT_FINISHED")["outcome"] == {
        "type": "suspended",
        "interruptIds": [interrupt["id"]],
    }
    assert interrupt["toolCallId"] == one(first, "TOOL_CALL_START")["toolCallId"]
    assert interrupt["subagentRunId"] == one(first, "SUBAGENT_STARTED")["subagentRunId"]
    assert "carol" in interrupt["message"]
    assert interrupt["responseSchema"]["required"] == ["approved"]
    assert one(second, "SUBAGENT_STARTED")["name"] == "operator"
    assert one(second, "TOOL_CALL_RESULT")["toolCallId"] == interrupt["toolCallId"]
    end = one(second, "RUN_FINISHED")
    assert end["result"]["effects"]["sent"] == ["carol"]
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")


async def test_an_abandoned_interrupt_denies_the_call(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "I did not.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        first = await run_events(served, run_input("send a note to carol"))
        (interrupt,) = one(first, "RUN_FINISHED")["outcome"]["interrupts"]
        answer = {"interruptId": interrupt["id"], "status": "cancelled"}
        second = await run_events(served, run_input("send", run="r2", resume=[answer]))

    assert one(second, "TOOL_CALL_RESULT")["metadata"]["sestet"]["outcome"] == "denied"
    assert one(second, "RUN_FINISHED")["result"]["effects"]["sent"] == []


async def test_only_the_owner_resumes(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        chat = served.new_token("chat")
        first = await run_events(served, run_input("send a note to carol"), chat)
        (interrupt,) = one(first, "RUN_FINISHED")["outcome"]["interrupts"]
        answer = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}
        async with served.client(chat) as client:
            refused = await client.post("/agui", json=run_input("send", run="r2", resume=[answer]))
        (question,) = served.app.approvals.pending()

    assert (refused.status_code, question.state) == (403, "pending")


async def test_a_failed_turn_is_a_run_error(tmp_path: Path) -> None:
    async with serving(tmp_path, ModelError("no such account", "auth")) as served:
        events = await run_events(served, run_input("hi"))

    assert kinds(events) == ["RUN_STARTED", "RUN_ERROR"]
    assert events[-1]["message"]


async def test_a_specialist_that_declines_is_a_sub_agent_error(tmp_path: Path) -> None:
    replies = (to_operator("sing"), "[REJECT] I cannot sing.", "Nobody here can sing.")
    async with serving(tmp_path, *replies, tools=[exec_clock]) as served:
        events = await run_events(served, run_input("sing"))

    assert one(events, "SUBAGENT_ERROR")["code"] == "rejected"
    assert "subagentRunId" not in one(events, "TEXT_MESSAGE_CONTENT")
    assert one(events, "RUN_FINISHED")["result"]["text"] == "Nobody here can sing."


async def test_a_cancelled_turn_closes_everything(tmp_path: Path) -> None:
    called = asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait for ever."""
        called.set()
        await asyncio.Event().wait()
        return ""

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}))
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served:
        run = asyncio.create_task(run_events(served, run_input("wait")))
        await called.wait()
        served.app.cancel_turn("t1")
        events = await run

    assert one(events, "RUN_FINISHED")["outcome"] == {"type": "cancelled"}


class Talker:
    """A model that says a word and never ends its reply."""

    name = "talker"

    def __init__(self) -> None:
        self.spoke = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        yield TextDelta("Well")
        self.spoke.set()
        await asyncio.Event().wait()

    async def close(self) -> None: ...


async def test_a_turn_that_is_cancelled_while_it_speaks_closes_its_message(tmp_path: Path) -> None:
    talker = Talker()
    async with serving(tmp_path, model=talker) as served:
        run = asyncio.create_task(run_events(served, run_input("hi")))
        await talker.spoke.wait()
        served.app.cancel_turn("t1")
        events = await run

    assert kinds(events)[-2:] == ["TEXT_MESSAGE_END", "RUN_FINISHED"]


async def test_the_same_run_sent_twice_is_one_turn(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        first = await run_events(served, run_input("hi"))
        second = await run_events(served, run_input("hi"))

    assert one(first, "RUN_FINISHED")["result"] == one(second, "RUN_FINISHED")["result"]
    assert "".join(each.get("delta", "") for each in second) == "Hello!"


async def test_bad_runs_are_explained(tmp_path: Path) -> None:
    source = {"type": "url", "value": "http://x"}
    image = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    entry = {"interruptId": "none", "status": "resolved", "payload": {"approved": True}}
    bad: tuple[tuple[Json, int], ...] = (
        ({"messages": []}, 400),
        ({"messages": [{"id": "m", "role": "assistant", "content": "hi"}]}, 400),
        ({"messages": [{"id": "m", "role": "user", "content": image}]}, 400),
        ({"messages": [{"id": "m", "role": "user", "content": 3}]}, 400),
        ({"messages": [{"id": "m", "role": "user", "content": ""}]}, 400),
        ({"messages": "hi"}, 400),
        ({"threadId": "no name"}, 400),
        ({"threadId": 3}, 400),
        ({"runId": "r" * 300}, 400),
        ({"resume": [entry]}, 404),
        ({"resume": [entry | {"status": "maybe"}]}, 400),
    )
    async with serving(tmp_path) as served, served.client() as client:
        for change, status in bad:
            answer = await client.post("/agui", json=run_input("hi") | change)
            assert answer.status_code == status, (change, answer.text)
            assert answer.json()["error"]["message"]
        assert served.app.journal.sessions() == []


async def test_a_resume_entry_without_a_decision_is_explained(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, served.client() as client:
        first = await run_events(served, run_input("send a note to carol"))
        (interrupt,) = one(first, "RUN_FINISHED")["outcome"]["interrupts"]
        for payload in (None, "yes", {}, {"approved": "yes"}):
            entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}
            answer = await client.post("/agui", json=run_input("x", run="r2", resume=[entry]))
            assert (answer.status_code, answer.json()["error"]["way_out"][:4]) == (400, "send"), payload
        (question,) = served.app.approvals.pending()
    assert question.state == "pending"


async def test_a_run_goes_on_without_its_client(tmp_path: Path) -> None:
    called, may_end = asyncio.Event(), asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait."""
        called.set()
        await may_end.wait()
        return "done"

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}), "Done.")
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served:
        first = asyncio.create_task(run_events(served, run_input("wait")))
        await called.wait()
        first.cancel()
        await asyncio.wait((first,))
        may_end.set()
        events = await run_events(served, run_input("wait"))

    assert one(events, "RUN_FINISHED")["result"]["text"] == "Done."
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def drive(served: Served, *arguments: str) -> Json:
    """Run the official client."""
    node = shutil.which("node")
    if node is None or not (CLIENT / "node_modules" / "@ag-ui").is_dir():
        pytest.skip("the AG-UI client needs npm: 'make setup' installs it")
    command = (node, str(CLIENT / "drive.mjs"), f"{served.url}/agui", served.token, *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return json.loads(out)


async def test_the_official_client_reads_a_delegated_answer(tmp_path: Path) -> None:
    replies = (to_operator("what time is it"), sestet.ToolCall("exec_clock", {}), "It is noon.")
    async with serving(tmp_path, *replies, tools=[exec_clock]) as served:
        seen = await drive(served, "t1", "what time is it?")

    assert seen["runs"][0][-1]["type"] == "RUN_FINISHED"
    answer = seen["messages"][-1]
    assert (answer["role"], answer["content"]) == ("assistant", "It is noon.")


@pytest.mark.parametrize(("decision", "sent"), [("approve", ["carol"]), ("deny", [])])
async def test_the_official_client_answers_an_interrupt(
    tmp_path: Path, decision: str, sent: list[str]
) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}), "Understood.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        seen = await drive(served, "t1", "send a note to carol", decision)

    assert len(seen["pending"]) == 1
    assert seen["left"] == 0
    assert seen["runs"][1][-1]["result"]["effects"]["sent"] == sent
    calls = [call for message in seen["messages"] for call in message.get("toolCalls", ())]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"to": "carol"}]
    results = [message for message in seen["messages"] if message["role"] == "tool"]
    assert [result["toolCallId"] for result in results] == [calls[0]["id"]]
