"""Calls of one tool can differ: its rules declare each of them, and its output is shown while it runs."""

import asyncio

from sestet.core.event import ApprovalRequested, OutputStreamed, ToolCalled, ToolFinished
from sestet.core.message import ToolCall
from sestet.core.tool import CallInfo, CallRules, tool
from sestet.models.scripted import ScriptedModel
from tests.runtime.conftest import TOOLS, Conversation
from tests.runtime.transcript import transfer

RAN: list[str] = []


def _rules(command: str) -> CallRules:
    match command:
        case "look":
            return CallRules("safe", "none", "pure")
        case "test":
            return CallRules("safe", "local", "unsafe", owner_allows=True)
        case "destroy":
            return CallRules("dangerous", "local", "unsafe", blocked="it would destroy everything")
        case "break":
            raise KeyError(command)
        case _:
            return CallRules("guarded", "local", "unsafe", "it may change files")


@tool(risk="guarded", reads=(), effect="local", targets=("command",), recovery="unsafe", rules=_rules)
async def exec_run(call: CallInfo, /, command: str) -> str:
    """Run a command."""
    RAN.append(command)
    call.report(f"doing {command}\n")
    await asyncio.sleep(0.3)
    return f"{command} done"


TOOLS_AND_RUN = (*TOOLS, exec_run)


def model_that_runs(*commands: str) -> ScriptedModel:
    calls = [ToolCall("exec_run", {"command": command}) for command in commands]
    read = ToolCall("fs_list", {})
    return ScriptedModel(
        {"orchestrator": [transfer("operator", reply=True)], "operator": [read, *calls, "done"]}
    )


async def test_each_call_is_judged_by_its_own_declarations(talk: Conversation) -> None:
    RAN.clear()
    conversation = talk(model_that_runs("look", "test", "destroy", "change"), tools=TOOLS_AND_RUN)

    events = await conversation.begin("do it")

    intents = [
        (event.call.arguments.get("command"), event.effect)
        for event in events
        if isinstance(event, ToolCalled)
    ]
    asked = [event for event in events if isinstance(event, ApprovalRequested)]
    refused = [event for event in events if isinstance(event, ToolFinished) and event.outcome == "denied"]
    # A harmless call and one that the owner allows run, also after untrusted text was read.
    assert (RAN, intents[1:]) == (["look", "test"], [("look", "none"), ("test", "local")])
    assert [(event.call.arguments, event.for_person) for event in refused] == [
        ({"command": "destroy"}, "not done: it would destroy everything")
    ]
    assert len(asked) == 1
    assert "it may change files" in asked[0].reason


async def test_rules_that_fail_make_the_call_dangerous(talk: Conversation) -> None:
    RAN.clear()
    events = await talk(model_that_runs("break"), tools=TOOLS_AND_RUN).begin("do it")

    asked = [event for event in events if isinstance(event, ApprovalRequested)]
    assert (len(asked), RAN) == (1, [])
    assert "the rules of the tool failed: KeyError" in asked[0].reason


async def test_output_is_an_event_while_the_tool_runs_and_is_not_kept_twice(talk: Conversation) -> None:
    conversation = talk(model_that_runs("look"), tools=TOOLS_AND_RUN)

    events = await conversation.begin("do it")

    shown = [event for event in events if isinstance(event, OutputStreamed)]
    finished = [event.seq for event in events if isinstance(event, ToolFinished)]
    assert [(event.author, event.text) for event in shown] == [("operator", "doing look\n")]
    assert shown[0].seq < finished[-1]
    stored = conversation.journal.events_of(events[0].stamp.turn_id)
    assert not [event for event in stored if isinstance(event, OutputStreamed)]
