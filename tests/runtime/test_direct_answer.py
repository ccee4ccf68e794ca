"""Answers without a closing model call: results and specialists' answers go to the person as they are."""

from sestet.core.event import ApprovalRequested, Event, ModelCalled, TurnFinished
from sestet.core.message import ToolCall, ToolMessage
from sestet.models.scripted import ScriptedModel, ScriptItem
from tests.runtime.conftest import WRITTEN, Conversation
from tests.runtime.seen import require_rebuilt
from tests.runtime.transcript import transcript, transfer

SHOW = ToolCall("show_results", {})


def finished(events: list[Event]) -> TurnFinished:
    end = events[-1]
    assert isinstance(end, TurnFinished)
    return end


def model_calls(events: list[Event]) -> int:
    return sum(isinstance(event, ModelCalled) for event in events)


async def test_a_result_that_is_shown_costs_no_second_call_of_the_specialist(talk: Conversation) -> None:
    script = [transfer("operator", "list the files", reply=True), [ToolCall("fs_list", {}), SHOW]]

    events = await talk(ScriptedModel(script)).say("what is here?")

    shown = finished(events).text
    assert transcript(events)[3:] == [
        ("operator", "thinks → fs_list, show_results"),
        ("operator", "calls fs_list"),
        ("operator", "fs_list is ok"),
        ("operator", f"returns ok: {shown}"),
        ("operator", f"answers {shown}"),
    ]


async def test_a_result_of_the_reply_before_can_be_shown(talk: Conversation) -> None:
    script = [transfer("operator", reply=True), ToolCall("fs_list", {}), SHOW]

    events = await talk(ScriptedModel(script)).say("what is here?")

    assert model_calls(events) == 3
    assert finished(events).author == "operator"


async def test_without_a_result_nothing_is_shown_and_the_specialist_writes(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator", reply=True), [SHOW, SHOW], "Nothing is here."])

    conversation = talk(model)
    events = await conversation.say("what is here?")

    assert finished(events).text == "Nothing is here."
    require_rebuilt(conversation.journal, model.requests)
    answers = [message for message in model.requests[-1].messages if isinstance(message, ToolMessage)]
    assert [(answer.name, answer.failed) for answer in answers] == [("show_results", True)] * 2


async def test_a_failed_call_is_not_shown(talk: Conversation) -> None:
    bad = ToolCall("fs_list", {"no_such_argument": 1})
    script: list[ScriptItem] = [transfer("operator", reply=True), [bad, SHOW], "I could not list them."]

    events = await talk(ScriptedModel(script)).say("what is here?")

    assert finished(events).text == "I could not list them."


async def test_a_result_that_had_to_be_approved_is_shown_after_the_decision(talk: Conversation) -> None:
    write = ToolCall("fs_write", {"path": "a.txt", "text": "hello"})
    model = ScriptedModel({"orchestrator": [transfer("operator", reply=True)], "operator": [[write, SHOW]]})
    conversation = talk(model)

    paused = await conversation.begin("write it")
    asked = next(event for event in paused if isinstance(event, ApprovalRequested))
    conversation.approvals.decide(asked.approval_id, "approve")
    resumed = await conversation.resume(paused)

    assert finished(resumed).author == "operator"
    assert len(WRITTEN) == 1
    assert len(model.requests) == 2


async def test_answers_of_several_specialists_are_joined_without_a_model(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [[transfer("operator", reply=True), transfer("planner", reply=True)]],
        "operator": ["Two files."],
        "planner": ["First this, then that."],
    }

    events = await talk(ScriptedModel(script)).say("list the files and make a plan")

    end = finished(events)
    assert (end.author, end.text) == ("orchestrator", "Two files.\n\nFirst this, then that.")
    assert model_calls(events) == 3


async def test_the_orchestrator_reads_the_answers_when_one_specialist_failed(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [
            [transfer("operator", reply=True), transfer("planner", reply=True)],
            "There are two files, and no plan.",
        ],
        "operator": ["Two files."],
        "planner": ["[REJECT] not a plan"],
    }

    events = await talk(ScriptedModel(script)).say("list the files and make a plan")

    assert finished(events).text == "There are two files, and no plan."


async def test_the_orchestrator_reads_the_answers_when_it_wants_one_of_them(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [[transfer("operator"), transfer("planner", reply=True)], "Both together."],
        "operator": ["Two files."],
        "planner": ["First this."],
    }

    assert finished(await talk(ScriptedModel(script)).say("go")).text == "Both together."
