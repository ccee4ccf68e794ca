"""Code bounds the tool calls of a turn, however many a model asks for."""

from collections.abc import Sequence

from sestet.core.event import DelegationFinished, Event, ModelCalled, ToolCalled, ToolFinished, TurnFinished
from sestet.core.message import ToolCall, ToolMessage, UserMessage
from sestet.models.scripted import ScriptedModel, ScriptItem
from sestet.runtime.limits import Limits
from sestet.storage.database import Database
from tests.runtime.conftest import Conversation
from tests.runtime.transcript import transcript, transfer


def listings(numbers: Sequence[int]) -> list[ToolCall]:
    return [ToolCall("fs_list", {"path": str(number)}) for number in numbers]


def ran(events: list[Event]) -> int:
    return sum(isinstance(event, ToolCalled) for event in events)


async def test_of_twenty_thousand_calls_in_one_reply_those_within_the_limit_run(talk: Conversation) -> None:
    model = ScriptedModel([listings(range(20_000)), "done"])

    events = await talk(model, multi_agent=False, limits=Limits(tool_calls=7)).say("go")

    assert ran(events) == 7
    assert len(events) < 30
    reply = next(event for event in events if isinstance(event, ModelCalled))
    assert (len(reply.calls), reply.calls_left_out) == (7, 19_993)
    # The model reads one note about all of them.
    *_, last = model.requests[-1].messages
    assert isinstance(last, UserMessage)
    assert "19993" in last.text
    assert transcript(events)[-1] == ("assistant", "answers done")


async def test_calls_beyond_the_limit_are_refused_and_then_the_agent_is_stopped(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), "It did not stop."],
        "operator": [listings([n, n + 1]) for n in range(0, 80, 2)],
    }

    events = await talk(ScriptedModel(script), limits=Limits(tool_calls=4)).begin("go")

    assert ran(events) == 4
    results = [event for event in events if isinstance(event, ToolFinished)]
    assert [result.outcome for result in results] == ["ok"] * 4 + ["refused"] * 2
    assert results[-1].for_person == "not done: the limit of 4 tool calls in one turn was reached"
    (delegation,) = (event for event in events if isinstance(event, DelegationFinished))
    assert delegation.outcome == "over_budget"
    assert transcript(events)[-1] == ("orchestrator", "answers It did not stop.")


async def test_an_agent_that_has_no_calls_left_can_still_answer(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator", reply=True)],
        "operator": [listings([1, 2]), listings([3]), "Two files."],
    }
    model = ScriptedModel(script)

    events = await talk(model, limits=Limits(tool_calls=2)).say("go")

    assert ran(events) == 2
    assert [tool.name for tool in model.requests[-1].tools] == ["show_results", "reject_task"]
    assert transcript(events)[-1] == ("operator", "answers Two files.")


async def test_the_limit_is_for_all_agents_of_the_turn_together(talk: Conversation) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), transfer("operator"), "done"],
        "operator": [listings([1, 2]), "two", listings([3, 4]), "one"],
    }

    events = await talk(ScriptedModel(script), limits=Limits(tool_calls=3)).say("go")

    assert ran(events) == 3


async def test_calls_before_a_crash_count_after_it(talk: Conversation, database: Database) -> None:
    script: dict[str, list[ScriptItem]] = {
        "orchestrator": [transfer("operator"), transfer("operator"), "done"],
        "operator": [listings([1, 2]), "two", listings([3, 4]), "one"],
    }
    begun = await talk(ScriptedModel(script)).say("go")
    last_call = [event.seq for event in begun if isinstance(event, ToolFinished)][2]
    database.execute("DELETE FROM events WHERE seq > ?", (last_call,))
    database.execute("UPDATE turns SET state = 'running'")

    later = talk(ScriptedModel({"operator": ["one"], "orchestrator": ["done"]}), limits=Limits(tool_calls=3))
    events = await later.resume(begun)

    assert ran(events) == 0
    assert [event.outcome for event in events if isinstance(event, ToolFinished)] == ["refused"]


async def test_an_orchestrators_calls_are_bounded_as_well(talk: Conversation) -> None:
    many = [transfer("operator", str(number)) for number in range(20_000)]
    model = ScriptedModel({"orchestrator": [many, "done"], "operator": ["one"] * 5})

    events = await talk(model).say("go")

    answers = [each for each in model.requests[-1].messages if isinstance(each, ToolMessage)]
    assert len(answers) == Limits().tool_calls
    assert isinstance(events[-1], TurnFinished)
