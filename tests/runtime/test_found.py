"""What a tool found reaches its specialist and the orchestrator one by one, not only as a text."""

from typing import cast

from sestet.core.event import DelegationFinished, ToolFinished
from sestet.core.label import Findings
from sestet.core.message import Found, ToolCall, ToolMessage
from sestet.core.tool import tool
from sestet.models.scripted import ScriptedModel
from sestet.storage.event_json import decode, encode
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import transfer

FOUND = (Found("tea.md", "four minutes"), Found("milk.md"))


@tool(risk="safe", effect="none", reads=("untrusted",), recovery="pure")
async def fs_shelf() -> Findings:
    """Say what is on the shelf."""
    return Findings("Two files.", FOUND)


async def test_findings_reach_the_specialist_and_the_orchestrator_and_the_journal(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator"), ToolCall("fs_shelf", {}), "two files", "done", "those two"])
    conversation = talk(model, tools=[fs_shelf])

    events = await conversation.begin("what is on the shelf?")
    await conversation.say("which?")

    specialist, orchestrator = (cast("ToolMessage", model.requests[n].messages[-1]) for n in (2, 3))
    assert (specialist.text, specialist.found) == ("Two files.", FOUND)
    assert (orchestrator.text, orchestrator.found) == ("two files", FOUND)
    (later,) = (one for one in model.requests[4].messages if isinstance(one, ToolMessage))
    assert later.found == FOUND
    for event in events:
        if isinstance(event, ToolFinished | DelegationFinished):
            assert event.found == FOUND
            assert event.label.untrusted
            assert decode(event.stamp, event.kind, encode(event)) == event


async def test_a_result_without_findings_has_none(talk: Conversation) -> None:
    model = ScriptedModel([transfer("operator"), "nothing to do", "done"])

    await talk(model).say("go")

    assert cast("ToolMessage", model.requests[2].messages[-1]).found == ()
