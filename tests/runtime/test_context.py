"""Each agent is shown its own work, and nothing of the other agents."""

from sestet.core.event import DelegationFinished, ModelCalled, TurnFinished
from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelReply, Usage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from tests.runtime.conftest import SAID_AT, Conversation
from tests.runtime.transcript import transcript, transfer


async def test_a_specialist_sees_the_results_of_its_own_tools(talk: Conversation) -> None:
    model = ScriptedModel(
        [transfer("operator", "list", reply=True), ToolCall("fs_list", {"path": "x"}), "done"]
    )

    await talk(model).say("go")

    request, reply, result = model.requests[-1].messages
    assert request == UserMessage("list", SAID_AT)
    assert isinstance(reply, AssistantMessage)
    assert result == ToolMessage(reply.calls[0].id, "fs_list", "a.txt b.txt in x")


async def test_an_earlier_result_of_the_agent_that_answered_is_part_of_the_conversation(
    talk: Conversation,
) -> None:
    model = ScriptedModel(
        {
            "orchestrator": [transfer("operator", "look"), transfer("operator", "do it", reply=True), "yes"],
            "operator": ["it is there", "it is done"],
        }
    )
    conversation = talk(model)

    await conversation.begin("go")
    await conversation.say("was it there?")

    shown = [message.text for message in model.requests[-1].messages]
    assert shown == ["go", "", "it is there", "it is done", "was it there?"]


async def test_the_orchestrator_sees_results_and_none_of_the_steps_behind_them(talk: Conversation) -> None:
    steps: list[ScriptItem] = [ToolCall("fs_list", {"path": str(number)}) for number in range(5)]
    model = ScriptedModel(
        {"orchestrator": [transfer("operator"), "done"], "operator": [*steps, "five lists"]}
    )

    await talk(model).say("go")

    shown = model.requests[-1].messages
    assert [type(message) for message in shown] == [UserMessage, AssistantMessage, ToolMessage]
    assert shown[-1].text == "five lists"
    assert "a.txt" not in str(shown)


async def test_one_specialist_never_sees_what_another_one_found(talk: Conversation) -> None:
    script = {
        "orchestrator": [transfer("chronicler", "recall"), transfer("operator", "list"), "done"],
        "chronicler": [ToolCall("memory_recall", {"query": "birthday"}), "in June"],
        "operator": ["listed"],
    }
    model = ScriptedModel(script)

    await talk(model).say("go")

    (seen,) = (request.messages for request in model.requests if request.agent == "operator")
    assert seen == (UserMessage("list", SAID_AT),)


async def test_instruction_and_tools_of_the_orchestrator_are_the_same_in_every_request(
    talk: Conversation,
) -> None:
    """A vendor's prompt cache only hits when the beginning of the prompt stays the same."""
    script = {
        "orchestrator": [transfer("operator", reply=True), "hi", transfer("operator"), "done"],
        "operator": ["[REJECT] no", "ok"],
    }
    model = ScriptedModel(script)
    conversation = talk(model)
    for text in ("one", "two"):
        await conversation.begin(text)

    asked = [request for request in model.requests if request.agent == "orchestrator"]
    assert len({request.instruction for request in asked}) == 1
    assert len({request.tools for request in asked}) == 1
    assert asked[-1].messages[: len(asked[0].messages)] == asked[0].messages


async def test_usage_of_the_agents_adds_up_to_the_turn(talk: Conversation) -> None:
    def costing(tokens: int, *calls: ToolCall) -> ModelReply:
        return ModelReply("" if calls else "said", calls, Usage(tokens, 1, tokens * 7))

    both = (transfer("operator"), transfer("librarian"))
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [costing(10, *both), costing(20)],
        "operator": [costing(30, ToolCall("fs_list", {})), costing(40)],
        "librarian": [costing(50)],
    }

    events = await talk(ScriptedModel(script)).say("go")

    children = [event.usage for event in events if isinstance(event, DelegationFinished)]
    own = [event.usage for event in events if isinstance(event, ModelCalled) and not event.delegation_id]
    assert isinstance(end := events[-1], TurnFinished)
    assert sum([*children, *own], Usage()) == end.usage == Usage(150, 5, 1050)


async def test_limits_are_not_forgotten_when_a_turn_is_resumed(talk: Conversation) -> None:
    write = ToolCall("fs_write", {"path": "a.txt"})
    lists: list[ScriptItem] = [ToolCall("fs_list", {"path": str(number)}) for number in range(9)]
    model = ScriptedModel({"orchestrator": [transfer("operator")], "operator": [write, *lists]})
    conversation = talk(model, limits=Limits(model_calls=5))
    paused = await conversation.begin("go")

    conversation.approvals.decide(conversation.approvals.pending()[0].id, "approve")
    resumed = await conversation.resume(paused)

    assert transcript(resumed)[-1] == ("orchestrator", "fails: over_budget")
    assert len(model.requests) == 5
