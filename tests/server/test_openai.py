"""The official OpenAI client drives a real server: models, chat completions, responses, errors."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

import sestet
from sestet.core.agent import TRANSFER
from sestet.core.errors import ModelError
from sestet.server import followed_turn
from sestet.server.limits import RequestLimits
from tests.server.served import Served, serving
from tests.server.test_conversations import exec_send, to_operator

_Result = TypeVar("_Result")
PATIENCE = 20.0


@sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
async def exec_clock() -> str:
    """Tell the time."""
    return "noon"


def client_of(
    served: Served, token: str | None = None, **more: Any
) -> AsyncOpenAI:  # Any: the client's options
    return AsyncOpenAI(base_url=f"{served.url}/v1", api_key=token or served.token, **more)


def user(text: str) -> Any:  # Any: the client's own union of message types
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:  # Any: as above
    return {"role": "assistant", "content": text}


async def in_thread(served: Served, work: Callable[[OpenAI], _Result]) -> _Result:
    """Use the client that blocks, in a thread."""

    def run() -> _Result:
        with OpenAI(base_url=f"{served.url}/v1", api_key=served.token) as client:
            return work(client)

    return await asyncio.to_thread(run)


def asked(served: Served) -> list[tuple[str, str]]:
    """The session and the text of every turn."""
    rows = served.app.journal.sessions()
    turns = [
        event for row in rows for event in served.app.journal.session_events(row.id, ("turn_started",), 99)
    ]
    turns.sort(key=lambda event: event.stamp.at)
    return [(event.stamp.session_id, getattr(event, "text", "")) for event in turns]


async def test_the_assistant_is_listed_as_a_model(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        listed = await in_thread(served, lambda client: [model.id for model in client.models.list()])
        found = await in_thread(served, lambda client: client.models.retrieve("sestet"))

        specialists = [f"sestet/{agent.name}" for agent in served.app.root.sub_agents]

    assert listed == ["sestet", *specialists]
    assert found.id == "sestet"


async def test_the_client_that_blocks_gets_an_answer_with_its_usage(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        answer = await in_thread(
            served, lambda client: client.chat.completions.create(model="sestet", messages=[user("hi")])
        )

    (choice,) = answer.choices
    assert (choice.message.content, choice.finish_reason) == ("Hello!", "stop")
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    extra: Any = answer.model_extra
    assert extra["sestet"]["outcome"] == "finished"


async def test_the_client_that_blocks_streams_an_answer(tmp_path: Path) -> None:
    def read(client: OpenAI) -> str:
        stream = client.chat.completions.create(model="sestet", messages=[user("hi")], stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    async with serving(tmp_path, "Hello to you!") as served:
        assert await in_thread(served, read) == "Hello to you!"


async def test_a_stream_has_the_answer_of_a_specialist_its_activity_and_the_usage(tmp_path: Path) -> None:
    replies = (to_operator("what time is it"), sestet.ToolCall("exec_clock", {}), "It is noon.")
    async with serving(tmp_path, *replies, tools=[exec_clock]) as served, client_of(served) as client:
        stream = await client.chat.completions.create(
            model="sestet",
            messages=[user("what time is it?")],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]

    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == "It is noon."
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    activity = [(chunk.model_extra or {}).get("sestet", {}).get("event") for chunk in chunks]
    assert [event["kind"] for event in activity if event] == [
        "delegation_started",
        "tool_called",
        "tool_finished",
        "delegation_finished",
    ]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 0


async def test_words_before_a_call_are_told_apart_from_the_answer(tmp_path: Path) -> None:
    first = sestet.ModelReply("Let me look.", (sestet.ToolCall("exec_clock", {}),))
    replies = (to_operator("time"), first, "It is noon.", "Welcome.")
    async with serving(tmp_path, *replies, tools=[exec_clock]) as served, client_of(served) as client:
        stream = await client.chat.completions.create(model="sestet", messages=[user("time?")], stream=True)
        said = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        (session, _), *_ = asked(served)

        # The client sends these words back, and goes on with its session.
        again = [user("time?"), assistant(said), user("thanks")]
        await client.chat.completions.create(model="sestet", messages=again)
        assert asked(served)[-1] == (session, "thanks")

    assert said == "Let me look.\n\nIt is noon."


async def test_a_named_session_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as served, client_of(served) as client:
        create = client.chat.completions.create
        await create(model="sestet", messages=[user("a")], user="s1")
        await create(model="sestet", messages=[user("x"), assistant("y"), user("b")], user="s1")
        header = {"X-Sestet-Session": "s2"}
        await create(model="sestet", messages=[user("c")], user="s1", extra_headers=header)

        assert asked(served) == [("s1", "a"), ("s1", "b"), ("s2", "c")]


async def test_a_client_that_sends_its_conversation_again_continues_its_session(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hi!", "Hi again!", "Fine.") as served, client_of(served) as client:
        create = client.chat.completions.create
        await create(model="sestet", messages=[user("hello")])
        await create(model="sestet", messages=[user("hello")])
        system: Any = {"role": "system", "content": "Be brief."}
        await create(model="sestet", messages=[system, user("hello"), assistant("Hi!"), user("how are you?")])
        (first, _), (second, _), (third, text) = asked(served)

    assert first != second
    assert (third, text) == (first, "how are you?")


async def test_a_conversation_that_sestet_does_not_know_is_quoted_and_not_trusted(tmp_path: Path) -> None:
    async with serving(tmp_path, "Blue.") as served, client_of(served) as client:
        messages = [user("I like blue"), assistant("Noted."), user("what do I like?")]
        await client.chat.completions.create(model="sestet", messages=messages)
        ((session, text),) = asked(served)
        (started,) = served.app.journal.session_events(session, ("turn_started",), 1)

    assert "I like blue" in text
    assert text.endswith("what do I like?")
    assert getattr(started, "mine", True) is False


async def test_a_repeated_request_with_its_key_is_one_turn(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served, client_of(served) as client:
        for _ in range(2):
            answer = await client.chat.completions.create(
                model="sestet", messages=[user("hi")], user="s1", extra_headers={"Idempotency-Key": "k1"}
            )
            assert answer.choices[0].message.content == "Hello!"
        assert asked(served) == [("s1", "hi")]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_question_is_answered_as_text_that_says_how_to_decide(tmp_path: Path, stream: bool) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, client_of(served) as client:
        messages = [user("send a note to carol")]
        if stream:
            chunks = await client.chat.completions.create(model="sestet", messages=messages, stream=True)
            choices = [chunk.choices[0] async for chunk in chunks]
            text, finish = "".join(each.delta.content or "" for each in choices), choices[-1].finish_reason
        else:
            (choice,) = (await client.chat.completions.create(model="sestet", messages=messages)).choices
            text, finish = choice.message.content or "", choice.finish_reason
        (question,) = served.app.approvals.pending()

    assert finish == "stop"
    assert f"sestet approvals approve {question.id}" in text
    assert f"/api/approvals/{question.id}" in text
    assert "carol" in text


async def test_a_response_is_given_and_continued(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as served, client_of(served) as client:
        first = await client.responses.create(model="sestet", input="a")
        second = await client.responses.create(
            model="sestet",
            input=[{"role": "user", "content": [{"type": "input_text", "text": "b"}]}],
            previous_response_id=first.id,
        )
        (session, _), (other, _) = asked(served)

    assert (first.output_text, second.output_text) == ("one", "two")
    assert (first.status, second.previous_response_id) == ("completed", first.id)
    assert first.usage is not None
    assert first.usage.total_tokens > 0
    assert session == other


async def test_a_response_is_streamed_with_its_typed_events(tmp_path: Path) -> None:
    replies = (to_operator("what time is it"), sestet.ToolCall("exec_clock", {}), "It is noon.")
    async with (
        serving(tmp_path, *replies, tools=[exec_clock]) as served,
        client_of(served) as client,
        client.responses.stream(model="sestet", input="time?") as stream,
    ):
        kinds = [event.type async for event in stream]
        final = await stream.get_final_response()

    known = [kind for kind in dict.fromkeys(kinds) if kind.startswith("response.")]
    assert known == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert final.output_text == "It is noon."


async def test_a_failed_turn_is_an_error_and_no_second_turn(tmp_path: Path) -> None:
    errors = [ModelError("no such account", "auth") for _ in range(3)]
    async with serving(tmp_path, *errors) as served, client_of(served) as client:
        with pytest.raises(openai.APIStatusError) as failed:
            await client.chat.completions.create(model="sestet", messages=[user("hi")])
        stream = await client.chat.completions.create(model="sestet", messages=[user("hi")], stream=True)
        with pytest.raises(openai.APIError) as cut:
            _ = [chunk async for chunk in stream]
        events = await client.responses.create(model="sestet", input="hi", stream=True)
        kinds = [event.type async for event in events]

        assert len(asked(served)) == 3
    assert failed.value.status_code == 502
    assert failed.value.type == cut.value.type == "server_error"
    assert kinds[-1] == "response.failed"


GOOD_CHAT: dict[str, Any] = {"model": "sestet", "messages": [user("hi")]}  # Any: JSON
IMAGE: Any = [{"type": "image_url", "image_url": {"url": "data:,"}}]  # Any: JSON
BAD_CHATS: tuple[tuple[dict[str, Any], str], ...] = (  # Any: JSON
    ({"model": "gpt-4"}, "model"),
    ({"model": "sestet/gardener"}, "model"),
    ({"messages": []}, "messages"),
    ({"messages": [assistant("hi")]}, "messages"),
    ({"messages": [user(" ")]}, "messages"),
    ({"messages": [user(IMAGE)]}, "messages[0].content"),
    ({"n": 2}, "n"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
)


async def test_requests_that_cannot_be_met_are_refused_with_the_parameter(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, client_of(served) as client:
        for change, param in BAD_CHATS:
            with pytest.raises(openai.APIStatusError) as refused:
                await client.post("/chat/completions", body=GOOD_CHAT | change, cast_to=object)
            assert refused.value.status_code in (400, 404), change
            assert (refused.value.type, refused.value.param) == ("invalid_request_error", param)
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.responses.create(model="sestet", input="hi", previous_response_id="resp_none")
        assert asked(served) == []
    assert unknown.value.code == "previous_response_not_found"


async def test_wrong_types_are_refused_in_the_form_of_the_client(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        for path, content in (
            ("chat/completions", b"{"),
            ("chat/completions", b"[]"),
            ("chat/completions", b'{"model": 3, "messages": []}'),
            ("chat/completions", b'{"model": "sestet", "messages": "hi"}'),
            ("chat/completions", b'{"model": "sestet", "messages": [{"role": "user", "content": 3}]}'),
            ("chat/completions", b'{"model": "sestet", "messages": [{"role": "user"}], "stream": "yes"}'),
            ("responses", b'{"model": "sestet", "input": 3}'),
            ("responses", b'{"model": "sestet", "input": [{"type": "function_call_output"}]}'),
            ("responses", b'{"model": "sestet", "input": "hi", "background": true}'),
            ("responses", b'{"model": "sestet", "input": "hi", "user": "no name"}'),
        ):
            headers = {"Content-Type": "application/json"}
            answer = await client.post(f"/v1/{path}", content=content, headers=headers)
            error = answer.json()["error"]
            assert (answer.status_code, error["type"]) == (400, "invalid_request_error"), content
            assert error["message"]
            assert "param" in error


async def test_tools_of_a_client_are_left_alone(tmp_path: Path) -> None:
    tool: Any = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    async with serving(tmp_path, "Hello!") as served, client_of(served) as client:
        answer = await client.chat.completions.create(
            model="sestet", messages=[user("hi")], tools=[tool], temperature=0.3, max_tokens=5
        )
    assert answer.choices[0].message.content == "Hello!"
    assert answer.choices[0].message.tool_calls is None


async def test_tokens_decide_who_may_talk(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        async with client_of(served, served.new_token("chat")) as client:
            answer = await client.chat.completions.create(model="sestet", messages=[user("hi")])
            assert answer.choices[0].message.content == "Hello!"
        async with client_of(served, served.new_token("read")) as client:
            assert [model.id async for model in client.models.list()][:1] == ["sestet"]
            with pytest.raises(openai.PermissionDeniedError):
                await client.chat.completions.create(model="sestet", messages=[user("hi")])
        async with client_of(served, "wrong") as client:
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_stops_no_turn(tmp_path: Path, stream: bool) -> None:
    called, may_end = asyncio.Event(), asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait."""
        called.set()
        await may_end.wait()
        return "done"

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}), "Done.")
    one_stream = RequestLimits(streams=1)
    async with serving(tmp_path, *replies, tools=[exec_wait], limits=one_stream) as served:
        body = {"model": "sestet", "messages": [user("wait")], "user": "s1", "stream": stream}
        async with served.client() as client:
            request = asyncio.create_task(client.post("/v1/chat/completions", json=body))
            await called.wait()
            request.cancel()
            await asyncio.wait((request,))
        # The place of the client that left becomes free while its turn still runs.
        async with asyncio.timeout(PATIENCE):
            while not await follow(served, "s1", may_end):
                pass
        row = served.app.journal.session("s1")

    assert row is not None
    assert row.turns == 1
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []


async def test_a_message_that_is_cancelled_in_the_queue_ends_its_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_turn, "_QUIET_SECONDS", 0.01)
    called = asyncio.Event()

    @sestet.tool(risk="safe", effect="none", reads=(), recovery="pure")
    async def exec_wait() -> str:
        """Wait for ever."""
        called.set()
        await asyncio.Event().wait()
        return ""

    replies = (to_operator("wait"), sestet.ToolCall("exec_wait", {}))
    async with serving(tmp_path, *replies, tools=[exec_wait]) as served, client_of(served) as client:
        create = client.chat.completions.create
        first = await create(model="sestet", messages=[user("wait")], user="s1", stream=True)
        await called.wait()
        second = await create(model="sestet", messages=[user("more")], user="s1", stream=True)
        extra: Any = (await anext(second)).model_extra
        assert await served.server.host.turns.cancel(extra["sestet"]["turn"]) == "cancelled"
        with pytest.raises(openai.APIError, match="cut off"):
            _ = [chunk async for chunk in second]
        served.app.cancel_turn("s1")
        with pytest.raises(openai.APIError, match="cancelled"):
            _ = [chunk async for chunk in first]


async def follow(served: Served, session: str, may_end: asyncio.Event) -> bool:
    """Let the turn end, and follow it to there; False if the token has no free stream."""
    async with (
        served.client() as client,
        client.stream("GET", f"/api/sessions/{session}/events") as response,
    ):
        if response.status_code == 429:
            return False
        may_end.set()
        async for line in response.aiter_lines():
            if line == "event: turn_finished":
                return True
    return False


@pytest.mark.parametrize("stream", [False, True])
async def test_the_joined_answers_of_several_specialists_are_told_once(tmp_path: Path, stream: bool) -> None:
    parts = [
        sestet.ToolCall(TRANSFER, {"agent_name": name, "request": "go", "reply": True})
        for name in ("operator", "planner")
    ]
    async with serving(tmp_path, parts, "Two files.", "First this.") as served, client_of(served) as client:
        told = await ask(client, stream)

    assert told == "Two files.\n\nFirst this."


async def ask(client: AsyncOpenAI, stream: bool) -> str:
    messages = [user("list the files and make a plan")]
    if not stream:
        answer = await client.chat.completions.create(model="sestet", messages=messages)
        return answer.choices[0].message.content or ""
    chunks = await client.chat.completions.create(model="sestet", messages=messages, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])
