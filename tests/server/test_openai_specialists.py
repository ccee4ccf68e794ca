"""The official OpenAI client talks with one specialist as with a model of its own."""

from pathlib import Path
from typing import Any

import openai
import pytest

import sestet
from tests.server.served import serving
from tests.server.test_conversations import exec_send, read_turn
from tests.server.test_openai import client_of, exec_clock, in_thread, user

CLOCK = (sestet.ToolCall("exec_clock", {}), "It is noon.")


async def test_a_specialist_is_found_as_a_model(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        found = await in_thread(served, lambda client: client.models.retrieve("sestet/operator"))
        listed = await in_thread(served, lambda client: [model.id for model in client.models.list()])

    assert found.id == "sestet/operator"
    assert found.id in listed


async def test_without_specialists_only_the_assistant_is_a_model(tmp_path: Path) -> None:
    async with serving(tmp_path, settings={"agent": {"multiAgent": False}}) as served:
        assert await in_thread(served, lambda client: [model.id for model in client.models.list()]) == [
            "sestet"
        ]


async def test_the_specialist_answers_without_a_step_of_the_orchestrator(tmp_path: Path) -> None:
    async with serving(tmp_path, *CLOCK, tools=[exec_clock]) as served, client_of(served) as client:
        answer = await client.chat.completions.create(model="sestet/operator", messages=[user("the time?")])

    extra: Any = answer.model_extra
    assert (answer.model, answer.choices[0].message.content) == ("sestet/operator", "It is noon.")
    assert (extra["sestet"]["author"], extra["sestet"]["outcome"]) == ("operator", "finished")


async def test_a_stream_of_a_specialist_has_its_words_and_its_model(tmp_path: Path) -> None:
    async with serving(tmp_path, *CLOCK, tools=[exec_clock]) as served, client_of(served) as client:
        stream = await client.chat.completions.create(
            model="sestet/operator", messages=[user("the time?")], stream=True
        )
        chunks = [chunk async for chunk in stream]

    assert {chunk.model for chunk in chunks} == {"sestet/operator"}
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is noon."


@pytest.mark.parametrize("stream", [False, True])
async def test_a_response_of_a_specialist_names_its_model(tmp_path: Path, stream: bool) -> None:
    async with serving(tmp_path, *CLOCK, tools=[exec_clock]) as served, client_of(served) as client:
        if stream:
            events = [
                event
                async for event in await client.responses.create(
                    model="sestet/operator", input="the time?", stream=True
                )
            ]
            response = getattr(events[-1], "response", None)
        else:
            response = await client.responses.create(model="sestet/operator", input="the time?")

    assert response is not None
    assert (response.model, response.output_text) == ("sestet/operator", "It is noon.")


async def test_a_declined_request_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    async with serving(tmp_path, "[REJECT] this is about mails") as served, client_of(served) as client:
        with pytest.raises(openai.APIStatusError, match="librarian declined: this is about mails") as refused:
            await client.chat.completions.create(model="sestet/librarian", messages=[user("send a mail")])

    assert (refused.value.status_code, refused.value.code) == (502, "rejected")
    assert "Ask without choosing a specialist" in str(refused.value)


async def test_an_unknown_specialist_is_refused_with_the_models_that_exist(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, client_of(served) as client:
        with pytest.raises(
            openai.NotFoundError, match=r"the models are: sestet, .*sestet/operator"
        ) as refused:
            await client.chat.completions.create(model="sestet/gardener", messages=[user("hi")])
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("sestet/gardener")

    assert refused.value.code == "model_not_found"


async def test_a_call_of_a_specialist_waits_for_its_decision(tmp_path: Path) -> None:
    replies = (sestet.ToolCall("exec_send", {"to": "bob"}), "Sent.")
    async with serving(tmp_path, *replies, tools=[exec_send]) as served, client_of(served) as client:
        answer = await client.chat.completions.create(
            model="sestet/operator", messages=[user("note for bob")]
        )
        extra: Any = answer.model_extra
        (approval,) = extra["sestet"]["approvals"]
        async with served.client() as owner:
            decided = (await owner.post(f"/api/approvals/{approval}", json={"decision": "approve"})).json()
        seen = await read_turn(served, decided["turn"], **{"Last-Event-ID": decided["after"]})

    assert "waits for your decision" in (answer.choices[0].message.content or "")
    assert (seen[-1]["kind"], seen[-1]["author"], seen[-1]["text"]) == ("turn_finished", "operator", "Sent.")


async def test_the_same_session_goes_from_a_specialist_to_the_assistant(tmp_path: Path) -> None:
    async with serving(tmp_path, "Tea.", "Tea, as I said.") as served, client_of(served) as client:
        first = await client.responses.create(model="sestet/chronicler", input="what do I like?")
        second = await client.responses.create(model="sestet", input="again?", previous_response_id=first.id)
        sessions = served.app.journal.sessions()

    assert second.output_text == "Tea, as I said."
    assert [row.turns for row in sessions] == [2]
