"""What a turn has used before it is resumed counts from its first moment on."""

from sestet.core.event import DelegationFinished, Event, ModelCalled, ToolFinished, TurnFailed, TurnPaused
from sestet.core.message import ToolCall
from sestet.core.model import ModelReply, Usage
from sestet.core.tool import tool
from sestet.models.scripted import ScriptedModel
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from tests.runtime.conftest import TOOLS, Conversation
from tests.runtime.transcript import transfer

WRITE = ToolCall("fs_write", {"path": "a.txt"})


def spent(events: list[Event]) -> Usage:
    return sum((event.usage for event in events if isinstance(event, ModelCalled)), Usage())


async def test_a_resumed_turn_that_has_no_time_left_tells_all_that_it_used(
    talk: Conversation, database: Database
) -> None:
    script = {
        "orchestrator": [transfer("librarian"), transfer("operator")],
        "librarian": ["Found."],
        "operator": [WRITE],
    }
    conversation = talk(ScriptedModel(script))
    paused = await conversation.begin("write it")
    assert isinstance(paused[-1], TurnPaused)
    database.execute("UPDATE events SET at = at + 3600 WHERE kind = 'turn_paused'")

    resumed = await conversation.resume(paused)

    assert isinstance(resumed[-1], TurnFailed)
    assert resumed[-1].cause == "timeout"
    assert resumed[-1].usage == spent(paused) != Usage()


async def test_tokens_that_nobody_counted_count_after_a_pause_too(talk: Conversation) -> None:
    long = transfer("librarian", "x" * 400_000)
    script = {
        "orchestrator": [ModelReply(calls=(transfer("operator"), long)), "All done."],
        "librarian": [ModelReply("Found.")],
        "operator": [ModelReply(calls=(WRITE,)), ModelReply("Written.")],
    }
    conversation = talk(ScriptedModel(script), limits=Limits(tokens=50_000))
    paused = await conversation.begin("write it")
    assert isinstance(paused[-1], TurnPaused)
    conversation.approvals.decide(paused[-1].waiting_for[0], "approve")

    resumed = await conversation.resume(paused)

    (ended,) = (event for event in resumed if isinstance(event, DelegationFinished))
    assert (ended.agent, ended.outcome) == ("operator", "over_budget")


async def test_an_agent_that_goes_on_first_does_not_use_the_model_calls_of_another_one_again(
    talk: Conversation,
) -> None:
    other = ToolCall("fs_write", {"path": "b.txt"})
    script = {
        "orchestrator": [[transfer("operator"), transfer("operator")], "All done."],
        "operator": [WRITE, other, "Written.", "Written."],
    }
    conversation = talk(ScriptedModel(script), limits=Limits(model_calls=3))
    paused = await conversation.begin("write it")
    assert isinstance(paused[-1], TurnPaused)
    assert len(paused[-1].waiting_for) == 2
    for question in paused[-1].waiting_for:
        conversation.approvals.decide(question, "approve")

    resumed = await conversation.resume(paused)

    assert [event for event in resumed if isinstance(event, ModelCalled)] == []


async def test_a_call_that_was_approved_is_not_refused_because_another_agent_asked_for_more(
    talk: Conversation,
) -> None:
    # Its results are written before the next model call, so that the agents take turns.
    @tool(risk="safe", effect="store", reads=(), recovery="keyed")
    async def search_note(text: str) -> str:
        """Save a note."""
        return f"saved {text}"

    notes = [ToolCall("search_note", {"text": text}) for text in "ab"]
    script = {
        "orchestrator": [[transfer("librarian"), transfer("operator")], "All done."],
        "librarian": [*notes, "Saved."],
        "operator": [WRITE, "Written."],
    }
    conversation = talk(ScriptedModel(script), limits=Limits(tool_calls=2), tools=(*TOOLS, search_note))
    paused = await conversation.begin("write it")
    assert isinstance(paused[-1], TurnPaused)
    assert [e.outcome for e in paused if isinstance(e, ToolFinished)] == ["ok", "refused"]
    conversation.approvals.decide(paused[-1].waiting_for[0], "approve")

    resumed = await conversation.resume(paused)

    assert [e.outcome for e in resumed if isinstance(e, ToolFinished)] == ["ok"]
