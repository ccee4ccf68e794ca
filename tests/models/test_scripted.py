"""The scripted model follows its script, records its requests, and raises when the two differ."""

import pytest

from sestet.core.errors import ModelError, ScriptError
from sestet.core.message import ToolCall, UserMessage
from sestet.core.model import ModelReply, ModelRequest, TextDelta
from sestet.models.scripted import ScriptedModel


def request(agent: str = "orchestrator", text: str = "hi") -> ModelRequest:
    return ModelRequest(agent, "", (UserMessage(text),), ())


async def ask(model: ScriptedModel, agent: str = "orchestrator") -> ModelReply:
    *_, reply = [item async for item in model.stream(request(agent))]
    assert isinstance(reply, ModelReply)
    return reply


async def test_replies_come_in_the_order_of_the_script() -> None:
    call = ToolCall("fs_list", {"path": "."})
    model = ScriptedModel(["hello", call, [call, call], ModelReply("whole"), lambda asked: asked.agent])

    replies = [await ask(model) for _ in range(5)]

    assert [reply.text for reply in replies] == ["hello", "", "", "whole", "orchestrator"]
    assert [len(reply.calls) for reply in replies] == [0, 1, 2, 0, 0]
    assert len(model.requests) == 5


async def test_each_agent_can_have_a_script_of_its_own() -> None:
    model = ScriptedModel({"operator": ["o"], "librarian": ["l"]})

    assert (await ask(model, "librarian")).text == "l"
    assert (await ask(model, "operator")).text == "o"
    await model.close()


async def test_text_comes_in_pieces_of_the_asked_size() -> None:
    items = [item async for item in ScriptedModel(["abcde"], chunk=2).stream(request())]

    assert items[:-1] == [TextDelta("ab"), TextDelta("cd"), TextDelta("e")]


async def test_an_error_in_the_script_is_raised() -> None:
    with pytest.raises(ModelError, match="offline"):
        await ask(ScriptedModel([ModelError("offline")]))


async def test_asking_too_much_fails_at_once_and_again_when_it_is_closed() -> None:
    model = ScriptedModel([])

    with pytest.raises(ScriptError, match="no reply left for 'orchestrator'"):
        await ask(model)
    with pytest.raises(ScriptError, match="no reply left"):
        await model.close()


async def test_asking_too_little_fails_when_it_is_closed() -> None:
    with pytest.raises(ScriptError, match=r"left over: {'any agent': 1}"):
        await ScriptedModel(["never asked"]).close()
